"""One partition of a group over time: lag to both ends, how long what is unread has been there, and its owner."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dashboard import wording
from dashboard.interval_ends import is_seen_over, speaks_of
from dashboard.memberships import SETTLED, member_names
from dashboard.names import cut
from dashboard.partitions import gaps, lag_of
from dashboard.shapes import Span, alternating
from guarantees.unknown import Unknown

Row = Mapping[str, Any]
OWNER, REBALANCING = "owner", "rebalancing"


@dataclass(frozen=True, slots=True)
class Point:
    """A moment of a partition: distances in offsets, None where one is not known, and why."""

    at_ms: int
    lag: int | None
    readable: int | None
    blocked: int | None
    unread_for_ms: int | None
    unknown: str


@dataclass(frozen=True, slots=True)
class PartitionHistory:
    """Regular series, the highest value of each bucket; NaN where none is known. Offsets, and seconds."""

    from_ms: int
    bucket_ms: int
    lag: np.ndarray
    readable: np.ndarray
    unread_for_s: np.ndarray


def points(samples: Sequence[Row], minutes: Iterable[Row]) -> list[Point]:
    """Raw samples, and before the first of them the minutes, which know the lag to the high watermark alone."""
    ages = unread_for(samples)
    raw = [_point(row, age) for row, age in zip(samples, ages, strict=True)]
    first_ms = raw[0].at_ms if raw else None
    rolled_up = [
        Point(row["at_ms"], row["lag_max"], None, None, None, row["unknown_reason"] or "" if row["unknown"] else "")
        for row in minutes
        if first_ms is None or row["at_ms"] + 60_000 <= first_ms
    ]
    return [*rolled_up, *raw]


def unread_for(samples: Sequence[Row]) -> list[int | None]:
    """How long, at least, the oldest unread offset of each sample has been there, ms; None where it is not known.

    It was there when a high watermark above the commit was first seen. A high watermark that falls is another log:
    what was seen before does not count.
    """
    ages: list[int | None] = []
    ends: list[int] = []
    seen_ms: list[int] = []
    for row in samples:
        high_watermark, lag = row["high_watermark"], row["lag"]
        if high_watermark is not None:
            if ends and high_watermark < ends[-1]:
                ends, seen_ms = [], []
            ends.append(high_watermark)
            seen_ms.append(row["observed_at_ms"])
        ages.append(None if lag is None else _age(row, lag, ends, seen_ms))
    return ages


def series(known: Iterable[Point], from_ms: int, to_ms: int, step_ms: int) -> PartitionHistory:
    """The points as regular series for a chart."""
    start = from_ms - from_ms % step_ms
    size = max(1, -(-(to_ms - start) // step_ms))
    lag, readable, unread = (np.full(size, np.nan) for _ in range(3))
    for point in known:
        at = (point.at_ms - start) // step_ms
        if 0 <= at < size:
            unread_s = None if point.unread_for_ms is None else point.unread_for_ms / 1000
            for cells, value in ((lag, point.lag), (readable, point.readable), (unread, unread_s)):
                if value is not None:
                    cells[at] = np.fmax(cells[at], value)
    return PartitionHistory(start, step_ms, lag, readable, unread)


def owner_spans(owners: Sequence[Row], states: Iterable[Row]) -> list[Span]:
    """Who owned the partition, each as far as it was seen, and when the group was rebalancing."""
    names = member_names(owners)
    named = [{**row, "lane": OWNER, "name": names[row["member_id"]]} for row in owners]
    unsettled = [
        Span(REBALANCING, row["started_at_ms"], row["last_seen_at_ms"], None, row["state"])
        for row in states
        if row["state"] not in SETTLED
    ]
    return [*unsettled, *alternating(named, "lane", "name")]


def owner_at(
    owners: Iterable[Row], states: Iterable[Row], at_ms: int, step_ms: int
) -> tuple[str, list[dict[str, str]]]:
    """Who owned the partition at a moment: one sentence, and each member with the samples that say so.

    `step_ms`: the sampling interval, ms. What runs is said as it was last seen where the next round is not in yet.
    """
    found = [row for row in owners if speaks_of(row, at_ms, step_ms)]
    if found:
        names = " and ".join(dict.fromkeys(member_names(found).values()))
        return f"{_owned(found, at_ms)} {names}{_last_seen(found, at_ms)}.", [_seen(row) for row in found]
    held = [row for row in states if speaks_of(row, at_ms, step_ms)]
    return f"{_nobody(held)}{_last_seen(held, at_ms)}.", []


def table_rows(known: Sequence[Point]) -> list[dict[str, object]]:
    """The points as the chart's twin, the newest first."""
    return [
        {
            "Time (UTC)": wording.utc(point.at_ms).removesuffix(" UTC"),
            "Lag": point.lag,
            "Readable": point.readable,
            "Blocked": point.blocked,
            "Unread for at least, s": None if point.unread_for_ms is None else point.unread_for_ms // 1000,
            "Unknown because": cut(point.unknown),
        }
        for point in reversed(known)
    ]


def _point(row: Row, age: int | None) -> Point:
    lag = lag_of(row)
    values = (None if isinstance(value, Unknown) else value for value in (lag.lag_hw, lag.lag_lso, lag.blocked))
    return Point(row["committed_at_ms"], *values, age, gaps(row, lag))


def _age(row: Row, lag: int, ends: Sequence[int], seen_ms: Sequence[int]) -> int | None:
    if lag == 0:
        return 0
    first_above = bisect_right(ends, row["committed_offset"])
    return row["observed_at_ms"] - seen_ms[first_above] if first_above < len(ends) else None


def _owned(found: Sequence[Row], at_ms: int) -> str:
    """How sure the owner is: another one came where it was seen to be over later, or where there are two."""
    if len(found) == 1 and (at_ms <= found[0]["last_seen_at_ms"] or not is_seen_over(found[0])):
        return "Owned by"
    return "Between two samples: the owner changed, when exactly is not observable. Seen"


def _last_seen(found: Sequence[Row], at_ms: int) -> str:
    """Of what still runs and was last seen before the moment: when that was."""
    running = [row["last_seen_at_ms"] for row in found if not is_seen_over(row)]
    newest_ms = max(running, default=at_ms)
    return f", as last seen {wording.clock(newest_ms)}" if newest_ms < at_ms else ""


def _gone(row: Row) -> str:
    """When it was seen to have let go."""
    if row["ended_before_ms"] is None:
        return "still owns it"
    return wording.utc(row["ended_before_ms"]).removesuffix(" UTC") if is_seen_over(row) else "nobody looked"


def _seen(row: Row) -> dict[str, str]:
    return {
        "Member": cut(row["member_id"]),
        "Client": cut(row["client_id"] or "–"),
        "Host": cut(row["host"] or "–"),
        "First seen (UTC)": wording.utc(row["started_at_ms"]).removesuffix(" UTC"),
        "Last seen (UTC)": wording.utc(row["last_seen_at_ms"]).removesuffix(" UTC"),
        "Gone at (UTC)": _gone(row),
    }


def _nobody(states: Sequence[Row]) -> str:
    """Why no owner is known: the group was not seen, could not be read, was rebalancing, or nobody owned it."""
    if not states:
        return "Not observed: no sample of the group covers this moment"
    state = states[-1]
    if state["state"] is None:
        return f"Not observed: {cut(state['state_unknown'] or 'the state of the group is unknown')}"
    if state["state"] not in SETTLED:
        return f"Nobody seen: the group was rebalancing ({state['state']}), and then it lists no assignments"
    return f"Nobody seen: the group was {state['state']} and none of its members owned the partition"
