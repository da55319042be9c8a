"""torn_transaction: one transaction was committed here and aborted there, or written to after its end (T7)."""

from collections.abc import Iterator

from guarantees.amounts import counted
from guarantees.batches import Marker
from guarantees.findings import Finding, Grade, Kind, Statement
from guarantees.header_evidence import where
from guarantees.header_traces import Ending, SeenBatch
from guarantees.transaction_ends import EndsView, partition_of
from guarantees.view import present

# Data and marker this far from the sample that saw the transaction open belong to it, whoever's clock stamped them.
CLOCKS_AGREE_MS = 1_000
CLOCKS_AGREE = "the clocks of brokers and producer agree to a second"
KAFKA_ALLOWS_IT = (
    "Kafka itself allows this below transaction.version 2: a late write or end can meet the next transaction (KIP-890)."
)


def found_late(seen: SeenBatch) -> Iterator[Finding]:
    """Data under an epoch that a marker before it had already ended: a broker with its state refuses it."""
    batch, producer = seen.batch, seen.producer
    if producer is None or producer.marker_epoch is None or not batch.is_data_of_producer or not batch.is_transactional:
        return
    if batch.producer_epoch is not None and batch.producer_epoch < producer.marker_epoch:
        yield _late(seen, producer.marker_epoch)


def found(view: EndsView) -> Iterator[Finding]:
    """A COMMIT and an ABORT that ended data of one and the same transaction on two partitions."""
    for end in view.new:
        for other in view.producer.ends:
            if {end.marker, other.marker} == set(Marker) and end.place != other.place:
                aborted, committed = (end, other) if end.marker is Marker.ABORT else (other, end)
                if _is_raised(aborted) and _is_raised(committed) and aborted.marker_epoch == committed.marker_epoch:
                    yield _torn(view, aborted, committed, None)
                elif _held_both(view, aborted, committed):
                    yield _torn(view, aborted, committed, CLOCKS_AGREE)


def joined(before: Finding, now: Finding) -> Finding:
    """The abort of a transaction on a partition is one fact, however many partitions committed it."""
    return before


def _is_raised(end: Ending) -> bool:
    """Under transaction.version 2 every transaction has an epoch of its own, so equal epochs are one transaction."""
    return end.data is not None and end.marker_epoch == end.data.producer_epoch + 1


def _held_both(view: EndsView, aborted: Ending, committed: Ending) -> bool:
    """Its coordinator listed both partitions while the data of both was open."""
    described = view.transaction
    if described is None or not {partition_of(aborted), partition_of(committed)} <= described.partitions:
        return False
    return all(
        end.data is not None
        and end.data.producer_epoch == described.producer_epoch
        and end.data.first_timestamp_ms + CLOCKS_AGREE_MS <= described.observed_at_ms
        and described.observed_at_ms + CLOCKS_AGREE_MS <= end.ended_at_ms
        for end in (aborted, committed)
    )


def _torn(view: EndsView, aborted: Ending, committed: Ending, assumption: str | None) -> Finding:
    text = (
        f"One transaction of producer {aborted.producer_id} was committed on {where(committed.place)} (marker at "
        f"offset {committed.marker_offset:,}) and aborted on {where(aborted.place)} (marker at offset "
        f"{aborted.marker_offset:,})."
    )
    headline = Statement(Grade.PROVEN, text) if assumption is None else Statement(Grade.PROBABLE, text, assumption)
    records = present(aborted.data).records
    return Finding(
        kind=Kind.TORN_TRANSACTION,
        place=aborted.place,
        anchor=f"producer {aborted.producer_id}, epoch {aborted.marker_epoch}, abort at offset {aborted.marker_offset}",
        severity=4,
        title=f"{where(aborted.place)}: {counted(records, 'record')} aborted of a transaction committed elsewhere",
        statements=(headline, *(() if assumption is None else (Statement(Grade.PROVEN, KAFKA_ALLOWS_IT),))),
        bounds=None,
        evidence={
            "producer_id": aborted.producer_id,
            "marker_epoch": aborted.marker_epoch,
            "aborted": [aborted.place.topic, aborted.place.partition, aborted.marker_offset],
            "committed": [committed.place.topic, committed.place.partition, committed.marker_offset],
            "aborted_records": records,
            "last_offset": aborted.marker_offset,
        },
        happened_at_ms=aborted.ended_at_ms,
        last_seen_at_ms=max(view.observed_at_ms, aborted.ended_at_ms),
    )


def _late(seen: SeenBatch, marker_epoch: int) -> Finding:
    batch, place = seen.batch, seen.scan.place
    text = (
        f"The batch at offset {batch.base_offset:,} of {where(place)} was written by producer {batch.producer_id} "
        f"under epoch {batch.producer_epoch}, after a marker of epoch {marker_epoch} had ended that epoch."
    )
    return Finding(
        kind=Kind.TORN_TRANSACTION,
        place=place,
        anchor=f"producer {batch.producer_id}, epoch {batch.producer_epoch}, late at offset {batch.base_offset}",
        severity=4,
        title=f"{where(place)}: producer {batch.producer_id} wrote to a transaction after its end",
        statements=(Statement(Grade.PROVEN, text), Statement(Grade.PROVEN, KAFKA_ALLOWS_IT)),
        bounds=None,
        evidence={
            "producer_id": batch.producer_id,
            "producer_epoch": batch.producer_epoch,
            "marker_epoch": marker_epoch,
            "records": batch.records,
            "last_offset": batch.base_offset,
        },
        happened_at_ms=seen.scan.observed_at_ms,
        last_seen_at_ms=seen.scan.observed_at_ms,
    )
