"""A finding: what happened, where, how sure, and the evidence. Facts only; promises.py judges them."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from hashlib import sha256


class Kind(StrEnum):
    """What happened, in the field's words (taxonomy id of the design pages in brackets)."""

    DUPLICATE_WRITE = "duplicate_write"  # P1-P4: one message id stored at more than one offset
    LOST_WRITE = "lost_write"  # C4: an id of the source never reached the sink
    REWIND = "rewind"  # C1, C7: a committed offset fell
    POSSIBLE_REDELIVERY = "possible_redelivery"  # C2: a member left and its partitions moved
    GROUP_STOPPED = "group_stopped"  # C5: work is left and commits ceased
    GROUP_STALLED = "group_stalled"  # C5: commits repeat without moving
    SKIPPED_FORWARD = "skipped_forward"  # C6, C7: a commit jumped past records that no member can have read
    COMMIT_EXPIRED = "commit_expired"  # C8: a commit is gone, or soon will be
    NEW_PARTITION_SKIPPED = "new_partition_skipped"  # C9: the first commit of an added partition lies above its start
    STALE_SUBSCRIPTION = "stale_subscription"  # C10: a commit of a topic that no member reads any more
    COMMIT_PENDING = "commit_pending"  # T3: a transactional commit awaits its marker for too long
    READ_PAST_STABLE_OFFSET = "read_past_stable_offset"  # T5: committed past the last stable offset
    ABORTED_AT_SINK = "aborted_at_sink"  # T5: the sink shows ids of records that were aborted
    OUT_OF_ORDER = "out_of_order"  # ORD: a record stored behind one of its key that should follow it
    FALLING_BEHIND = "falling_behind"  # C5: commits move and lag only grows
    EXPIRED_UNREAD = "expired_unread"  # L1: retention overtook a commit
    LOG_TRUNCATED = "log_truncated"  # L3: the end of the log fell, or of an old epoch
    CONFLICTING_OFFSET = "conflicting_offset"  # L3: two contents of one offset, on two replicas or over time
    TAIL_TRUNCATED = "tail_truncated"  # L5: what only the old leader had is gone
    UNCLEAN_ELECTION = "unclean_election"  # L3, L7: who leads was not in sync
    COMMIT_IN_TRUNCATED_LOG = "commit_in_truncated_log"  # L3: a commit beyond the end of the epoch it names
    WRONG_COMMIT_EPOCH = "wrong_commit_epoch"  # L3, not a loss: commits name an epoch that was over before
    COMMITTED_AHEAD = "committed_ahead"  # L8, L3, X2: a commit beyond the end of the log
    BELOW_MIN_ISR = "below_min_isr"  # L6
    AT_MIN_ISR = "at_min_isr"  # L6: one replica less and writes are refused, or a single copy is acknowledged
    MIN_ISR_ABOVE_REPLICAS = "min_isr_above_replicas"  # L6: a note on the configuration
    TOPIC_RECREATED = "topic_recreated"  # L8
    COMMIT_OF_OLD_TOPIC = "commit_of_old_topic"  # L8: a commit survived the topic it was made on
    PARTITIONS_ADDED = "partitions_added"  # L9
    STABLE_OFFSET_FROZEN = "stable_offset_frozen"  # T1, T2: an open transaction holds the last stable offset
    RESENT_BATCH = "resent_batch"  # P1, P3, P4: a whole batch, or its sequences, stored twice
    MISSING_SEQUENCES = "missing_sequences"  # P5a: a new producer's first stored batch is not its first batch
    SEQUENCE_GAP = "sequence_gap"  # P5b: an unexplained gap between stored sequences, which is no loss
    PRODUCER_RECOVERED = "producer_recovered"  # P5c: a client met an error it could not retry
    ODD_TIMESTAMPS = "odd_timestamps"  # L10: stamped in the future, or near 1970
    PRODUCER_FENCED = "producer_fenced"  # T4: a transaction was ended from outside, under a raised epoch
    UNFENCED_RESTART = "unfenced_restart"  # T4: another transactional id a start, so that nobody is fenced
    TRANSACTION_TIMED_OUT = "transaction_timed_out"  # T6: the coordinator gave a transaction up
    TORN_TRANSACTION = "torn_transaction"  # T7: committed here and aborted there, or written to after its end


class Grade(StrEnum):
    """How sure a statement is, the surest first."""

    PROVEN = "PROVEN"  # follows from protocol facts alone
    PROBABLE = "PROBABLE"  # needs an assumption, which the statement names
    POSSIBLE = "POSSIBLE"  # an upper bound only
    NOT_OBSERVABLE = "NOT-OBSERVABLE"  # cannot be known from outside


class FindingState(StrEnum):
    OPEN = "open"
    CLOSED = "closed"


class Unit(StrEnum):
    """What a finding counts. Offsets are not records: markers and aborted data use offsets."""

    RECORDS = "records"
    OFFSETS = "offsets"
    SECONDS = "seconds"
    MESSAGE_IDS = "message ids"


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence that is true to its grade."""

    grade: Grade
    text: str
    assumption: str | None = None

    def __post_init__(self) -> None:
        if (self.grade is Grade.PROBABLE) != (self.assumption is not None):
            raise ValueError("a PROBABLE statement names its assumption, and no other has one")


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much: the best estimate with the interval it is known to lie in, and what is counted."""

    lower: int
    estimate: int | None
    upper: int | None
    unit: Unit

    def __post_init__(self) -> None:
        known = [value for value in (self.lower, self.estimate, self.upper) if value is not None]
        if known != sorted(known) or self.lower < 0:
            raise ValueError(f"bounds out of order: {self}")


@dataclass(frozen=True, slots=True)
class Place:
    """Where: parts that do not apply are None. `topic_id` is Kafka's UUID as text."""

    cluster_id: str
    topic: str | None = None
    topic_id: str | None = None
    partition: int | None = None
    group_id: str | None = None


# What proves it: offsets, ids, epochs, times (ms since 1970, UTC). Values are JSON-like and shown in full.
Evidence = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Finding:
    """The state of one finding as its evidence stands now.

    `anchor` comes from the evidence (a rewind's old commit, a transaction's producer id, epoch and first offset), never
    from a sample's time: evaluating the same evidence again gives the same identity.
    `severity`: 4 data lost or wrong, 3 duplicates or disorder, 2 a promise at risk now, 1 information.
    `happened_at_ms`: when the observed fact is first known to have held; `last_seen_at_ms`: the newest evidence for it.
    `closed_reason` is None while it lasts.
    """

    kind: Kind
    place: Place
    anchor: str
    severity: int
    title: str
    statements: tuple[Statement, ...]
    bounds: Bounds | None
    evidence: Evidence
    happened_at_ms: int
    last_seen_at_ms: int
    pipeline: str | None = None
    closed_reason: str | None = None

    @property
    def finding_id(self) -> str:
        """Stable over restarts and re-evaluation: (kind, cluster, topic id, partition, group, anchor)."""
        place = self.place
        return _identity(self.kind, place.cluster_id, place.topic_id, place.partition, place.group_id, self.anchor)

    @property
    def state(self) -> FindingState:
        return FindingState.OPEN if self.closed_reason is None else FindingState.CLOSED

    @property
    def grade(self) -> Grade:
        """That of the first statement, which is the headline."""
        return self.statements[0].grade


@lru_cache(maxsize=10_000)  # a page asks thousands of findings for it at every refresh
def _identity(*parts: object) -> str:
    return sha256("\x1f".join("" if part is None else str(part) for part in parts).encode()).hexdigest()[:16]
