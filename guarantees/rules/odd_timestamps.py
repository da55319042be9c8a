"""odd_timestamps: records stamped in the future, or near 1970, mislead retention by time (L10).

Retention goes by a segment's largest timestamp: one record from the future keeps its segment for ever, and records from
near 1970 are older than any retention at the next check (LogSegment.largestTimestamp).
"""

from collections.abc import Iterator
from dataclasses import replace

from guarantees.findings import Finding, Grade, Kind, Statement
from guarantees.header_evidence import is_further, where
from guarantees.header_traces import SeenBatch
from guarantees.record_times import NoAge, record_age_ms
from guarantees.times import utc
from guarantees.view import number

TITLE = {NoAge.NEAR_1970: "near 1970", NoAge.FUTURE: "in the future"}
SEVERITY = {NoAge.NEAR_1970: 3, NoAge.FUTURE: 2}


def found(seen: SeenBatch) -> Iterator[Finding]:
    """The largest timestamp of a batch, by its producer's word, gives no age; one that has none is a setting."""
    if seen.batch.is_log_append_time or seen.batch.marker is not None or seen.batch.records == 0:
        return
    age = record_age_ms(seen.batch.max_timestamp_ms, seen.scan.observed_at_ms)
    if isinstance(age, NoAge) and age in SEVERITY:
        yield _finding(seen, age)


def joined(before: Finding, now: Finding) -> Finding:
    """More of them on the same partition: one finding that counts batches and keeps its first; both have one title."""
    if not is_further(before, now):
        return before
    batches = number(before.evidence, "batches") + number(now.evidence, "batches")
    last = {name: now.evidence[name] for name in ("last_offset", "last_max_timestamp_ms")}
    return replace(
        now,
        statements=before.statements,
        evidence={**before.evidence, **last, "batches": batches},
        happened_at_ms=before.happened_at_ms,
    )


def _finding(seen: SeenBatch, age: NoAge) -> Finding:
    batch, place = seen.batch, seen.scan.place
    return Finding(
        kind=Kind.ODD_TIMESTAMPS,
        place=place,
        anchor=age.name.lower(),
        severity=SEVERITY[age],
        title=f"{where(place)} holds records whose timestamps lie {TITLE[age]}",
        statements=_statements(seen, age),
        bounds=None,
        evidence={
            "class": age.name.lower(),
            "offset": batch.base_offset,
            "max_timestamp_ms": batch.max_timestamp_ms,
            "ahead_by_ms": batch.max_timestamp_ms - seen.scan.observed_at_ms if age is NoAge.FUTURE else None,
            "batches": 1,
            "last_offset": batch.last_offset,
            "last_max_timestamp_ms": batch.max_timestamp_ms,
        },
        happened_at_ms=seen.scan.observed_at_ms,
        last_seen_at_ms=seen.scan.observed_at_ms,
    )


def _statements(seen: SeenBatch, age: NoAge) -> tuple[Statement, ...]:
    batch, policy = seen.batch, seen.scan.cleanup_policy
    stamped = (
        f"The batch at offset {batch.base_offset:,} of {where(seen.scan.place)}, read {utc(seen.scan.observed_at_ms)},"
    )
    if age is NoAge.FUTURE:
        ahead_s = (batch.max_timestamp_ms - seen.scan.observed_at_ms) / 1000
        fact = f"{stamped} is stamped in the future by {ahead_s:,.0f} s."
        effect = "Retention by time keeps its segment until then."
    else:
        fact = f"{stamped} is stamped {batch.max_timestamp_ms:,} ms after the start of 1970."
        effect = "Retention by time deletes its segment at the next check, read or not."
    if isinstance(policy, str) and "delete" not in policy:
        return Statement(Grade.PROVEN, fact), Statement(Grade.PROVEN, "The topic is not deleted by time.")
    return Statement(Grade.PROVEN, fact), Statement(Grade.PROBABLE, effect, "retention.ms of the topic is limited")
