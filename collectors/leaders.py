"""Ask the leader of each partition; where there is none, the answer is Unknown and says so."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.connection import Connections
from kafka_reader.list_offsets import fetch_offsets
from kafka_reader.listed_offsets import ListedOffsets, joined, without_answer
from kafka_reader.metadata import Topology
from kafka_reader.undecoded import Prepared


@dataclass(frozen=True, slots=True, eq=False)
class Led:
    """The partitions each leader is asked for, and those without a leader with the reason."""

    by_leader: Mapping[int, Sequence[TopicPartition]]
    without: Mapping[TopicPartition, Unknown]


def by_leader(
    topology: Topology, partitions: Iterable[TopicPartition]
) -> tuple[dict[int, list[TopicPartition]], dict[TopicPartition, Unknown]]:
    """The partitions each leader is asked for, and those without a leader with the reason."""
    led: dict[int, list[TopicPartition]] = {}
    without: dict[TopicPartition, Unknown] = {}
    for partition in partitions:
        leader = topology.leader(partition)
        if isinstance(leader, Unknown):
            without[partition] = leader
        else:
            led.setdefault(leader, []).append(partition)
    return led, without


def led_partitions(topology: Topology, partitions: Iterable[TopicPartition]) -> Led:
    return Led(*by_leader(topology, partitions))


def offsets_of_leaders(
    connections: Connections, led: Led, led_at_ms: int, build: Callable[[Iterable[TopicPartition]], Prepared]
) -> ListedOffsets:
    """One row per partition. `led_at_ms` is when metadata said who leads."""
    requests = {leader: connections.prepared.get(build, leader, its) for leader, its in led.by_leader.items()}
    answers = fetch_offsets(connections, requests)
    return joined([without_answer(led.without, led_at_ms), *answers.values()])
