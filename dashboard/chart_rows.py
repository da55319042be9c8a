"""The charts as rows: what each of them draws, moment by moment, the newest first. Unknown is None."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dashboard import wording
from dashboard.low_isr import LowStretch
from dashboard.names import cut, visible
from dashboard.rebalance_costs import Counts
from dashboard.replica_offsets import ReplicaHistory
from dashboard.replication_lanes import BELOW, ReplicationLanes
from dashboard.shapes import LagHistory, Mark, Span

Row = dict[str, object]


@dataclass(frozen=True, slots=True)
class Twin:
    """A table that tells what a part of a chart draws."""

    alt: str
    rows: Sequence[Row]


def of_lag(history: LagHistory, events: Iterable[Mark]) -> list[Twin]:
    """The total and each partition that is drawn, and what happened."""
    named = [("Total", history.total), *((visible(label), its) for label, its in _labelled(history))]
    starts = history.from_ms + history.bucket_ms * np.arange(len(history.total))
    return [
        Twin("Lag over time, the newest first", _series_rows("From (UTC)", starts, dict(named))),
        Twin("Events, the newest first", lane_rows((), events)),
    ]


def of_replication(history: ReplicaHistory, leaders: set[int], lanes: ReplicationLanes) -> list[Twin]:
    """`leaders` are behind themselves never, and not drawn."""
    behind = {f"Broker {one} behind": its for one, its in history.behind.items() if one not in leaders}
    series = {"Not replicated": history.not_replicated, "Held by a transaction": history.held, **behind}
    spans = [*lanes.spans, *(_below(one) for one in lanes.low)]
    return [
        Twin("Distances between offsets, the newest first", _series_rows("Time (UTC)", history.at_ms, series)),
        Twin("Leader, in-sync replicas and elections, the newest first", lane_rows(spans, lanes.marks)),
    ]


def of_members(spans: Iterable[Span]) -> list[Twin]:
    return [Twin("Members and what they held, the newest first", lane_rows(spans, ()))]


def of_storm(known: Counts) -> list[Twin]:
    starts = known.from_ms + known.bucket_ms * np.arange(len(known.counts))
    counted = {"Rebalances": known.counts}
    return [Twin("Rebalances by time, the newest first", _series_rows("From (UTC)", starts, counted))]


def lane_rows(spans: Iterable[Span], marks: Iterable[Mark]) -> list[Row]:
    """Stretches and moments of all lanes in one order."""
    timed = [
        *((span.from_ms, _lane_row(span.lane, span.from_ms, span.to_ms, span.text)) for span in spans),
        *((mark.at_ms, _lane_row(mark.lane, mark.at_ms, None, mark.text)) for mark in marks),
    ]
    return [row for _, row in sorted(timed, key=lambda one: -one[0])]


def _lane_row(lane: str, from_ms: int, to_ms: int | None, text: str) -> Row:
    return {
        "From (UTC)": _time(from_ms),
        "Last seen (UTC)": "–" if to_ms is None else _time(to_ms),
        "Lane": cut(lane, 60),
        "What": cut(text, 160),
    }


def _series_rows(time: str, at_ms: Iterable[float], series: Mapping[str, np.ndarray]) -> list[Row]:
    """Regular or not: one row for each moment, whether or not anything is known of it."""
    values = {name: [None if np.isnan(value) else round(float(value)) for value in its] for name, its in series.items()}
    rows = [
        {time: _time(round(at)), **{name: its[number] for name, its in values.items()}}
        for number, at in enumerate(at_ms)
    ]
    return rows[::-1]


def _labelled(history: LagHistory) -> Iterable[tuple[str, np.ndarray]]:
    return zip(history.labels, history.cells, strict=True)


def _below(one: LowStretch) -> Span:
    least, most = (wording.duration(length) for length in (one.observed_ms, one.until_ms - one.after_ms))
    return Span(BELOW, one.since_ms, one.last_ms, None, f"for at least {least}, at most {most}")


def _time(at_ms: int) -> str:
    return wording.utc(at_ms).removesuffix(" UTC")
