"""What Kafka writes about groups and transactions into its own topics, record by record.

Source: the schemas of the group coordinator and the transaction coordinator of Apache Kafka 4.2. None in place of a
record's content says that it was deleted.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from guarantees.places import GroupPartition, TopicPartition

# Kafka's own topics, as a source beside what samples show.
CONSUMER_OFFSETS = "__consumer_offsets"
TRANSACTION_STATE = "__transaction_state"
SAMPLES = "samples"


@dataclass(frozen=True, slots=True)
class Committed:
    """`committed_at_ms` is the coordinator's clock; `topic_id` None where the client committed by name."""

    offset: int
    leader_epoch: int | None
    metadata: str
    committed_at_ms: int
    topic_id: str | None = None


@dataclass(frozen=True, slots=True)
class OffsetCommit:
    """A group's commit on a partition (keys 0 and 1); deleted: it expired or was removed."""

    place: GroupPartition
    committed: Committed | None


@dataclass(frozen=True, slots=True)
class LoggedMember:
    """A member as a group's records name it. `subscription` None: the group's members do not consume topics."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    host: str
    subscription: frozenset[str] | None
    assignment: frozenset[TopicPartition] = frozenset()


@dataclass(frozen=True, slots=True)
class ClassicGroup:
    """A generation of a classic group that is complete. `state_at_ms` None: the record says no time."""

    generation: int
    protocol_type: str
    protocol: str | None
    leader: str | None
    state_at_ms: int | None
    members: tuple[LoggedMember, ...]


@dataclass(frozen=True, slots=True)
class ClassicGroupRecord:
    """Key 2."""

    group_id: str
    group: ClassicGroup | None


@dataclass(frozen=True, slots=True)
class GroupEpoch:
    """Key 3: the consumer protocol's group epoch, KIP-848."""

    group_id: str
    epoch: int | None


@dataclass(frozen=True, slots=True)
class MemberMetadata:
    """Key 5: who a member of the consumer protocol is, without what it owns."""

    group_id: str
    member_id: str
    member: LoggedMember | None


@dataclass(frozen=True, slots=True)
class TargetEpoch:
    """Key 6: the epoch of the target assignment."""

    group_id: str
    epoch: int | None


@dataclass(frozen=True, slots=True)
class TargetAssignment:
    """Key 7: what a member is to own, by topic id and partition."""

    group_id: str
    member_id: str
    partitions: frozenset[TopicPartition] | None


class MemberState(StrEnum):
    """Where a member of the consumer protocol is on its way to its target."""

    STABLE = "stable"
    UNREVOKED_PARTITIONS = "unrevoked_partitions"
    UNRELEASED_PARTITIONS = "unreleased_partitions"


@dataclass(frozen=True, slots=True)
class Owned:
    """What a member owns at a member epoch, by topic id and partition; `pending_revocation` it has to give up."""

    member_epoch: int
    previous_member_epoch: int
    state: MemberState
    assigned: frozenset[TopicPartition]
    pending_revocation: frozenset[TopicPartition]


@dataclass(frozen=True, slots=True)
class CurrentAssignment:
    """Key 8."""

    group_id: str
    member_id: str
    owned: Owned | None


class TransactionState(StrEnum):
    """Kafka's words."""

    EMPTY = "Empty"
    ONGOING = "Ongoing"
    PREPARE_COMMIT = "PrepareCommit"
    PREPARE_ABORT = "PrepareAbort"
    COMPLETE_COMMIT = "CompleteCommit"
    COMPLETE_ABORT = "CompleteAbort"
    DEAD = "Dead"
    PREPARE_EPOCH_FENCE = "PrepareEpochFence"


@dataclass(frozen=True, slots=True)
class LoggedTransaction:
    """A transactional id's entry. `started_at_ms` None: no transaction; `client_version`: means nothing when Empty."""

    producer_id: int
    producer_epoch: int
    timeout_ms: int
    state: TransactionState
    partitions: frozenset[TopicPartition]
    updated_at_ms: int
    started_at_ms: int | None
    client_version: int


@dataclass(frozen=True, slots=True)
class TransactionRecord:
    """Key 0 of the transaction coordinator; deleted: the id expired."""

    transactional_id: str
    transaction: LoggedTransaction | None


@dataclass(frozen=True, slots=True)
class Undecoded:
    """A record that is not read: of another kind, a newer version, or damaged. `name` is its kind, as far as known."""

    name: str
    reason: str


Content = (
    OffsetCommit
    | ClassicGroupRecord
    | GroupEpoch
    | MemberMetadata
    | TargetEpoch
    | TargetAssignment
    | CurrentAssignment
    | TransactionRecord
    | Undecoded
)


@dataclass(frozen=True, slots=True)
class Logged:
    """A record in its place of the log, in time (the coordinator's clock) and, where it has one, transaction."""

    partition: int
    offset: int
    at_ms: int
    producer_id: int | None
    content: Content


# Records that are named and counted, and not read.
UNREAD_KINDS: Mapping[int, str] = {
    4: "consumer group partition metadata (before Kafka 4.1)",
    10: "share group member",
    11: "share group",
    12: "share group target epoch",
    13: "share group target assignment",
    14: "share group current assignment",
    15: "share group state of partitions",
    16: "regular expression of a consumer group",
    17: "streams group",
    19: "streams group member",
    20: "streams group target epoch",
    21: "streams group target assignment",
    22: "streams group current assignment",
    23: "streams group topology",
}
