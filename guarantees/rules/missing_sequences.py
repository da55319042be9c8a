"""missing_sequences: the first stored batch of a new producer is not the first batch it made (P5a)."""

from collections.abc import Iterator, Mapping

from guarantees.amounts import counted
from guarantees.findings import Bounds, Finding, Grade, Kind, Statement, Unit
from guarantees.header_evidence import where
from guarantees.header_traces import SeenBatch
from guarantees.unknown import Unknown

OLD_LEADER_HELD_THEM = (
    "the former leader held them, and the producer is not an old one that came back after the leader's state of it "
    "had expired"
)
ACKNOWLEDGED = Statement(Grade.NOT_OBSERVABLE, "Whether it had been acknowledged: only the producer knows.")
IS_NEW = "whether the producer had written before"


def found(seen: SeenBatch) -> Iterator[Finding]:
    """A broker without state for a producer accepts any sequence (ProducerAppendInfo.checkSequence): the trace of a
    leader that had, and lost, the batches before. One condition unknown gives POSSIBLE; more, or one violated, nothing.
    Where nobody said who is new, every old producer looks like a new one: then only a change of leader counts.
    """
    batch = seen.batch
    if seen.producer is not None or not batch.is_data_of_producer or not batch.records or not batch.base_sequence:
        return
    conditions = _conditions(seen)
    unknown = [f"{name} ({met.reason})" for name, met in conditions.items() if isinstance(met, Unknown)]
    is_anybody = isinstance(conditions[IS_NEW], Unknown) and not _has_new_leader(seen)
    if all(met is not False for met in conditions.values()) and len(unknown) <= 1 and not is_anybody:
        yield _finding(seen, batch.base_sequence, unknown[0] if unknown else None)


def joined(before: Finding, now: Finding) -> Finding:
    """A producer has one first batch: seen again, it says nothing new."""
    return before


def _conditions(seen: SeenBatch) -> Mapping[str, bool | Unknown]:
    """Nothing was purged or compacted where the earlier batches would lie, and the producer had written none before."""
    scan, producer_id = seen.scan, seen.batch.producer_id
    start, policy, before = scan.log_start_offset, scan.cleanup_policy, seen.producers_before
    return {
        "where the log begins": start if isinstance(start, Unknown) else start <= scan.first_offset,
        "whether compaction removes records": policy if isinstance(policy, Unknown) else "compact" not in policy,
        IS_NEW: before if isinstance(before, Unknown) else producer_id not in before,
    }


def _has_new_leader(seen: SeenBatch) -> bool:
    return seen.previous is not None and seen.previous.leader_epoch != seen.batch.leader_epoch


def _finding(seen: SeenBatch, count: int, unknown: str | None) -> Finding:
    batch, previous = seen.batch, seen.previous
    has_new_leader = _has_new_leader(seen)
    place = seen.scan.place
    return Finding(
        kind=Kind.MISSING_SEQUENCES,
        place=place,
        anchor=f"producer {batch.producer_id}, epoch {batch.producer_epoch}, offset {batch.base_offset}",
        severity=1 if unknown is not None else 4 if has_new_leader else 3,
        title=f"{where(place)}: {_lacks(unknown)} {counted(count, 'record')} of producer {batch.producer_id}",
        statements=_statements(seen, count, unknown, has_new_leader),
        bounds=Bounds(count if unknown is None else 0, None if unknown is not None else count, count, Unit.RECORDS),
        evidence={
            "producer_id": batch.producer_id,
            "producer_epoch": batch.producer_epoch,
            "first_missing_sequence": 0,
            "last_missing_sequence": count - 1,
            "offset": batch.base_offset,
            "last_offset": batch.base_offset,
            "leader_epoch": batch.leader_epoch,
            "previous_offset": None if previous is None else previous.base_offset,
            "previous_leader_epoch": None if previous is None else previous.leader_epoch,
            "read_from_offset": seen.covered_from,
            "unknown_condition": unknown,
        },
        happened_at_ms=seen.scan.observed_at_ms,
        last_seen_at_ms=seen.scan.observed_at_ms,
    )


def _lacks(unknown: str | None) -> str:
    return "the log lacks" if unknown is None else "the log may lack up to"


def _statements(seen: SeenBatch, count: int, unknown: str | None, has_new_leader: bool) -> tuple[Statement, ...]:
    batch, previous = seen.batch, seen.previous
    sequences = "sequence 0" if count == 1 else f"sequences 0-{count - 1}"
    missing = (
        f"{_lacks(unknown).capitalize()} {counted(count, 'record')} ({sequences}) of producer {batch.producer_id} that "
        f"existed in the client: none lies before offset {batch.base_offset}, read without a gap from offset "
        f"{seen.covered_from} on."
    )
    if unknown is not None:
        return (
            Statement(Grade.POSSIBLE, f"{missing} Not known: {unknown}."),
            Statement(
                Grade.POSSIBLE, "What is missing is lost, expired in the client unsent, or was stored and is gone."
            ),
            ACKNOWLEDGED,
        )
    changed = f"leader epoch {None if previous is None else previous.leader_epoch} to {batch.leader_epoch}"
    return (
        Statement(Grade.PROVEN, missing),
        Statement(
            Grade.PROBABLE,
            f"What is missing is lost: the leader changed before this batch ({changed}).",
            OLD_LEADER_HELD_THEM,
        )
        if has_new_leader
        else Statement(Grade.POSSIBLE, "What is missing is lost, or expired in the client before it was sent."),
        ACKNOWLEDGED,
    )
