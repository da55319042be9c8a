"""Which groups there are and who coordinates them; groups of a coordinator that does not answer are remembered."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.connection import Connections
from kafka_reader.groups import ListedGroup, fetch_groups
from kafka_reader.metadata import Topology

OFFSETS_TOPIC = "__consumer_offsets"

Answers = Mapping[int, list[ListedGroup] | Unknown]


@dataclass(frozen=True, slots=True)
class GroupList:
    """Groups a coordinator vouches for, and remembered ones whose coordinator is out of reach."""

    listed: Mapping[str, ListedGroup]
    remembered: Mapping[str, ListedGroup]
    unavailable: Mapping[str, Unknown]

    @property
    def known(self) -> dict[str, ListedGroup]:
        """What the next round remembers."""
        return {**self.remembered, **self.listed}


def collect(connections: Connections, brokers: Iterable[int]) -> Answers:
    return fetch_groups(connections, brokers)


def group_list(answers: Answers, known: Mapping[str, ListedGroup], topology: Topology) -> GroupList:
    """A group that is no longer listed is gone only if its coordinator answered without it."""
    listed = {
        group.group_id: group for groups in answers.values() if not isinstance(groups, Unknown) for group in groups
    }
    unavailable = {
        group_id: reason
        for group_id, group in known.items()
        if group_id not in listed and (reason := why_unavailable(group, answers, topology)) is not None
    }
    return GroupList(listed, {group_id: known[group_id] for group_id in unavailable}, unavailable)


def of_interest(groups: GroupList, is_watched: Callable[[str], bool]) -> GroupList:
    """The groups the settings name."""
    return GroupList(
        listed={group_id: group for group_id, group in groups.listed.items() if is_watched(group_id)},
        remembered={group_id: group for group_id, group in groups.remembered.items() if is_watched(group_id)},
        unavailable={group_id: reason for group_id, reason in groups.unavailable.items() if is_watched(group_id)},
    )


def why_unavailable(group: ListedGroup, answers: Answers, topology: Topology) -> Unknown | None:
    """Why nobody speaks for the group; None where its coordinator answered and does not know it.

    The coordinator leads the group's partition of __consumer_offsets. Where that topic may not be described, it is
    taken to be the broker that answered last.
    """
    partition = coordinator_partition(group.group_id, topology)
    coordinator = group.coordinator if partition is None else topology.states[partition].leader
    if coordinator is None:
        return Unknown(
            f"coordinator unavailable: {OFFSETS_TOPIC}-{partition.partition if partition else ''} has no leader"
        )
    answer = answers.get(coordinator, Unknown(f"broker {coordinator} is not in the cluster"))
    return Unknown(f"coordinator unavailable: {answer.reason}") if isinstance(answer, Unknown) else None


def coordinator_partition(group_id: str, topology: Topology) -> TopicPartition | None:
    """Where the group's commits lie: abs(hash of the id) modulo partitions (GroupCoordinatorService.partitionFor)."""
    count = sum(partition.topic == OFFSETS_TOPIC for partition in topology.states)
    return TopicPartition(OFFSETS_TOPIC, (java_hash(group_id) & 0x7FFFFFFF) % count) if count else None


def java_hash(text: str) -> int:
    """Java's String.hashCode as an unsigned 32-bit number, over UTF-16 code units."""
    encoded = text.encode("utf-16-be", "surrogatepass")
    value = 0
    for position in range(0, len(encoded), 2):
        value = (31 * value + int.from_bytes(encoded[position : position + 2], "big")) & 0xFFFFFFFF
    return value
