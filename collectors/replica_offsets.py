"""The log end of every replica, asked of the replica itself: data only the leader has, followers that lag."""

from collections.abc import Mapping, Sequence

import pyarrow as pa

from collectors.columns import few_values, numbers_or_null
from collectors.offset_columns import epoch_columns, offset_columns, places
from collectors.signals import Answered
from guarantees.observations import ReplicaOffset
from guarantees.places import TopicPartition
from kafka_reader.connection import Connections
from kafka_reader.list_offsets import fetch_offsets, log_end_request
from kafka_reader.listed_offsets import ListedOffsets, joined
from kafka_reader.metadata import Topology

TABLE = "replica_offsets"

# By replica: the partitions it holds.
Held = Mapping[int, Sequence[TopicPartition]]
Listed = Mapping[int, ListedOffsets]


def held(topology: Topology, partitions: Sequence[TopicPartition]) -> Held:
    found: dict[int, list[TopicPartition]] = {}
    for partition in partitions:
        for replica in topology.states[partition].replicas:
            found.setdefault(replica, []).append(partition)
    return dict(sorted(found.items()))


def collect(connections: Connections, its: Held) -> Listed:
    """By replica. The answers are moments apart: small differences prove nothing."""
    requests = {
        replica: connections.prepared.get(log_end_request, replica, partitions) for replica, partitions in its.items()
    }
    return fetch_offsets(connections, requests)


def values(listed: Listed) -> Answered:
    """Everything asked for."""
    unknown = [why for each in listed.values() for why in each.unknown.values()]
    return Answered(sum(map(len, listed.values())), unknown)


def observations(topology: Topology, listed: Listed) -> dict[TopicPartition, tuple[ReplicaOffset, ...]]:
    found: dict[TopicPartition, tuple[ReplicaOffset, ...]] = {}
    for replica, ends in sorted(listed.items()):
        topic_ids = [topology.topic_ids.get(partition.topic) for partition in ends.partitions]
        offsets, epochs, times = ends.offsets_or_reasons, ends.epochs_or_reasons, few_values(ends.observed_at_ms)
        made = map(ReplicaOffset, topic_ids, [replica] * len(ends), offsets, epochs, times)
        for partition, end in zip(ends.partitions, made, strict=True):
            found[partition] = (*found.get(partition, ()), end)
    return found


def rows(cluster_id: str, tick: int, topology: Topology, listed: Listed) -> pa.Table:
    ends = joined(list(listed.values()))
    replicas = [replica for replica, its in listed.items() for _ in range(len(its))]
    return pa.table(
        {
            **places(cluster_id, tick, topology, ends.partitions),
            "replica": pa.array(replicas, pa.int32()),
            **offset_columns("log_end_offset", ends),
            **epoch_columns(ends),
            "requested_at": numbers_or_null(ends.requested_at_ms, ends.requested_at_ms < 0),
            "observed_at": ends.observed_at_ms,
        }
    )
