"""Intervals of counts seen in an id-coherent sample: a message id is kept, with all its copies, with probability π.

The randomness is the hash's, so the formulas hold however bursty the data are. All intervals are two-sided, 95 % by
default. Methods: Clopper-Pearson 1934, Fay-Feuer 1997, Horvitz-Thompson 1952.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from scipy.stats import binom, chi2


@dataclass(frozen=True, slots=True)
class Interval:
    """A population count: estimate and bounds."""

    lower: int
    estimate: int
    upper: int


@dataclass(frozen=True, slots=True)
class ExtraCopies:
    """Extra copies seen in a sample: their sum over the ids, the sum of their squares, and the most of one id."""

    total: int
    squares: int
    largest: int


def id_count_interval(seen: int, probability: float, alpha: float = 0.05) -> tuple[int, int]:
    """Every population count K that `seen` out of Bin(K, probability) does not contradict in either tail."""
    low = _first(lambda k: bool(binom.sf(seen - 1, k, probability) >= alpha / 2), start=seen)
    high = _first(lambda k: bool(binom.cdf(seen, k, probability) < alpha / 2), start=seen) - 1
    return low, high


def ids(seen: int, probability: float, alpha: float = 0.05) -> Interval:
    """How many ids there are when `seen` of them are in the sample."""
    low, high = id_count_interval(seen, probability, alpha)
    return Interval(low, round(seen / probability), high)


def extra_copies(seen: ExtraCopies, probability: float, alpha: float = 0.05) -> Interval:
    """Extra copies of all ids, by Fay and Feuer's gamma interval: ids with several extra copies weigh more.

    The largest weight seen stands for the largest possible one; with nothing seen, one extra copy per id is assumed.
    """
    if probability >= 1:
        return Interval(seen.total, seen.total, seen.total)
    weight = max(seen.largest, 1) / probability
    return _gamma_interval(seen.total, seen.total / probability, seen.squares / probability**2, weight, alpha)


def ids_at_rates(seen: Mapping[float, int], alpha: float = 0.05) -> Interval:
    """How many ids there are where so many were seen at each rate; at one rate, the interval of `ids`."""
    sampled = [rate for rate in seen if rate < 1]
    if len(sampled) != 1:
        return copies_at_rates(seen, alpha)
    exact, beside = sum(seen.values()) - seen[sampled[0]], ids(seen[sampled[0]], sampled[0], alpha)
    return Interval(exact + beside.lower, exact + beside.estimate, exact + beside.upper)


def copies_at_rates(seen: Mapping[float, int], alpha: float = 0.05) -> Interval:
    """Extra copies where so many were seen at each rate, one of an id: Fay and Feuer's interval, the lowest rate's
    weight being the largest. What was seen at rate 1 is all there is of it.
    """
    sampled = {rate: count for rate, count in seen.items() if rate < 1}
    exact, total = sum(seen.values()) - sum(sampled.values()), sum(sampled.values())
    if not sampled:
        return Interval(exact, exact, exact)
    estimate = sum(count / rate for rate, count in sampled.items())
    variance = sum(count / rate**2 for rate, count in sampled.items())
    beside = _gamma_interval(total, estimate, variance, 1 / min(sampled), alpha)
    return Interval(exact + beside.lower, exact + beside.estimate, exact + beside.upper)


def _gamma_interval(seen: int, estimate: float, variance: float, weight: float, alpha: float) -> Interval:
    upper_variance, upper_mean = variance + weight**2, estimate + weight
    upper = upper_variance / (2 * upper_mean) * chi2.ppf(1 - alpha / 2, 2 * upper_mean**2 / upper_variance)
    lower = variance / (2 * estimate) * chi2.ppf(alpha / 2, 2 * estimate**2 / variance) if seen else 0.0
    # What was seen is there for certain.
    return Interval(max(seen, int(lower)), round(estimate), max(seen, int(-(-upper // 1))))


def _first(holds: Callable[[int], bool], start: int) -> int:
    """Smallest k >= start for which a condition that stays true once true holds."""
    step = 1
    while not holds(start + step):
        step *= 2
    below, above = start - 1, start + step
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if holds(middle) else (middle, above)
    return above
