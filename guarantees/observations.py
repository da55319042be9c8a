"""What one sampling round of one cluster saw. Missing keys were not asked; an asked value that failed is Unknown."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from guarantees.places import GroupPartition, TopicPartition
from guarantees.topic_settings import TopicSettings
from guarantees.unknown import Unknown


@dataclass(frozen=True, slots=True)
class PartitionOffsets:
    """Offsets of one partition as its leader answered, with the time of each answer (ms since 1970, UTC).

    The log start is read first in a round, then the commits, then last stable offset and high watermark: only in that
    order do the differences prove anything (a commit read before the high watermark can never exceed it in a healthy
    cluster). `leader_epoch` is the answering replica's epoch that came with the high watermark.
    """

    topic_id: str | None
    log_start_offset: int | Unknown
    last_stable_offset: int | Unknown
    high_watermark: int | Unknown
    leader_epoch: int | Unknown
    broker: int | None
    log_start_observed_at_ms: int
    observed_at_ms: int


@dataclass(frozen=True, slots=True)
class ReplicaOffset:
    """Log end offset of one replica (ListOffsets with replica id −2, the debugging replica, sent to that replica)."""

    topic_id: str | None
    broker: int
    log_end_offset: int | Unknown
    leader_epoch: int | Unknown
    observed_at_ms: int


@dataclass(frozen=True, slots=True)
class EpochEnd:
    """Where a leader epoch ends in the log of the leader of `current_leader_epoch` (OffsetForLeaderEpoch).

    `answered_epoch` is the largest epoch of that log not above the asked one: a lower one says that the asked epoch has
    no record there. Both are Unknown where the log knows no such epoch. An epoch that has aged out ends at the log
    start.
    """

    topic_id: str | None
    asked_epoch: int
    answered_epoch: int | Unknown
    end_offset: int | Unknown
    current_leader_epoch: int
    broker: int | None
    observed_at_ms: int


@dataclass(frozen=True, slots=True)
class CommittedOffset:
    """A group's commit. `committed_offset` is None where the coordinator says there is none, Unknown where it failed.

    `is_pending` marks error 88 (a transactional commit awaits its marker), which is neither an absence nor a failure.
    """

    topic_id: str | None
    committed_offset: int | Unknown | None
    committed_leader_epoch: int | None
    is_pending: bool
    observed_at_ms: int


@dataclass(frozen=True, slots=True)
class PartitionState:
    """Leadership and replication. `leader` None: offline; `eligible_leader_replicas` None: feature off or not asked."""

    topic_id: str
    leader: int | None
    leader_epoch: int
    replicas: tuple[int, ...]
    in_sync_replicas: tuple[int, ...]
    eligible_leader_replicas: tuple[int, ...] | None
    last_known_eligible_leader_replicas: tuple[int, ...] | None
    offline_replicas: tuple[int, ...]
    observed_at_ms: int


@dataclass(frozen=True, slots=True, order=True)
class Task:
    """A piece of a Kafka Streams topology: a subtopology's work on one partition of what it reads."""

    subtopology_id: str
    partition: int


@dataclass(frozen=True, slots=True)
class Tasks:
    """What a Streams member does (KIP-1071): active tasks process; standby and warm-up ones keep copies of state."""

    active: frozenset[Task]
    standby: frozenset[Task]
    warm_up: frozenset[Task]


@dataclass(frozen=True, slots=True)
class Member:
    """One consumer instance. Classic groups have no epochs and no target; share groups (KIP-932) no target either.

    In a share group several members may hold the same partition. `process_id`, `topology_epoch` and tasks exist in
    Streams groups (KIP-1071) only, where `assignment` is what the active tasks read.
    """

    member_id: str
    group_instance_id: str | None
    client_id: str
    host: str
    assignment: frozenset[TopicPartition]
    member_epoch: int | None = None
    target_assignment: frozenset[TopicPartition] | None = None
    rack: str | None = None
    process_id: str | None = None
    topology_epoch: int | None = None
    tasks: Tasks | None = None
    target_tasks: Tasks | None = None


# Kafka's name of the groups whose members share partitions (KIP-932): they commit nothing, and nobody owns a partition.
SHARE = "share"


@dataclass(frozen=True, slots=True)
class GroupState:
    """A group in Kafka's own words. Generations are not in any answer; classic groups have no epochs.

    `unchanged_since_ms`: the first sample from which on state, coordinator, number of members and epochs were seen as
    they are; None where nobody remembers. `topology_epoch`: of a Streams group whose topology the broker knows.
    """

    group_type: str
    state: str
    coordinator: int
    members: tuple[Member, ...]
    group_epoch: int | None
    assignment_epoch: int | None
    observed_at_ms: int
    unchanged_since_ms: int | None = None
    topology_epoch: int | None = None


@dataclass(frozen=True, slots=True)
class Transaction:
    """A transaction as its coordinator describes it (DescribeTransactions, KIP-664)."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    state: str
    timeout_ms: int
    started_at_ms: int | None
    partitions: frozenset[TopicPartition]
    coordinator: int
    observed_at_ms: int


@dataclass(frozen=True, slots=True)
class OpenProducer:
    """A producer with an open transaction on a partition (DescribeProducers, KIP-664).

    The one whose `current_transaction_start_offset` equals the last stable offset holds it.
    `last_timestamp_ms` is the producer's own clock unless the topic stamps at append.
    """

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_timestamp_ms: int
    coordinator_epoch: int
    current_transaction_start_offset: int
    observed_at_ms: int


class Signal(StrEnum):
    """What a round asks for, in the order of its steps. Rules look up coverage by these names."""

    LOG_START = "log_start"
    COMMITTED_OFFSETS = "committed_offsets"
    END_OFFSETS = "end_offsets"
    PARTITION_STATES = "partition_states"
    REPLICA_OFFSETS = "replica_offsets"
    EPOCH_ENDS = "epoch_ends"
    GROUPS = "groups"
    TRANSACTIONS = "transactions"
    PRODUCERS = "producers"
    CONFIGS = "configs"
    SHARE_OFFSETS = "share_offsets"
    LOG_DIRS = "log_dirs"
    QUORUM = "quorum"
    FEATURES = "features"
    RIGHTS = "rights"
    GROUP_LOG = "group_log"
    TRANSACTION_LOG = "transaction_log"


@dataclass(frozen=True, slots=True)
class Coverage:
    """How complete one signal of a round is: what was asked, and what became of it. `signal` is one of Signal."""

    signal: str
    asked: int
    answered: int
    refused: int
    failed: int
    error: str | None
    started_at_ms: int
    ended_at_ms: int

    @property
    def is_complete(self) -> bool:
        return self.answered == self.asked and self.error is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """Everything one tick of one cluster saw."""

    cluster_id: str
    tick: int
    started_at_ms: int
    ended_at_ms: int
    partitions: Mapping[TopicPartition, PartitionOffsets] = field(default_factory=dict)
    replicas: Mapping[TopicPartition, tuple[ReplicaOffset, ...]] = field(default_factory=dict)
    commits: Mapping[GroupPartition, CommittedOffset] = field(default_factory=dict)
    states: Mapping[TopicPartition, PartitionState] = field(default_factory=dict)
    groups: Mapping[str, GroupState | Unknown] = field(default_factory=dict)
    transactions: tuple[Transaction, ...] = ()
    producers: Mapping[TopicPartition, tuple[OpenProducer, ...] | Unknown] = field(default_factory=dict)
    epoch_ends: Mapping[TopicPartition, tuple[EpochEnd, ...]] = field(default_factory=dict)
    topic_settings: Mapping[str, TopicSettings] = field(default_factory=dict)
    coverage: tuple[Coverage, ...] = ()
