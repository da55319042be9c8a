"""How long a partition was below min ISR in a window, from the intervals of its state (guarantees.isr)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from dashboard.interval_ends import is_seen_over
from guarantees import isr
from guarantees.findings import Bounds, Unit
from guarantees.observations import PartitionState
from guarantees.unknown import Unknown

Row = Mapping[str, Any]

MIN_ISR_NOT_READ = Unknown("min ISR could not be read")
NOT_WATCHED = Unknown("it was not observed all the time")


@dataclass(frozen=True, slots=True)
class LowStretch:
    """An unbroken run of samples below min ISR (ms since 1970, UTC), as far as it lies in the window.

    It began after `after_ms` and was over by `until_ms`; `since_ms` and `last_ms` are its first and newest sample,
    `observed_ms` the time between them without gaps.
    """

    after_ms: int
    since_ms: int
    last_ms: int
    until_ms: int
    observed_ms: int

    @property
    def bounds(self) -> Bounds:
        evidence = {"observed_below_ms": self.observed_ms, "after_ms": self.after_ms}
        return isr.seconds(evidence, self.until_ms)


def state_of(row: Row) -> PartitionState:
    """A stored state as the rules know it."""
    eligible, last_known = row["eligible_leader_replicas"], row["last_known_eligible_leader_replicas"]
    return PartitionState(
        topic_id=row["topic_id"],
        leader=row["leader"],
        leader_epoch=row["leader_epoch"],
        replicas=tuple(row["replicas"]),
        in_sync_replicas=tuple(row["in_sync_replicas"]),
        eligible_leader_replicas=None if eligible is None else tuple(eligible),
        last_known_eligible_leader_replicas=None if last_known is None else tuple(last_known),
        offline_replicas=tuple(row["offline_replicas"] or ()),
        observed_at_ms=row["last_seen_at_ms"],
    )


def is_below(row: Row) -> bool:
    return isr.is_below(state_of(row), row["min_insync_replicas"])


def is_offline(row: Row) -> bool:
    return row["leader"] is None


def stretches(
    history: Iterable[Row], from_ms: int, to_ms: int, gap_ms: int, holds: Callable[[Row], bool] = is_below
) -> list[LowStretch]:
    """The times below min ISR, or in which `holds`, of one partition, whose states come the oldest first.

    A gap longer than `gap_ms` between two samples below it counts for the upper end only, as in the findings.
    """
    return [_stretch(run, from_ms, to_ms, gap_ms) for run in _runs(history, holds)]


def time_below(history: Sequence[Row], from_ms: int, to_ms: int, gap_ms: int) -> Bounds | Unknown | None:
    """Seconds below min ISR in the window; None where it was never seen below.

    Where the minimum could not be read at some time, there is no upper end, and no lower one but of the time offline;
    where nobody looked for a while, there is no upper end either.
    """
    found = stretches(history, from_ms, to_ms, gap_ms)
    if not found:
        return MIN_ISR_NOT_READ if _is_unread(history) else None
    return spent(found, is_bounded=no_upper_end(history, from_ms, to_ms, gap_ms) is None)


def spent(found: Iterable[LowStretch], *, is_bounded: bool) -> Bounds:
    """Seconds of all of these together."""
    known = [one.bounds for one in found]
    upper = sum(one.upper or 0 for one in known) if is_bounded else None
    return Bounds(sum(one.lower for one in known), None, upper, Unit.SECONDS)


def no_upper_end(history: Sequence[Row], from_ms: int, to_ms: int, gap_ms: int) -> Unknown | None:
    """Why the time below min ISR may be any longer than was seen; None where it is bounded."""
    if _is_unread(history):
        return MIN_ISR_NOT_READ
    return None if is_watched(history, from_ms, to_ms, gap_ms) else NOT_WATCHED


def is_watched(
    history: Sequence[Row], from_ms: int, to_ms: int, gap_ms: int, holds: Callable[[Row], bool] = is_below
) -> bool:
    """Whether no gap lies between two states of which `holds` is true of neither, nor before the first or after the
    last one. A gap beside a time in which it held counts for that time's upper end.
    """
    if not history:
        return False
    first, last = history[0], history[-1]
    unseen = [
        (max(from_ms, before["last_seen_at_ms"]), after["started_at_ms"])
        for before, after in pairwise(history) if not holds(before) and not holds(after)
    ]  # fmt: skip
    if not holds(first) and first["started_after_ms"] is None:
        unseen.append((from_ms, first["started_at_ms"]))
    if not holds(last) and not is_seen_over(last):
        unseen.append((max(from_ms, last["last_seen_at_ms"]), to_ms))
    return all(end - start <= gap_ms for start, end in unseen)


def _is_unread(history: Iterable[Row]) -> bool:
    return any(row["min_insync_replicas"] is None and row["leader"] is not None for row in history)


def _runs(history: Iterable[Row], holds: Callable[[Row], bool]) -> Iterator[list[Row]]:
    run: list[Row] = []
    for row in history:
        if holds(row):
            run.append(row)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _stretch(run: Sequence[Row], from_ms: int, to_ms: int, gap_ms: int) -> LowStretch:
    first, last = run[0], run[-1]
    seen = [(max(from_ms, row["started_at_ms"]), min(to_ms, row["last_seen_at_ms"])) for row in run]
    between = [start - end for (_, end), (start, _) in pairwise(seen) if from_ms <= end and start - end <= gap_ms]
    since_ms = seen[0][0]
    return LowStretch(
        after_ms=max(from_ms, first["started_after_ms"] or from_ms),
        since_ms=since_ms,
        last_ms=max(since_ms, seen[-1][1]),
        until_ms=min(to_ms, last["ended_before_ms"] or to_ms),
        observed_ms=sum(max(0, end - start) for start, end in seen) + sum(between),
    )
