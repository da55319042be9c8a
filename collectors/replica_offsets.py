"""The log end of every replica, asked of the replica itself: data only the leader has, followers that lag."""

from collections.abc import Iterable, Mapping

from collectors.rows import Row, known_or_reason
from guarantees.observations import ReplicaOffset
from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.connection import Connections
from kafka_reader.list_offsets import ListedOffset, fetch_offsets, log_end_request
from kafka_reader.metadata import Topology

TABLE = "replica_offsets"

Listed = Mapping[TopicPartition, Mapping[int, ListedOffset]]


def collect(connections: Connections, topology: Topology, partitions: Iterable[TopicPartition]) -> Listed:
    """Per partition and replica. The answers are moments apart: small differences prove nothing."""
    held: dict[int, list[TopicPartition]] = {}
    for partition in partitions:
        for replica in topology.states[partition].replicas:
            held.setdefault(replica, []).append(partition)
    listed: dict[TopicPartition, dict[int, ListedOffset]] = {}
    answers = fetch_offsets(connections, {replica: log_end_request(its) for replica, its in held.items()})
    for replica, offsets in answers.items():
        for partition, offset in offsets.items():
            listed.setdefault(partition, {})[replica] = offset
    return listed


def values(listed: Listed) -> list[int | Unknown]:
    """Everything asked for."""
    return [offset.offset for replicas in listed.values() for offset in replicas.values()]


def observations(topology: Topology, listed: Listed) -> dict[TopicPartition, tuple[ReplicaOffset, ...]]:
    return {
        partition: tuple(
            ReplicaOffset(
                topology.topic_ids.get(partition.topic), replica, end.offset, end.leader_epoch, end.observed_at_ms
            )
            for replica, end in sorted(replicas.items())
        )
        for partition, replicas in listed.items()
    }


def rows(cluster_id: str, tick: int, topology: Topology, listed: Listed) -> list[Row]:
    return [
        {
            "cluster_id": cluster_id,
            "tick": tick,
            "topic": partition.topic,
            "topic_id": topology.topic_ids.get(partition.topic),
            "partition": partition.partition,
            "replica": replica,
            **known_or_reason("log_end_offset", end.offset),
            **known_or_reason("leader_epoch", end.leader_epoch),
            "requested_at": end.requested_at_ms,
            "observed_at": end.observed_at_ms,
        }
        for partition, replicas in listed.items()
        for replica, end in sorted(replicas.items())
    ]
