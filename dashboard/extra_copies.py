"""Extra copies of message ids with their 95 % interval, from what was found in single ranges."""

from collections.abc import Iterable, Mapping
from math import ceil
from typing import Any

from scipy.special import gammaincinv

from dashboard.amounts import added
from guarantees.findings import Bounds, Unit

Row = Mapping[str, Any]
TAIL = 0.025


def of_group(row: Row) -> Bounds:
    """Extra copies of one partition, cause and producer.

    The stored interval of a single range. Over several ranges one extra copy per id and range is assumed, as the
    findings do; Fay and Feuer's gamma interval (1997) is then that of a Poisson count, where all ranges were sampled at
    one rate.
    """
    if row["ranges"] == 1:
        return Bounds(row["lower"], row["estimate"], row["upper"], Unit.RECORDS)
    if row["rates"] == 1:
        return of_sample(row["seen"], row["rate"])
    exact = row["seen_at_rate_1"]
    beside = _of_rates(row["seen"] - exact, row["scaled"], row["scaled_squares"], 1 / row["rate"])
    return Bounds(exact + beside.lower, exact + beside.estimate, exact + beside.upper, Unit.RECORDS)


def of_sample(seen: int, rate: float) -> Bounds:
    """All extra copies where `seen` of them are among a share `rate` of the ids."""
    if rate >= 1:
        return Bounds(seen, seen, seen, Unit.RECORDS)
    return _of_rates(seen, seen / rate, seen / rate**2, 1 / rate)


def _of_rates(seen: int, estimate: float, variance: float, weight: float) -> Bounds:
    """`weight` is what a copy of the lowest rate stands for."""
    upper_variance, upper_mean = variance + weight**2, estimate + weight
    lower = int(gammaincinv(estimate**2 / variance, TAIL) * variance / estimate) if seen else 0
    upper = ceil(gammaincinv(upper_mean**2 / upper_variance, 1 - TAIL) * upper_variance / upper_mean)
    # What was seen is there for certain.
    return Bounds(max(seen, lower), round(estimate), max(seen, upper), Unit.RECORDS)


def total(rows: Iterable[Row]) -> Bounds:
    return added((of_group(row) for row in rows), Unit.RECORDS)
