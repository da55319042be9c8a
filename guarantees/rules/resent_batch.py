"""resent_batch: a batch, or sequences of one, stored at two offsets (P1, P3, P4), as far as headers can tell."""

from collections.abc import Iterator
from dataclasses import dataclass

from guarantees.amounts import counted
from guarantees.audits import DuplicateCause
from guarantees.batches import Batch, steps_ahead
from guarantees.findings import Bounds, Evidence, Finding, Grade, Kind, Statement, Unit
from guarantees.header_evidence import joined_counts, where
from guarantees.header_traces import ProducerTrace, SeenBatch, likeness
from guarantees.view import present

ONE_PAYLOAD_A_TIME = "no application sends equal payloads with the same timestamps"
STORED_TWICE = "stored twice"


@dataclass(frozen=True, slots=True)
class Resent:
    """How a stored batch repeats an earlier one. `first` is None where the first copy is no longer remembered."""

    cause: DuplicateCause
    first: Batch | None
    records: int
    assumption: str | None


def found(seen: SeenBatch) -> Iterator[Finding]:
    """The batch repeats one that the contiguous range had shown before."""
    resent = repeated(seen)
    if resent is not None:
        yield _finding(seen, resent)


def joined(before: Finding, now: Finding) -> Finding:
    """Further copies of the same cause and producer are one finding."""
    return joined_counts(before, now, STORED_TWICE)


def repeated(seen: SeenBatch) -> Resent | None:
    """Batches that compaction emptied repeat nothing: they keep the sequences they always had."""
    batch = seen.batch
    if batch.marker is not None or not batch.records:
        return None
    if batch.producer_id is None:
        return None if seen.alike is None else _unidentified(batch, seen.alike)
    last = None if seen.producer is None else seen.producer.last
    if seen.producer is None or last is None or not batch.is_data_of_producer:
        return None
    if last.producer_epoch == batch.producer_epoch:
        return _same_sequence(seen.producer, batch)
    return _raised_epoch(seen.producer, batch)


def _unidentified(batch: Batch, first: Batch) -> Resent | None:
    """Byte for byte the same (P1). The CRC covers the producer's timestamps unless the broker stamps at append."""
    if batch.crc != first.crc and not (batch.is_log_append_time and first.is_log_append_time):
        return None
    is_certain = batch.crc == first.crc and not batch.is_log_append_time and _is_distinguished(batch)
    return Resent(DuplicateCause.NOT_IDEMPOTENT, first, batch.records, None if is_certain else ONE_PAYLOAD_A_TIME)


def _is_distinguished(batch: Batch) -> bool:
    """Several records of several milliseconds: an application that repeats itself does not repeat those."""
    return batch.records > 1 and batch.max_timestamp_ms > batch.base_timestamp_ms


def _same_sequence(trace: ProducerTrace, batch: Batch) -> Resent | None:
    """Its sequences overlap stored ones (P3, ProducerAppendInfo.checkSequence); modulo 2^31, so a wrap is no repeat."""
    behind = -steps_ahead(present(batch.base_sequence), present(trace.next_sequence))
    overlap = min(behind, batch.sequences) - max(0, behind - trace.run_length)
    if overlap <= 0:
        return None
    first = next((kept for kept in trace.batches if _overlap(kept, batch)), None)
    return Resent(DuplicateCause.SAME_SEQUENCE, first, min(overlap, batch.records), None)


def _overlap(kept: Batch, batch: Batch) -> bool:
    ahead = steps_ahead(present(batch.base_sequence), present(kept.base_sequence))
    return kept.producer_epoch == batch.producer_epoch and -batch.sequences < ahead < kept.sequences


def _raised_epoch(trace: ProducerTrace, batch: Batch) -> Resent | None:
    """The same body under a higher epoch (P4). What a transaction writes again after an abort is no duplicate."""
    if batch.is_transactional:
        return None
    first = next(
        (
            kept
            for kept in trace.batches
            if (kept.producer_epoch or 0) < (batch.producer_epoch or 0) and likeness(kept) == likeness(batch)
        ),
        None,
    )
    return None if first is None else Resent(DuplicateCause.OTHER_EPOCH, first, batch.records, ONE_PAYLOAD_A_TIME)


def _finding(seen: SeenBatch, resent: Resent) -> Finding:
    batch, count = seen.batch, resent.records
    return Finding(
        kind=Kind.RESENT_BATCH,
        place=seen.scan.place,
        anchor=_anchor(batch, resent.cause),
        severity=4 if resent.cause is DuplicateCause.SAME_SEQUENCE else 3,
        title=f"{where(seen.scan.place)}: {counted(count, 'record')} {STORED_TWICE}",
        statements=(_statement(seen, resent),),
        bounds=Bounds(count, count, count, Unit.RECORDS),
        evidence=_evidence(batch, resent),
        happened_at_ms=seen.scan.observed_at_ms,
        last_seen_at_ms=seen.scan.observed_at_ms,
    )


def _anchor(batch: Batch, cause: DuplicateCause) -> str:
    if batch.producer_id is None:
        return f"{cause}, leader epoch {batch.leader_epoch}"
    return f"{cause}, producer {batch.producer_id}, epoch {batch.producer_epoch}"


def _statement(seen: SeenBatch, resent: Resent) -> Statement:
    batch, first = seen.batch, resent.first
    at = "more than five batches before" if first is None else f"at offset {first.base_offset:,}"
    stored = f"The batch at offset {batch.base_offset:,} of {where(seen.scan.place)}"
    who = f"producer {batch.producer_id}"
    text = {
        DuplicateCause.NOT_IDEMPOTENT: f"{stored} is the one {at} sent again by a producer that is not idempotent.",
        DuplicateCause.SAME_SEQUENCE: f"{stored} repeats sequences that {who}, epoch {batch.producer_epoch}, had "
        f"written {at}: the leader had lost the producer's state.",
        DuplicateCause.OTHER_EPOCH: f"{stored} holds the records of the one {at} again: {who} raised its epoch from "
        f"{None if first is None else first.producer_epoch} to {batch.producer_epoch} after an error.",
    }[resent.cause]
    return Statement(Grade.PROVEN if resent.assumption is None else Grade.PROBABLE, text, resent.assumption)


def _evidence(batch: Batch, resent: Resent) -> Evidence:
    first = resent.first
    return {
        "cause": str(resent.cause),
        "producer_id": batch.producer_id,
        "producer_epoch": batch.producer_epoch,
        "base_sequence": batch.base_sequence,
        "last_sequence": batch.last_sequence,
        "crc": batch.crc,
        "first_copy_offset": None if first is None else first.base_offset,
        "first_copy_epoch": None if first is None else first.producer_epoch,
        "first_copy_leader_epoch": None if first is None else first.leader_epoch,
        "offset": batch.base_offset,
        "last_offset": batch.base_offset,
        "leader_epoch": batch.leader_epoch,
    }
