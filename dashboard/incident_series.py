"""The lines of an incident: lag, what is not replicated and what a transaction holds, over regular buckets."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dashboard.view import RAW_WINDOW_MS, View

Row = Mapping[str, Any]
POINTS = 290  # of a line; one bucket more at either end stays below 300


@dataclass(frozen=True, slots=True)
class Lines:
    """Values by line over regular buckets, in offsets: the highest seen in each, NaN where none is known.

    `is_unknown`: where a part of the line was asked about and not known, so that its highest value is not either.
    """

    from_ms: int
    bucket_ms: int
    values: Mapping[str, np.ndarray]
    is_unknown: Mapping[str, np.ndarray]

    @property
    def has_unknown(self) -> bool:
        return any(line.any() for line in self.is_unknown.values())

    @property
    def is_empty(self) -> bool:
        return all(np.isnan(line).all() for line in self.values.values())


@dataclass(frozen=True, slots=True)
class IncidentLines:
    """Lag over the whole window; the distances between offsets, which are raw samples, from `detail` alone."""

    lag: Lines
    not_replicated: Lines
    held: Lines
    detail: tuple[int, int]


def lines(
    rows: Iterable[Row],
    names: Sequence[str],
    window: tuple[int, int],
    bucket_ms: int,
    value: str = "value",
    unknown: str = "unknown",
) -> Lines:
    """Rows of (line, at_ms, `value`, `unknown`) as one series for each name, whether or not it has a row."""
    start = window[0] - window[0] % bucket_ms
    size = max(1, -(-(window[1] - start) // bucket_ms))
    values = {name: np.full(size, np.nan) for name in names}
    is_unknown = {name: np.zeros(size, dtype=bool) for name in names}
    for row in rows:
        at = (row["at_ms"] - start) // bucket_ms
        if 0 <= at < size and row["line"] in values:
            cells = values[row["line"]]
            cells[at] = np.fmax(cells[at], np.nan if row[value] is None else row[value])
            is_unknown[row["line"]][at] |= row[unknown] > 0
    for name, cells in values.items():
        cells[is_unknown[name]] = np.nan
    return Lines(start, bucket_ms, values, is_unknown)


def detail(view: View, at_ms: int) -> tuple[int, int]:
    """The quarter of an hour around a moment, as far as the window reaches: of longer no raw samples are read."""
    start = min(max(view.from_ms, at_ms - RAW_WINDOW_MS // 2), max(view.from_ms, view.to_ms - RAW_WINDOW_MS))
    return start, min(view.to_ms, start + RAW_WINDOW_MS)


def table_rows(drawn: IncidentLines) -> list[dict[str, object]]:
    """The chart's twin: each moment with a value, or with one that is unknown, the newest first."""
    plots = (("Lag", drawn.lag), ("Not replicated", drawn.not_replicated), ("Held by a transaction", drawn.held))
    found: dict[tuple[int, str], dict[str, object]] = {}
    for title, plot in plots:
        for name, values in plot.values.items():
            is_told = ~np.isnan(values) | (plot.is_unknown[name] & (not plot.is_empty))
            for at in np.flatnonzero(is_told).tolist():
                row = found.setdefault((plot.from_ms + at * plot.bucket_ms, name), dict.fromkeys(t for t, _ in plots))
                _tell(row, title, values[at])
    newest_first = sorted(found.items(), key=lambda pair: (-pair[0][0], pair[0][1]))
    return [{"at_ms": at_ms, "Partition": name} | row for (at_ms, name), row in newest_first]


def _tell(row: dict[str, object], title: str, value: float) -> None:
    """A value, or among what is unknown its name."""
    if np.isnan(value):
        row["Unknown"] = ", ".join(filter(None, (row.get("Unknown"), title)))
    else:
        row[title] = int(value)
