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
    findings do; Fay and Feuer's gamma interval (1997) is then that of a Poisson count.
    """
    if row["ranges"] == 1:
        return Bounds(row["lower"], row["estimate"], row["upper"], Unit.RECORDS)
    return of_sample(row["seen"], row["rate"])


def of_sample(seen: int, rate: float) -> Bounds:
    """All extra copies where `seen` of them are among a share `rate` of the ids."""
    if rate >= 1:
        return Bounds(seen, seen, seen, Unit.RECORDS)
    lower = int(gammaincinv(seen, TAIL) / rate) if seen else 0
    upper = ceil(gammaincinv(seen + 1, 1 - TAIL) / rate)
    # What was seen is there for certain.
    return Bounds(max(seen, lower), round(seen / rate), max(seen, upper), Unit.RECORDS)


def total(rows: Iterable[Row]) -> Bounds:
    return added((of_group(row) for row in rows), Unit.RECORDS)
