"""What charts draw: regular series, marks and spans. Values only, shared between sessions and never changed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

import numpy as np

from dashboard import wording
from dashboard.concerns import Concern
from guarantees.promises import Verdict

CELLS = 240
LANES = 40
ROLLED_UP_AFTER_MS = 150_000  # the minute, its settling time and two pauses of the maintainer
_NOT_SEEN = -1  # while a series is made: no lag is below zero

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LagHistory:
    """Lag per partition over regular buckets: the highest seen in each; NaN where none is known.

    `total` is the sum over all partitions of the group, NaN in a bucket where any of them is unknown: a part that
    failed withholds the sum. `shown` of `partitions` rows are kept, those with the most lag.
    """

    from_ms: int
    bucket_ms: int
    labels: tuple[str, ...]
    cells: np.ndarray
    total: np.ndarray
    partitions: int
    unknown_reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment on a lane. `size` is a count, None where nothing is counted; `finding_id` is what a click opens."""

    lane: str
    at_ms: int
    text: str
    verdict: Verdict | None = None
    size: int | None = None
    finding_id: str | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time on a lane. `tone` alternates so that neighbours are told apart; None: rebalancing."""

    lane: str
    from_ms: int
    to_ms: int
    tone: int | None
    text: str


def bucket_ms(length_ms: int, step_ms: int, cells: int) -> int:
    """The smallest multiple of the step that draws the window in at most so many cells."""
    return step_ms * max(1, -(-length_ms // (step_ms * cells)))


def lag_history(rows: Sequence[Row], from_ms: int, to_ms: int, step_ms: int) -> LagHistory:
    """Cells and total from rows of (topic, partition, at_ms, lag, last, unknown_reason).

    Where several rows fall on one bucket, the highest lag is drawn and the last value is summed; it is unknown where
    any of them is.
    """
    start = from_ms - from_ms % step_ms
    size = max(1, -(-(to_ms - start) // step_ms))
    places = sorted({_place(row) for row in rows})
    position = {place: number for number, place in enumerate(places)}
    cells, last = np.full((len(places), size), np.nan), np.full((len(places), size), np.nan)
    is_unknown = np.zeros((len(places), size), dtype=bool)
    for row in rows:
        where = position[_place(row)], (_ms(row, "at_ms") - start) // step_ms
        if not 0 <= where[1] < size:
            continue
        is_unknown[where] |= row["unknown_reason"] is not None
        if row["lag"] is not None:
            cells[where] = np.fmax(cells[where], row["lag"])
            last[where] = np.nan if row["last"] is None else row["last"]
    last[is_unknown] = np.nan
    worst = _with_most_lag(cells)
    return LagHistory(
        from_ms=start,
        bucket_ms=step_ms,
        labels=tuple(f"{places[number][0]}-{places[number][1]}" for number in worst),
        cells=cells[worst],
        total=last.sum(axis=0) if places else np.full(size, np.nan),
        partitions=len(places),
        unknown_reasons=tuple(sorted({str(row["unknown_reason"]) for row in rows if row["unknown_reason"]})),
    )


def trends(rows: Iterable[Row], from_ms: int, to_ms: int, step_ms: int) -> dict[str, tuple[int | None, ...]]:
    """Rows of (group_id, at_ms, lag) as one regular series for each group.

    Where several rows fall on one point, the last one counts; it is unknown where any of them is.
    """
    start = from_ms - from_ms % step_ms
    size = max(1, -(-(to_ms - start) // step_ms))
    series: dict[str, list[int | None]] = {}
    for row in rows:
        values = series.get(row["group_id"])
        if values is None:
            values = series[row["group_id"]] = [_NOT_SEEN] * size
        at = (row["at_ms"] - start) // step_ms
        if 0 <= at < size and values[at] is not None:
            values[at] = row["lag"]
    return {
        group_id: tuple(None if value == _NOT_SEEN else value for value in values)
        for group_id, values in series.items()
    }


def trend_begins(rows: Iterable[Row], from_ms: int, step_ms: int) -> dict[str, int]:
    """At which point of its trend each group was seen first, known or unknown: before it there was none to count.

    The first point of a window is a part of a step only: of who is seen from the next one on it says nothing.
    """
    start = from_ms - from_ms % step_ms
    first: dict[str, int] = {}
    for row in rows:
        group_id, at_ms = row["group_id"], row["at_ms"]
        if at_ms < first.get(group_id, at_ms + 1):
            first[group_id] = at_ms
    points = {group_id: (at_ms - start) // step_ms for group_id, at_ms in first.items()}
    return {group_id: at if at > 1 else 0 for group_id, at in points.items()}


def open_end(series: Sequence[int | None], window_ms: int) -> int:
    """How many points at the end of a series over a window are not over, or not rolled up yet; 0 where more are unknown
    than that explains.
    """
    unknown = sum(1 for _ in takewhile(lambda value: value is None, reversed(series)))
    return unknown if unknown <= 1 + ROLLED_UP_AFTER_MS * len(series) // window_ms else 0


def newest_run(series: Sequence[int | None], window_ms: int) -> list[int]:
    """The newest stretch without a gap of a series over a window: a sparkline in a table cannot show one.

    It seems to end now, so only what is not over, or not rolled up yet, may be unknown after it.
    """
    newest = reversed(series[: len(series) - open_end(series, window_ms)])
    run = [value for value in takewhile(lambda value: value is not None, newest) if value is not None]
    return run[::-1] if len(run) > 1 else []


def finding_marks(found: Iterable[Concern]) -> list[Mark]:
    """Findings by kind, each where it began, also where that is before the window."""
    return [
        Mark(
            lane=wording.KINDS[concern.finding.kind],
            at_ms=concern.finding.happened_at_ms,
            text=concern.finding.title,
            verdict=concern.verdict,
            size=concern.finding.bounds.estimate if concern.finding.bounds else None,
        )
        for concern in found
    ]


def event_marks(rebalances: Iterable[Row], leader_changes: Iterable[Row], found: Iterable[Concern]) -> list[Mark]:
    """Three lanes under a chart of lag."""
    return [
        *(Mark("rebalances", row["observed_at_ms"], row["cause"]) for row in rebalances),
        *(
            Mark("leader changes", row["at_ms"], f"{row['topic']}-{row['partition']}: {_leader(row)}")
            for row in leader_changes
        ),
        *(replace(mark, lane="findings") for mark in finding_marks(found)),
    ]


def before_note(marks: Iterable[Mark], from_ms: int) -> list[str]:
    """What a mark at the left edge of a chart means, where there is one: the window begins at `from_ms`."""
    return ["Pointing left at the edge: before the window."] if any(mark.at_ms < from_ms for mark in marks) else []


def _leader(row: Row) -> str:
    return "no leader" if row["leader"] is None else f"leader is broker {row['leader']}"


def alternating(rows: Iterable[Row], lane: str, text: str) -> list[Span]:
    """Intervals of one subject after another, in two tones that alternate; each as far as it was observed."""
    spans, seen = [], dict[str, int]()
    for row in rows:
        name = str(row[lane])
        seen[name] = seen.get(name, -1) + 1
        spans.append(Span(name, _ms(row, "started_at_ms"), _ms(row, "last_seen_at_ms"), seen[name] % 2, str(row[text])))
    return spans


def _place(row: Row) -> tuple[str, int]:
    return row["topic"], row["partition"]


def _ms(row: Row, name: str) -> int:
    return int(row[name])


def _with_most_lag(cells: np.ndarray) -> list[int]:
    """The rows worth drawing, in their own order."""
    if len(cells) <= LANES:
        return list(range(len(cells)))
    peaks = np.nan_to_num(cells, nan=-1).max(axis=1)
    return sorted(np.argsort(-peaks, kind="stable")[:LANES].tolist())
