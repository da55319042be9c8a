"""Ask the leader of each partition; where there is none, the answer is Unknown and says so."""

from collections.abc import Callable, Iterable
from typing import Any

from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.connection import Connections
from kafka_reader.list_offsets import ListedOffset, fetch_offsets
from kafka_reader.metadata import Topology


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


def offsets_of_leaders(
    connections: Connections,
    topology: Topology,
    partitions: Iterable[TopicPartition],
    build: Callable[[Iterable[TopicPartition]], Any],
) -> dict[TopicPartition, ListedOffset]:
    """One entry per partition."""
    led, without = by_leader(topology, partitions)
    listed = {
        partition: ListedOffset(reason, reason, None, None, topology.observed_at_ms)
        for partition, reason in without.items()
    }
    for answers in fetch_offsets(connections, {leader: build(its) for leader, its in led.items()}).values():
        listed |= answers
    return listed
