"""producer_recovered: an idempotent producer raised its epoch, so it had met an error it could not retry (P5c)."""

from collections.abc import Iterator
from dataclasses import replace

from guarantees.findings import Finding, Grade, Kind, Statement
from guarantees.header_evidence import is_further, where
from guarantees.header_traces import SeenBatch
from guarantees.rules.resent_batch import repeated
from guarantees.view import listed, number, present

LOG_WAS_CUT = "the election cut off what the former leader alone had, and the client noticed the missing sequences"
# So many are shown, all are counted.
SHOWN = 20


def found(seen: SeenBatch) -> Iterator[Finding]:
    """Only the client raises the epoch of a producer without transactions (TransactionManager.handleFailedBatch).

    Where the same records stand on both sides of it, the finding is the duplicate (P4).
    """
    batch, last = seen.batch, None if seen.producer is None else seen.producer.last
    if last is None or not batch.is_data_of_producer or batch.is_transactional or last.is_transactional:
        return
    if (batch.producer_epoch or 0) > (last.producer_epoch or 0) and repeated(seen) is None:
        yield _finding(seen, last.producer_epoch)


def joined(before: Finding, now: Finding) -> Finding:
    """The producers that recovered under one leader are one finding, as sure as the surest of them."""
    if not is_further(before, now):
        return before
    surest = now if now.severity > before.severity else before
    bumps = [*listed(before.evidence, "bumps"), *listed(now.evidence, "bumps")]
    count = number(before.evidence, "count") + number(now.evidence, "count")
    evidence = {
        **before.evidence,
        "bumps": bumps[:SHOWN],
        "count": count,
        "last_offset": now.evidence["last_offset"],
    }
    return replace(
        surest,
        title=f"{where(before.place)}: producers recovered from errors {count:,} times, "
        f"producer {bumps[0]['producer_id']} first",
        evidence=evidence,
        happened_at_ms=before.happened_at_ms,
        last_seen_at_ms=max(before.last_seen_at_ms, now.last_seen_at_ms),
        closed_reason=None,
    )


def _finding(seen: SeenBatch, epoch_before: int | None) -> Finding:
    batch, place, previous = seen.batch, seen.scan.place, present(seen.previous)
    is_first_of_leader = previous.leader_epoch < batch.leader_epoch
    raised = (
        f"Producer {batch.producer_id} raised its epoch from {epoch_before} to {batch.producer_epoch} at offset "
        f"{batch.base_offset:,} of {where(place)}"
    )
    return Finding(
        kind=Kind.PRODUCER_RECOVERED,
        place=place,
        anchor=f"leader epoch {batch.leader_epoch}",
        severity=3 if is_first_of_leader else 2,
        title=f"{where(place)}: producer {batch.producer_id} recovered from an error",
        statements=(
            Statement(Grade.PROBABLE, f"{raised}: records of it are lost, or were sent again.", LOG_WAS_CUT)
            if is_first_of_leader
            else Statement(Grade.POSSIBLE, f"{raised}: what it had in flight may be lost or stored twice."),
            Statement(Grade.NOT_OBSERVABLE, "Which error the client met, and which records it had in flight."),
        ),
        bounds=None,
        evidence={
            "bumps": [
                {
                    "producer_id": batch.producer_id,
                    "epoch_before": epoch_before,
                    "epoch": batch.producer_epoch,
                    "offset": batch.base_offset,
                }
            ],
            "count": 1,
            "leader_epoch": batch.leader_epoch,
            "previous_leader_epoch": previous.leader_epoch,
            "last_offset": batch.base_offset,
        },
        happened_at_ms=seen.scan.observed_at_ms,
        last_seen_at_ms=seen.scan.observed_at_ms,
    )
