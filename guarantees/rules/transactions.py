"""What an open transaction that holds a stable offset is: three ages, never mixed (T1, T2)."""

from dataclasses import dataclass
from enum import StrEnum

from guarantees.memory import Hold
from guarantees.observations import OpenProducer, Round, Signal, Transaction
from guarantees.places import TopicPartition
from guarantees.view import View

# Broker defaults: transaction.max.timeout.ms, and LATE_TRANSACTION_BUFFER_MS of ProducerStateManager.
MAX_TIMEOUT_MS = 900_000
LATE_BUFFER_MS = 300_000
# A coordinator forgets a partition only when its marker is written: so long no race of two requests lasts.
UNLISTED_AFTER_MS = 60_000


class TransactionClass(StrEnum):
    """How an open transaction stands, the mildest first."""

    OPEN = "open"  # within its timeout
    LATE = "late"  # within the last part of its timeout
    EXPIRING = "expiring"  # past its timeout; the abort task and its markers may be under way
    OVERDUE = "overdue"  # past timeout + 5 min, and the coordinator still lists the partition
    UNLISTED = "unlisted"  # no coordinator lists the partition, yet not for long enough to be sure
    HANGING = "hanging"  # no coordinator lists the partition, and the last write is older than any timeout


SEVERITY = {
    TransactionClass.OPEN: 1,
    TransactionClass.LATE: 2,
    TransactionClass.EXPIRING: 2,
    TransactionClass.OVERDUE: 3,
    TransactionClass.UNLISTED: 3,
    TransactionClass.HANGING: 4,
}


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds the stable offset, as far as seen.

    `producer` is what the partition's leader says, `transaction` what a coordinator says. `is_listed` is False where a
    coordinator denies the partition, None where nobody could be asked. `is_denied_by_description`: the coordinator
    described the transaction without this partition; otherwise no coordinator knew the producer at all, which a missing
    right looks like too.
    """

    producer: OpenProducer | None
    transaction: Transaction | None
    is_listed: bool | None
    is_denied_by_description: bool = False


def holder(view: View, partition: TopicPartition, hold: Hold) -> Holder:
    """The producer whose open transaction starts at the stable offset, and its transaction.

    Without the leader's answer in this round: a transaction that lists the partition, of the producer named before.
    """
    producer = producer_at(view.round, partition, hold.start_offset)
    if producer is None:
        listing = sorted(
            (t for t in _listing(view, partition) if hold.producer_id in (None, t.producer_id)),
            key=lambda t: (t.started_at_ms or 0, t.transactional_id),
        )
        return Holder(None, listing[0] if listing else None, True if listing else None)
    own = [t for t in view.round.transactions if t.producer_id == producer.producer_id]
    listed = next((t for t in own if partition in t.partitions), None)
    if listed is not None:
        return Holder(producer, listed, is_listed=True)
    if own:
        return Holder(producer, own[0], is_listed=False, is_denied_by_description=True)
    coverage = view.coverage(Signal.TRANSACTIONS)
    is_complete = coverage is not None and coverage.is_complete and not coverage.refused
    return Holder(producer, None, False if is_complete else None)


def _listing(view: View, partition: TopicPartition) -> list[Transaction]:
    return [t for t in view.round.transactions if partition in t.partitions]


def producer_at(observed: Round, partition: TopicPartition, start_offset: int) -> OpenProducer | None:
    """The open producer whose transaction starts at this offset, if the leader said who it is."""
    producers = observed.producers.get(partition)
    if not isinstance(producers, tuple):
        return None
    return next((p for p in producers if p.current_transaction_start_offset == start_offset), None)


def classify(found: Holder, since_ms: int, overdue_share: float, now_ms: int) -> TransactionClass:
    """The class by the clock that applies: the coordinator's while it lists the partition, else our own samples.

    `since_ms` and `now_ms` are ours; the producer's last timestamp is its own clock, so it alone never makes a
    transaction hang: no coordinator may list the partition over a minute of our own samples.
    """
    held_ms = now_ms - since_ms
    if found.producer is not None and found.is_listed is False and held_ms >= UNLISTED_AFTER_MS:
        silent_ms = now_ms - found.producer.last_timestamp_ms
        return TransactionClass.HANGING if max(silent_ms, held_ms) > MAX_TIMEOUT_MS else TransactionClass.UNLISTED
    timeout_ms = found.transaction.timeout_ms if found.transaction is not None else MAX_TIMEOUT_MS
    age_ms = coordinator_age_ms(found.transaction, now_ms)
    return _by_age(held_ms if age_ms is None else age_ms, timeout_ms, overdue_share)


def coordinator_age_ms(transaction: Transaction | None, now_ms: int) -> int | None:
    if transaction is None or transaction.started_at_ms is None:
        return None
    return max(0, now_ms - transaction.started_at_ms)


def _by_age(age_ms: int, timeout_ms: int, overdue_share: float) -> TransactionClass:
    if age_ms > timeout_ms + LATE_BUFFER_MS:
        return TransactionClass.OVERDUE
    if age_ms > timeout_ms:
        return TransactionClass.EXPIRING
    return TransactionClass.LATE if age_ms >= overdue_share * timeout_ms else TransactionClass.OPEN
