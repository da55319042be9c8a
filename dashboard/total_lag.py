"""The lag of many groups over a window as one series, and which groups it cannot hold."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dashboard import shapes

Row = Mapping[str, Any]
Series = Sequence[int | None]


@dataclass(frozen=True, slots=True)
class TotalLag:
    """Offsets point by point over a window, None where unknown. `left_out`: groups that are in no point of it.

    `known_from`: the first point at which the lag of any group is known.
    """

    series: tuple[int | None, ...]
    left_out: int
    known_from: int

    def has_gaps(self, window_ms: int) -> bool:
        """Whether the total is unknown where it ought to be known: not before anybody looked, nor at an end that is
        not rolled up yet.
        """
        return None in self.series[self.known_from : len(self.series) - shapes.open_end(self.series, window_ms)]


def total(group_lag: Iterable[Row], trends: Mapping[str, Series], begins: Mapping[str, int]) -> TotalLag:
    """Lag of the groups of now, point by point; unknown where it is of any of them.

    A group counts from the point at which it was seen first: before it there was none. One that is unknown at most
    points would withhold the sum of all others: it is left out and counted.
    """
    of_now = sorted({row["group_id"] for row in group_lag if row["lag"] is not None or row["unknown"]})
    series = [(begins.get(group_id, 0), trends[group_id]) for group_id in of_now if group_id in trends]
    looked = sorted({at for _, values in series for at, value in enumerate(values) if value is not None})
    held = [one for one in series if _is_mostly_known(*one, looked)]
    return TotalLag(_sum(held), len(series) - len(held), looked[0] if looked else 0)


def _is_mostly_known(begins: int, values: Series, looked: Iterable[int]) -> bool:
    """Of the points at which anything is known: when nobody looked, no group could be seen."""
    own = [values[at] is not None for at in looked if at >= begins]
    return 2 * sum(own) >= len(own)


def _sum(series: Sequence[tuple[int, Series]]) -> tuple[int | None, ...]:
    """Point by point of series from where each begins; unknown where any of them is, or none has begun."""
    points = max((len(values) for _, values in series), default=0)
    begun = ([values[at] for begins, values in series if begins <= at] for at in range(points))
    return tuple(None if not values or None in values else sum(filter(None, values)) for values in begun)
