"""Intervals of counts seen in an id-coherent sample: a message id is kept, with all its copies, with probability π.

The randomness is the hash's, so the formulas hold however bursty the data are. All intervals are two-sided, 95 % by
default. Methods: Clopper-Pearson 1934, Fay-Feuer 1997, Horvitz-Thompson 1952.
"""

from collections.abc import Callable
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
    estimate, variance = seen.total / probability, seen.squares / probability**2
    upper_variance, upper_mean = variance + weight**2, estimate + weight
    upper = upper_variance / (2 * upper_mean) * chi2.ppf(1 - alpha / 2, 2 * upper_mean**2 / upper_variance)
    lower = variance / (2 * estimate) * chi2.ppf(alpha / 2, 2 * estimate**2 / variance) if seen.total else 0.0
    # What was seen is there for certain.
    return Interval(max(seen.total, int(lower)), round(estimate), max(seen.total, int(-(-upper // 1))))


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
