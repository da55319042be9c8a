"""Counts with the interval they lie in, added and scaled from a sample of message ids."""

from collections.abc import Iterable
from math import ceil

from guarantees.findings import Bounds, Unit

# Upper end of the 95 % interval of a Poisson count of which none was seen.
NONE_SEEN_UPPER = 3.689


def none_seen_upper(rate: float) -> int:
    """How many extra copies there may be where none is among a share `rate` of the ids."""
    return 0 if rate >= 1 else ceil(NONE_SEEN_UPPER / rate)


def added(bounds: Iterable[Bounds], unit: Unit) -> Bounds:
    """The sum with the sum of the ends: wide, but never too narrow. What is unknown of one is unknown of all."""
    parts = list(bounds)
    estimates = [part.estimate for part in parts if part.estimate is not None]
    return Bounds(
        lower=sum(part.lower for part in parts),
        estimate=sum(estimates) if len(estimates) == len(parts) else None,
        upper=None if any(part.upper is None for part in parts) else sum(part.upper or 0 for part in parts),
        unit=unit,
    )
