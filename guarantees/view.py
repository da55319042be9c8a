"""What a rule looks at: the round, what earlier rounds left, and the few places where the two differ."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, TypeVar

from guarantees.beyond_end import Readers
from guarantees.elections import Election
from guarantees.epochs import EpochCheck
from guarantees.findings import Evidence, Finding, Kind, Place
from guarantees.memory import GroupSight, Memory
from guarantees.observations import Coverage, PartitionOffsets, Round, Signal
from guarantees.places import GroupPartition, TopicPartition
from guarantees.rebalances import Rebalance
from guarantees.thresholds import Thresholds
from guarantees.triage import Reading, Triage, known_reading
from guarantees.unknown import Unknown

AnyValue = TypeVar("AnyValue")


@dataclass(frozen=True, slots=True)
class View:
    """`before` is the memory as the round found it, `now` as it leaves it; `offsets` are the round's trusted answers.

    `rebalances` are those this round revealed; `distrusted` the groups whose commits cannot be compared in this round;
    `open_places` the places with an open finding, by kind; `open_cuts` the open findings of truncated logs; `waiting`
    who has committed on partitions whose stable offset stands; `elections` the partitions with a new leader;
    `epoch_checks` what second answers say of old epochs.
    """

    before: Memory
    now: Memory
    round: Round
    thresholds: Thresholds
    offsets: Mapping[TopicPartition, PartitionOffsets]
    triage: Triage
    rebalances: Mapping[str, Rebalance]
    distrusted: Set[str]
    open_places: Set[tuple[Kind, Place]]
    open_cuts: Mapping[TopicPartition, Sequence[Finding]]
    waiting: Mapping[TopicPartition, Sequence[Reading]]
    elections: Mapping[TopicPartition, Election]
    epoch_checks: Mapping[TopicPartition, EpochCheck]

    @property
    def cluster_id(self) -> str:
        return self.round.cluster_id

    def reading(self, place: Place) -> Reading | None:
        """The commit of a finding's place in this round, if it is known, trusted and of the same topic."""
        key = group_partition(place)
        found = None if key is None or key.group_id in self.distrusted else known_reading(key, self.round, self.offsets)
        return found if found is not None and found.commit.topic_id == place.topic_id else None

    def offsets_of(self, place: Place) -> PartitionOffsets | None:
        """Trusted offsets of a finding's partition in this round, if they are of the same topic."""
        partition = topic_partition(place)
        found = None if partition is None else self.offsets.get(partition)
        return found if found is not None and found.topic_id == place.topic_id else None

    def members(self, group_id: str) -> int | None:
        """How many members the group has; None where nobody can say."""
        return member_count(self.now.groups.get(group_id))

    def coverage(self, signal: Signal) -> Coverage | None:
        return next((coverage for coverage in self.round.coverage if coverage.signal == signal), None)

    def readers(self, partitions: Set[TopicPartition]) -> dict[TopicPartition, Readers]:
        """Who has committed on a few partitions, and of whom that is not known, by group."""
        known, unknown = readers(self.round, self.offsets, partitions), unknown_readers(self.round, partitions)
        return {partition: Readers(known[partition], unknown[partition]) for partition in partitions}


def readers(
    observed: Round, offsets: Mapping[TopicPartition, PartitionOffsets], partitions: Set[TopicPartition]
) -> dict[TopicPartition, list[Reading]]:
    """Known commits on a few partitions, in one pass over all and ordered by group."""
    found: dict[TopicPartition, list[Reading]] = {partition: [] for partition in partitions}
    topics = {partition.topic for partition in partitions}
    for key in observed.commits if partitions else ():
        if key.topic in topics and key.topic_partition in partitions:
            known_commit = known_reading(key, observed, offsets)
            if known_commit is not None:
                found[key.topic_partition].append(known_commit)
    return {partition: sorted(readings, key=lambda r: r.key) for partition, readings in found.items()}


def unknown_readers(observed: Round, partitions: Set[TopicPartition]) -> dict[TopicPartition, list[str]]:
    """Groups whose commit on a few partitions is not known: not answered, or awaiting a transaction's marker."""
    found: dict[TopicPartition, list[str]] = {partition: [] for partition in partitions}
    topics = {partition.topic for partition in partitions}
    for key, commit in observed.commits.items() if partitions else ():
        if key.topic not in topics or key.topic_partition not in partitions:
            continue
        if commit.is_pending or not isinstance(commit.committed_offset, int | None):
            found[key.topic_partition].append(key.group_id)
    return {partition: sorted(groups) for partition, groups in found.items()}


def open_cuts(memory: Memory) -> dict[TopicPartition, list[Finding]]:
    """Looked up once for a round: rules ask it of every commit that moved, beside thousands of open findings."""
    found: dict[TopicPartition, list[Finding]] = {}
    for finding in memory.open.values():
        if finding.kind is Kind.LOG_TRUNCATED:
            found.setdefault(present(topic_partition(finding.place)), []).append(finding)
    return found


def group_partition(place: Place) -> GroupPartition | None:
    if place.group_id is None or place.topic is None or place.partition is None:
        return None
    return GroupPartition(place.group_id, place.topic, place.partition)


def topic_partition(place: Place) -> TopicPartition | None:
    return None if place.topic is None or place.partition is None else TopicPartition(place.topic, place.partition)


def group_place(cluster_id: str, key: GroupPartition, topic_id: str | None) -> Place:
    return Place(cluster_id, key.topic, topic_id, key.partition, key.group_id)


def partition_place(cluster_id: str, partition: TopicPartition, topic_id: str | None) -> Place:
    return Place(cluster_id, partition.topic, topic_id, partition.partition)


def number(evidence: Evidence, name: str) -> int:
    """A whole number of a finding's evidence; the rule that wrote it put it there, so its absence is a bug."""
    value = evidence[name]
    if not isinstance(value, int):
        raise TypeError(f"evidence {name} is {value!r}, not a whole number")
    return value


def listed(evidence: Evidence, name: str) -> list[Any]:
    """A list of a finding's evidence; the rule that wrote it put it there, so its absence is a bug."""
    value = evidence[name]
    if not isinstance(value, list):
        raise TypeError(f"evidence {name} is {value!r}, not a list")
    return value


def numbers(evidence: Evidence, name: str) -> dict[str, int]:
    """Whole numbers by name of a finding's evidence; the rule that wrote it put them there."""
    value = evidence[name]
    if not isinstance(value, dict):
        raise TypeError(f"evidence {name} is {value!r}, not numbers by name")
    return {key: number(value, key) for key in value}


def known(value: int | Unknown | None) -> int:
    """A value that the trust in its answer has already established."""
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is not known")
    return value


def present(value: AnyValue | None) -> AnyValue:
    """What the triage, or the rule that placed a finding, has already made sure of; its absence is a bug."""
    if value is None:
        raise TypeError("what was made sure of is missing")
    return value


def member_count(sight: GroupSight | None) -> int | None:
    """A group that looks dead may have been asked in another protocol's words: nobody knows its members."""
    if sight is None or sight.state.state in ("Dead", "Unknown"):
        return None
    return len(sight.state.members)
