"""What earlier rounds left for the rules: the newest trustworthy answers, and since when facts have lasted."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from guarantees.findings import Finding
from guarantees.observations import (
    CommittedOffset,
    EpochEnd,
    GroupState,
    PartitionOffsets,
    PartitionState,
    ReplicaOffset,
)
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


class Growth(NamedTuple):
    """Lag that has not fallen from commit to commit: which commit it began with, and how high it was then and now.

    `commits` are those that left more than any before them. A tuple, since a round may make a hundred thousand.
    """

    topic_id: str | None
    committed_offset: int
    since_ms: int
    first_lag: int
    lag: int
    commits: int


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
class LowIsr:
    """A partition with too few in-sync replicas. `after_ms` is the last sample before, None where there was none."""

    topic_id: str
    leader_epoch: int
    after_ms: int | None
    since_ms: int
    last_ms: int
    observed_ms: int
    rounds: int


@dataclass(frozen=True, slots=True)
class EpochSight:
    """A former leader epoch as it was seen: high watermarks of its first and last sample, the leader's last log end.

    A leader names its high watermark only once it has reached the start of its epoch (ListOffsets v5+ answers
    OFFSET_NOT_AVAILABLE before), so what was written between the first sample and the last is of this epoch.
    """

    topic_id: str | None
    leader_epoch: int
    leader: int | None
    first_high_watermark: int
    last_high_watermark: int
    log_end_offset: int | None
    last_observed_at_ms: int


@dataclass(frozen=True, slots=True)
class Epochs:
    """Leader epochs as they were seen, by partition.

    `begun` are the first offsets seen in each current epoch, `former` the epochs before it, the oldest first; `ends`
    the last two answers about the end of each epoch asked for.
    """

    begun: Mapping[TopicPartition, PartitionOffsets] = field(default_factory=dict)
    former: Mapping[TopicPartition, tuple[EpochSight, ...]] = field(default_factory=dict)
    ends: Mapping[TopicPartition, Mapping[int, tuple[EpochEnd, ...]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Recreation:
    """A topic seen under another id, until a second round confirms it; `carried` are commits that did not change."""

    old_topic_id: str
    new_topic_id: str
    last_seen_old_at_ms: int
    first_seen_new_at_ms: int
    carried: Mapping[GroupPartition, int]


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
    lengths (ms) of the last two silences that a commit ended: how slowly a group is wont to commit; `past_epoch_ends`
    commits seen to move on past the end of the epoch they name; `recreated` topics whose new id was seen once; `added`
    the topic ids of partitions that a watched topic grew by; `discovered` the high watermark of such a partition as
    last read before a group was first seen to own it; `missing_groups` were seen and are not
    listed, `gone_groups` not for two rounds.
    """

    commits: Mapping[GroupPartition, CommittedOffset] = field(default_factory=dict)
    offsets: Mapping[TopicPartition, PartitionOffsets] = field(default_factory=dict)
    states: Mapping[TopicPartition, PartitionState] = field(default_factory=dict)
    former_states: Mapping[TopicPartition, PartitionState] = field(default_factory=dict)
    replicas: Mapping[TopicPartition, tuple[ReplicaOffset, ...]] = field(default_factory=dict)
    groups: Mapping[str, GroupSight] = field(default_factory=dict)
    silences: Mapping[GroupPartition, Silence] = field(default_factory=dict)
    customs: Mapping[GroupPartition, tuple[int, ...]] = field(default_factory=dict)
    growths: Mapping[GroupPartition, Growth] = field(default_factory=dict)
    holds: Mapping[TopicPartition, Hold] = field(default_factory=dict)
    below_min_isr: Mapping[TopicPartition, LowIsr] = field(default_factory=dict)
    at_min_isr: Mapping[TopicPartition, LowIsr] = field(default_factory=dict)
    ahead: Mapping[GroupPartition, CommittedOffset] = field(default_factory=dict)
    epochs: Epochs = field(default_factory=Epochs)
    past_epoch_ends: Mapping[GroupPartition, EpochEnd] = field(default_factory=dict)
    recreated: Mapping[str, Recreation] = field(default_factory=dict)
    pending: Mapping[GroupPartition, PendingCommit] = field(default_factory=dict)
    added: Mapping[TopicPartition, str] = field(default_factory=dict)
    discovered: Mapping[GroupPartition, int] = field(default_factory=dict)
    missing_groups: frozenset[str] = frozenset()
    gone_groups: frozenset[str] = frozenset()
    open: Mapping[str, Finding] = field(default_factory=dict)

    @staticmethod
    def empty() -> "Memory":
        """Before the first round."""
        return Memory()
