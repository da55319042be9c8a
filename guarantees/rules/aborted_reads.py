"""aborted_at_sink: the sink shows ids whose records in the source were aborted (T5; G1a of Adya and Jepsen)."""

from collections.abc import Callable, Iterable, Sequence

from guarantees.audits import AbortedAudit, AbortedId
from guarantees.findings import Bounds, Evidence, Finding, Grade, Kind, Place, Statement
from guarantees.rules.duplicates import in_words
from guarantees.sessions import sessions
from guarantees.times import utc

SHOWN_IDS = 100  # an episode may hold thousands: so many are shown, all are counted


def aborted_read_findings(
    audit: AbortedAudit, ids: Iterable[AbortedId], estimated: Callable[[Sequence[AbortedId]], Bounds], now_ms: int
) -> list[Finding]:
    """One finding per source partition and time, gaps below the settle delay; it settles after the horizon.

    `estimated` scales sampled ids to all ids, with its interval.
    """
    found = sessions(ids, lambda one: (one.sink_observed_at_ms, one.offset), audit.settle_s * 1000)
    return [_finding(audit, session, estimated(session), now_ms) for session in found]


def _finding(audit: AbortedAudit, session: list[AbortedId], total: Bounds, now_ms: int) -> Finding:
    last_ms = max(one.decided_at_ms for one in session)
    is_settled = now_ms - last_ms > audit.horizon_s * 1000
    return Finding(
        kind=Kind.ABORTED_AT_SINK,
        place=Place(audit.cluster_id, audit.topic, audit.topic_id, audit.partition, audit.group_id),
        anchor=f"{audit.pipeline}, first shown offset {session[0].offset}",
        severity=4,
        title=f"{audit.sink} holds {in_words(total)} message ids of {audit.topic}-{audit.partition} that were aborted",
        statements=_statements(audit, session, total),
        bounds=total,
        evidence=_evidence(audit, session),
        happened_at_ms=min(one.sink_observed_at_ms for one in session),
        last_seen_at_ms=last_ms,
        pipeline=audit.pipeline,
        closed_reason=f"settled: no further id for {audit.horizon_s:.0f} s" if is_settled else None,
    )


def _statements(audit: AbortedAudit, session: list[AbortedId], total: Bounds) -> tuple[Statement, ...]:
    offsets = [one.offset for one in session]
    since = utc(_sought_since_ms(session))
    stored = (
        f"{audit.sink} holds {in_words(total)} message ids whose records in {audit.topic}-{audit.partition}, between "
        f"the offsets {min(offsets):,} and {max(offsets):,}, belong to aborted transactions; no committed record with "
        f"one of these ids was read from {audit.topic} since {since}."
    )
    read = f"{audit.group_id} processed records that were never committed: it reads with read_uncommitted."
    assumption = (
        f"the sink has these ids from {audit.topic} alone, and none of them was committed before {since} or in offsets "
        "that were purged before they were read"
    )
    return Statement(Grade.PROVEN, stored), Statement(Grade.PROBABLE, read, assumption)


def _evidence(audit: AbortedAudit, session: list[AbortedId]) -> Evidence:
    return {
        "aborted": [_shown(one) for one in session[:SHOWN_IDS]],
        "first_offset": min(one.offset for one in session),
        "last_offset": max(one.offset for one in session),
        "sampled_ids": len(session),
        "sampling_rate": min(one.sampling_rate for one in session),
        "settle_s": audit.settle_s,
        "sink": audit.sink,
        "sought_since_ms": _sought_since_ms(session),
        "decided_at_ms": max(one.decided_at_ms for one in session),
    }


def _sought_since_ms(session: list[AbortedId]) -> int:
    """What was searched for all of them is the shortest time."""
    return max(one.sought_since_ms for one in session)


def _shown(one: AbortedId) -> Evidence:
    return {
        "message_id": one.message_id,
        "offset": one.offset,
        "producer_id": one.producer_id,
        "producer_epoch": one.producer_epoch,
        "found_at": one.found_at,
        "sink_observed_at_ms": one.sink_observed_at_ms,
    }
