"""How the transactions of each producer ended, over all partitions whose headers are read."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from guarantees.batches import Marker
from guarantees.header_traces import Ending, SeenBatch
from guarantees.observations import Transaction
from guarantees.places import TopicPartition
from guarantees.view import topic_partition

# Of each producer so many ends, and of all so many producers: whoever ended a transaction longest ago is forgotten.
KEPT_ENDS = 100
KEPT_PRODUCERS = 10_000
ONGOING = "Ongoing"


@dataclass(frozen=True, slots=True)
class ProducerEnds:
    """One transactional producer id.

    `raises_epoch`: every transaction ends under a raised epoch (transaction.version 2, KIP-890), by its own COMMIT
    markers, since the cluster's feature only allows it; None before its first one. `data_epochs` are those it wrote
    under.
    """

    producer_id: int
    ends: tuple[Ending, ...] = ()
    raises_epoch: bool | None = None
    data_epochs: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class EndsView:
    """One producer with new ends or data, and what its coordinator last said of it.

    `timed_out` are the data epochs of its transactions that are known to have timed out.
    """

    producer: ProducerEnds
    new: Sequence[Ending]
    transaction: Transaction | None
    observed_at_ms: int
    timed_out: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Transactions:
    """What the coordinators said: per producer id its newest description with a start, and its transactional id."""

    newest: Mapping[int, Transaction] = field(default_factory=dict)


def described(before: Transactions, now: Iterable[Transaction]) -> Transactions:
    """The newest description of each producer while its transaction was under way.

    Once its end is prepared the coordinator may have raised the epoch, and forgets partition after partition.
    """
    newest = dict(before.newest)
    for transaction in now:
        if transaction.state == ONGOING and transaction.started_at_ms is not None:
            newest.pop(transaction.producer_id, None)
            newest[transaction.producer_id] = transaction
    return Transactions(dict(list(newest.items())[-KEPT_PRODUCERS:]))


def ended(
    before: Mapping[int, ProducerEnds], seen: Iterable[SeenBatch]
) -> tuple[dict[int, ProducerEnds], dict[int, list[Ending]]]:
    """What is known of every producer after these batches, and the new ends of those that showed anything."""
    known, new = dict(before), dict[int, list[Ending]]()
    for one in seen:
        batch = one.batch
        if batch.producer_id is None or batch.producer_epoch is None or not batch.is_transactional:
            continue
        producer = known.pop(batch.producer_id, None) or ProducerEnds(batch.producer_id)
        ends = new.setdefault(batch.producer_id, [])
        if one.ending is not None:
            ends.append(one.ending)
            producer = _with_end(producer, one.ending)
        else:
            epochs = {*producer.data_epochs, batch.producer_epoch}
            producer = replace(producer, data_epochs=frozenset(sorted(epochs)[-KEPT_ENDS:]))
        known[batch.producer_id] = producer
    return dict(list(known.items())[-KEPT_PRODUCERS:]), new


def transaction_of(view: EndsView, end: Ending) -> Transaction | None:
    """The coordinator's description of the transaction a marker ended, where it is certain to be that one.

    It lists the partition, was under way before the marker, and no other marker lies between its start and this one.
    """
    described, data = view.transaction, end.data
    if described is None or data is None or described.producer_epoch != data.producer_epoch:
        return None
    start_ms = described.started_at_ms
    if start_ms is None or start_ms > end.ended_at_ms or partition_of(end) not in described.partitions:
        return None
    between = [
        other
        for other in view.producer.ends
        if other.place == end.place and other.marker_offset < end.marker_offset and other.ended_at_ms >= start_ms
    ]
    return None if between else described


def partition_of(end: Ending) -> TopicPartition | None:
    return topic_partition(end.place)


def is_raised_abort(end: Ending) -> bool:
    """An ABORT marker under an epoch above its data's: not the producer itself ended it, unless it always raises."""
    return end.marker is Marker.ABORT and end.data is not None and end.marker_epoch == end.data.producer_epoch + 1


def _with_end(producer: ProducerEnds, end: Ending) -> ProducerEnds:
    raises = producer.raises_epoch
    if end.marker is Marker.COMMIT and end.data is not None:
        raises = end.marker_epoch == end.data.producer_epoch + 1
    return replace(producer, ends=(*producer.ends, end)[-KEPT_ENDS:], raises_epoch=raises)
