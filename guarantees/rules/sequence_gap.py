"""sequence_gap: stored sequences of one producer session leave a gap that nothing explains; it is no loss (P5b)."""

from collections.abc import Iterator

from guarantees.amounts import counted
from guarantees.batches import steps_ahead
from guarantees.findings import Finding, Grade, Kind, Statement
from guarantees.header_evidence import where
from guarantees.header_traces import ProducerTrace, SeenBatch
from guarantees.view import present


def found(seen: SeenBatch) -> Iterator[Finding]:
    """Brokers refuse a real gap (OUT_OF_ORDER_SEQUENCE_NUMBER), so a stored one means that the broker had lost its
    state of the producer, or that records between were removed: where offsets are missing too, that explains it.
    """
    last = None if seen.producer is None else seen.producer.last
    if seen.producer is None or last is None or not seen.batch.is_data_of_producer:
        return
    if last.producer_epoch != seen.batch.producer_epoch:
        return
    expected = present(seen.producer.next_sequence)
    gap = steps_ahead(present(seen.batch.base_sequence), expected)
    if gap > 0 and not _is_explained(seen, last.last_offset):
        yield _finding(seen, seen.producer, gap, expected)


def joined(before: Finding, now: Finding) -> Finding:
    """Every gap is one of its own: seen again, it says nothing new."""
    return before


def _is_explained(seen: SeenBatch, after_offset: int) -> bool:
    """By compaction, or by offsets that are missing since the producer's last batch; an unknown policy may compact."""
    policy = seen.scan.cleanup_policy
    has_hole = seen.hole_at is not None and seen.hole_at > after_offset
    return has_hole or not isinstance(policy, str) or "compact" in policy


def _finding(seen: SeenBatch, trace: ProducerTrace, gap: int, expected: int) -> Finding:
    batch, place = seen.batch, seen.scan.place
    last = trace.batches[-1]
    text = (
        f"Between offset {last.last_offset:,} and offset {batch.base_offset:,} of {where(place)} producer "
        f"{batch.producer_id}, epoch {batch.producer_epoch}, went from sequence {last.last_sequence} to "
        f"{batch.base_sequence}: an unexplained sequence gap."
    )
    return Finding(
        kind=Kind.SEQUENCE_GAP,
        place=place,
        anchor=f"producer {batch.producer_id}, epoch {batch.producer_epoch}, offset {batch.base_offset}",
        severity=1,
        title=f"{where(place)}: unexplained gap of {counted(gap, 'sequence')} of producer {batch.producer_id}",
        statements=(
            Statement(Grade.PROVEN, text),
            Statement(Grade.NOT_OBSERVABLE, "Whether records are lost: a gap between stored batches is no sign of it."),
        ),
        bounds=None,
        evidence={
            "producer_id": batch.producer_id,
            "producer_epoch": batch.producer_epoch,
            "expected_sequence": expected,
            "base_sequence": batch.base_sequence,
            "gap": gap,
            "previous_offset": last.base_offset,
            "offset": batch.base_offset,
            "last_offset": batch.base_offset,
        },
        happened_at_ms=seen.scan.observed_at_ms,
        last_seen_at_ms=seen.scan.observed_at_ms,
    )
