"""What earlier rounds left for the rules: the newest trustworthy answers, and since when facts have lasted."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from guarantees.findings import Finding
from guarantees.observations import CommittedOffset, GroupState, PartitionOffsets, PartitionState, ReplicaOffset
from guarantees.places import GroupPartition, TopicPartition
from guarantees.rebalances import Rebalance


@dataclass(frozen=True, slots=True)
class GroupSight:
    """A group as last seen: its newest answer, its newest settled answer and its newest rebalance.

    `empty_since_ms`: the first sample of the unbroken run without members and without a moving commit, None outside.
    """

    state: GroupState
    settled: GroupState | None
    rebalance: Rebalance | None
    empty_since_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Silence:
    """A commit that stands while readable work is left.

    `since_ms` and `last_ms` are the first and the newest sample of it; `observed_ms` is the part of that time without
    gaps; `high_watermark` is the one of the first sample.
    """

    topic_id: str | None
    committed_offset: int
    since_ms: int
    last_ms: int
    observed_ms: int
    high_watermark: int


@dataclass(frozen=True, slots=True)
class Hold:
    """A last stable offset below the high watermark that stands, and the producer known to hold it, if any is.

    The stable offset never falls, so the same offset at two samples stood all the time between them, gap or not.
    """

    topic_id: str | None
    start_offset: int
    producer_id: int | None
    producer_epoch: int | None
    since_ms: int
    last_ms: int
    rounds: int


@dataclass(frozen=True, slots=True)
class BelowMinIsr:
    """A partition that refuses acks=all writes. `after_ms` is the last sample before, None where there was none."""

    topic_id: str
    leader_epoch: int
    after_ms: int | None
    since_ms: int
    last_ms: int
    observed_ms: int
    rounds: int


@dataclass(frozen=True, slots=True)
class PendingCommit:
    """A transactional commit that awaits its marker: the first and the newest sample of the unbroken run."""

    topic_id: str | None
    since_ms: int
    last_ms: int


@dataclass(frozen=True, slots=True)
class Memory:
    """A plain value: `observe` takes one and gives the next. Mappings are never changed in place.

    `former_states` are the last states before the newest change of leader epoch, where one was seen; `customs` the
    lengths (ms) of the last two silences that a commit ended: how slowly a group is wont to commit; `added` the topic
    ids of partitions that a watched topic grew by; `discovered` the high watermark of such a partition as last read
    before a group was first seen to own it.
    """

    commits: Mapping[GroupPartition, CommittedOffset] = field(default_factory=dict)
    offsets: Mapping[TopicPartition, PartitionOffsets] = field(default_factory=dict)
    states: Mapping[TopicPartition, PartitionState] = field(default_factory=dict)
    former_states: Mapping[TopicPartition, PartitionState] = field(default_factory=dict)
    replicas: Mapping[TopicPartition, tuple[ReplicaOffset, ...]] = field(default_factory=dict)
    groups: Mapping[str, GroupSight] = field(default_factory=dict)
    silences: Mapping[GroupPartition, Silence] = field(default_factory=dict)
    customs: Mapping[GroupPartition, tuple[int, ...]] = field(default_factory=dict)
    holds: Mapping[TopicPartition, Hold] = field(default_factory=dict)
    below_min_isr: Mapping[TopicPartition, BelowMinIsr] = field(default_factory=dict)
    ahead: Mapping[GroupPartition, CommittedOffset] = field(default_factory=dict)
    pending: Mapping[GroupPartition, PendingCommit] = field(default_factory=dict)
    added: Mapping[TopicPartition, str] = field(default_factory=dict)
    discovered: Mapping[GroupPartition, int] = field(default_factory=dict)
    open: Mapping[str, Finding] = field(default_factory=dict)

    @staticmethod
    def empty() -> "Memory":
        """Before the first round."""
        return Memory()
