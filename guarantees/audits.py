"""What the record jobs measured: the input of the record rules. Counts of a sample carry their interval."""

from dataclasses import dataclass
from enum import StrEnum

from guarantees.findings import Bounds


class Job(StrEnum):
    """What an exact audit counts."""

    AUDIT = "audit"  # duplicates, losses and surplus
    DUPLICATES = "duplicates"
    LOSSES = "losses"  # and surplus
    ORDER = "order"  # of records within their keys
    CONTENT = "content"  # of batches, on all replicas and as read earlier

    @property
    def counts_copies(self) -> bool:
        return self in (Job.AUDIT, Job.DUPLICATES)

    @property
    def is_of_ids(self) -> bool:
        return self.counts_copies or self.counts_losses

    @property
    def counts_losses(self) -> bool:
        return self in (Job.AUDIT, Job.LOSSES)


class DuplicateCause(StrEnum):
    """How the second copy came to be, read from both copies' producer identity."""

    OTHER_PRODUCER_ID = "other_producer_id"  # restart without a transactional id, two writers, or upstream replay
    OTHER_EPOCH = "other_epoch"  # P4: the client bumped its epoch after an error and sent again
    OTHER_TRANSACTION = "other_transaction"  # the application, in another transaction
    SENT_TWICE = "sent_twice"  # same producer session, another sequence: the application
    SAME_SEQUENCE = "same_sequence"  # P3: the leader had lost the producer's state and wrote a late retry again
    NOT_IDEMPOTENT = "not_idempotent"  # producer id −1: a retried batch, or the application


@dataclass(frozen=True, slots=True)
class StoredCopy:
    """One stored copy of a message id. Producer id, epoch and sequence are None where the batch has none (−1)."""

    partition: int
    offset: int
    producer_id: int | None
    producer_epoch: int | None
    sequence: int | None
    timestamp_ms: int


@dataclass(frozen=True, slots=True)
class DuplicateExample:
    """An id with its first and its last stored copy. `message_id` is None where only hashes are stored."""

    message_id: str | None
    first: StoredCopy
    last: StoredCopy


@dataclass(frozen=True, slots=True)
class DuplicateGroup:
    """Extra copies on one partition that share cause and the second copy's producer, over all covered ranges.

    `audited`: the offsets [first, following) that an exact audit compared, id by id.
    """

    cluster_id: str
    topic: str
    topic_id: str
    partition: int
    cause: DuplicateCause
    producer_id: int | None
    producer_epoch: int | None
    first_producer_ids: tuple[int, ...]
    extra_copies: Bounds
    sampling_rate: float
    horizon_s: float
    first_offset: int
    last_offset: int
    first_observed_at_ms: int
    last_observed_at_ms: int
    examples: tuple[DuplicateExample, ...]
    audited: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class LostId:
    """A source record the group's commit passed and the sink never showed. Offsets are the source's.

    `passed_at_ms` is None where an exact audit found it, which knows only that the commit had passed. `decided_at_ms`:
    when it was first called lost; `changed_at_ms`: when anything of it was last seen, also that it came late.
    `sampling_rate` is the share of ids that was compared when it was judged.
    """

    message_id: str | None
    offset: int
    observed_at_ms: int
    passed_at_ms: int | None
    is_late: bool
    decided_at_ms: int
    changed_at_ms: int
    sampling_rate: float = 1.0

    @property
    def known_since_ms(self) -> int:
        """When the commit passed it, else when it was stored."""
        return self.observed_at_ms if self.passed_at_ms is None else self.passed_at_ms


@dataclass(frozen=True, slots=True)
class AbortedId:
    """An id the sink shows of which the source holds aborted records only: offset and producer are the first one's.

    `found_at` is the sink record, as topic-partition:offset. The source was searched for a committed record since
    `sought_since_ms`. `sampling_rate` is the share of ids that was compared when it was judged.
    """

    message_id: str | None
    offset: int
    producer_id: int | None
    producer_epoch: int | None
    found_at: str
    sink_observed_at_ms: int
    sought_since_ms: int
    decided_at_ms: int
    sampling_rate: float = 1.0


@dataclass(frozen=True, slots=True)
class AbortedAudit:
    """A pipeline and the source partition whose aborted records its sink shows."""

    pipeline: str
    cluster_id: str
    topic: str
    topic_id: str
    partition: int
    group_id: str
    sink: str
    settle_s: float
    horizon_s: float


@dataclass(frozen=True, slots=True)
class LossEpisode:
    """Lost ids of one source partition that belong together in time (gaps below the settle delay).

    `sink_read_to` are the sink's stable offsets up to which the search went, by partition. `decided_at_ms`: when the
    newest of those still lost was called so, of none that of the late ones; `changed_at_ms`: when anything of its ids
    was last seen. `audited`: the offsets [first, following) of the source that an exact audit compared, id by id.
    """

    pipeline: str
    cluster_id: str
    topic: str
    topic_id: str
    partition: int
    group_id: str
    sink: str
    lost: tuple[LostId, ...]
    late: tuple[LostId, ...]
    total: Bounds
    sampling_rate: float
    settle_s: float
    is_one_to_one: bool
    sink_read_to: tuple[tuple[int, int], ...]
    decided_at_ms: int
    changed_at_ms: int
    audited: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class LossAudit:
    """What the episodes of one audited pipeline share. `sink_read_to` as in LossEpisode."""

    pipeline: str
    cluster_id: str
    topic: str
    topic_id: str
    group_id: str
    sink: str
    settle_s: float
    is_one_to_one: bool
    sink_read_to: tuple[tuple[int, int], ...]
