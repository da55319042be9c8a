"""producer_fenced: an open transaction was ended from outside, under an epoch above its own (T4)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from guarantees.findings import Evidence, Finding, Grade, Kind, Statement
from guarantees.header_evidence import where
from guarantees.header_traces import Ending
from guarantees.transaction_ends import EndsView, is_raised_abort
from guarantees.view import listed, present

# A restart fences once; more often within a minute, two instances with one transactional id fence each other.
FENCINGS_A_MINUTE = 3
# So many are shown, all are counted.
SHOWN = 20


def found(view: EndsView) -> Iterator[Finding]:
    """One finding per producer id: the mechanism at work, or two instances that take turns."""
    fenced = [end for end in view.producer.ends if is_raised_abort(end) and not _has_timed_out(view, end)]
    if fenced and _is_from_outside(view, fenced):
        yield _finding(view, fenced)


def joined(before: Finding, now: Finding) -> Finding:
    """Every evaluation looks at all remembered ends: the newer one counts, never less sure than before."""
    shown = listed(before.evidence, "fencings")
    fencings = {_key(one): one for one in [*shown, *listed(now.evidence, "fencings")]}
    if len(fencings) == len(shown):
        return before
    evidence = {**now.evidence, "fencings": sorted(fencings.values(), key=_key)[-SHOWN:]}
    worse = before if before.severity > now.severity else now
    return replace(
        worse,
        evidence=evidence,
        happened_at_ms=before.happened_at_ms,
        last_seen_at_ms=now.last_seen_at_ms,
        closed_reason=None,
    )


def _has_timed_out(view: EndsView, end: Ending) -> bool:
    return end.data is not None and end.data.producer_epoch in view.timed_out


def _is_from_outside(view: EndsView, fenced: Sequence[Ending]) -> bool:
    """A producer that raises its epoch at every end (transaction.version 2) leaves the same marker without a fencing.

    Without a COMMIT marker to tell, the new instance does: fenced at e + 1 it writes under e + 2, never under e + 1. A
    marker whose data is gone (compacted away) may have told the opposite.
    """
    epochs = view.producer.data_epochs
    if view.producer.raises_epoch is not None:
        return not view.producer.raises_epoch
    if any(end.data is None for end in view.producer.ends):
        return False
    is_written_under = any(end.marker_epoch in epochs for end in fenced)
    return not is_written_under and any(end.marker_epoch + 1 in epochs for end in fenced)


def _finding(view: EndsView, fenced: Sequence[Ending]) -> Finding:
    by_epoch = {end.marker_epoch: end for end in fenced}
    often = _most_in_a_minute([end.ended_at_ms for end in by_epoch.values()])
    last, producer_id = fenced[-1], view.producer.producer_id
    is_storm = often > FENCINGS_A_MINUTE
    text = (
        f"A transaction of producer {producer_id} on {where(last.place)} was aborted under epoch {last.marker_epoch}, "
        f"one above its data's: a new instance fenced the old one, or its timeout passed."
    )
    statements = [Statement(Grade.PROVEN, text)]
    if is_storm:
        statements.append(
            Statement(
                Grade.PROVEN,
                f"It happened {often} times within a minute: instances with one transactional id take turns, or one "
                f"starts again and again.",
            )
        )
    return Finding(
        kind=Kind.PRODUCER_FENCED,
        place=replace(last.place, partition=None),
        anchor=f"producer {producer_id}",
        severity=3 if is_storm else 1,
        title=f"{last.place.topic}: producer {producer_id} was fenced"
        + (f" {often} times within a minute" if is_storm else ""),
        statements=tuple(statements),
        bounds=None,
        evidence={
            "producer_id": producer_id,
            "raises_epoch_at_every_end": view.producer.raises_epoch,
            "fencings": [_fencing(end) for end in by_epoch.values()][-SHOWN:],
        },
        happened_at_ms=fenced[0].ended_at_ms,
        last_seen_at_ms=max(view.observed_at_ms, last.ended_at_ms),
    )


def _fencing(end: Ending) -> Evidence:
    return {
        "data_epoch": present(end.data).producer_epoch,
        "marker_epoch": end.marker_epoch,
        "topic": end.place.topic,
        "partition": end.place.partition,
        "marker_offset": end.marker_offset,
        "ended_at_ms": end.ended_at_ms,
    }


def _key(fencing: Any) -> int:
    return int(fencing["marker_epoch"])


def _most_in_a_minute(times_ms: Sequence[int]) -> int:
    times = sorted(times_ms)
    return max(sum(1 for other in times if 0 <= other - one < 60_000) for one in times)
