"""Metadata answers (v10 to v13) as plain values, partition by partition (MetadataResponse.json)."""

import struct
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from uuid import UUID

import numpy as np

from guarantees.places import TopicPartition
from kafka_reader.wire import Frame, Reader, frame

# v10 ends with the rights on the cluster, v13 with an error of its own.
_WITH_CLUSTER_RIGHTS, _WITH_ERROR = 10, 13
# error code, partition, leader, leader epoch
_PARTITION_HEAD = struct.Struct(">hiii")


class BrokerAddress(NamedTuple):
    node_id: int
    host: str
    port: int
    rack: str | None


class PartitionMetadata(NamedTuple):
    """Error 5 stands beside leader −1 and says nothing more. Lists are in replica order, the ISR's too."""

    partition: int
    leader: int
    leader_epoch: int
    replicas: tuple[int, ...]
    in_sync_replicas: tuple[int, ...]
    offline_replicas: tuple[int, ...]


class TopicMetadata(NamedTuple):
    error_code: int
    name: str
    topic_id: str
    is_internal: bool
    partitions: tuple[PartitionMetadata, ...]


@dataclass(frozen=True, eq=False)
class ClusterMetadata:
    """The whole answer. `controller_id` changes from answer to answer under KRaft: the brokers name any of them."""

    frame: Frame
    brokers: tuple[BrokerAddress, ...]
    cluster_id: str
    controller_id: int
    topics: tuple[TopicMetadata, ...]

    @cached_property
    def good_topics(self) -> tuple[TopicMetadata, ...]:
        """Those that answered without an error."""
        return tuple(topic for topic in self.topics if topic.error_code == 0)

    @cached_property
    def places(self) -> tuple[TopicPartition, ...]:
        """Every partition of the good topics, in the order of the answer."""
        return tuple(
            TopicPartition(topic.name, partition.partition)
            for topic in self.good_topics
            for partition in topic.partitions
        )


def decode(data: bytes, version: int, known: ClusterMetadata | None) -> ClusterMetadata:
    """`known` itself, where nothing has changed since. Raises UnreadableAnswerError."""
    return known if known is not None and known.frame.fits(data) else parse(data, version)


def parse(data: bytes, version: int) -> ClusterMetadata:
    """Field by field."""
    reader = Reader(data)
    reader.int32()  # throttle time
    brokers = tuple(_broker(reader) for _ in range(reader.count()))
    cluster_id = reader.text() or ""
    controller_at = reader.position
    controller_id = reader.int32()
    topics = tuple(_topic(reader) for _ in range(reader.count()))
    if version == _WITH_CLUSTER_RIGHTS:
        reader.int32()
    if version >= _WITH_ERROR:
        reader.int16()
    reader.skip_tags()
    changing = [(np.array([controller_at], np.int64), 4)]
    return ClusterMetadata(frame(data, changing), brokers, cluster_id, controller_id, topics)


def _broker(reader: Reader) -> BrokerAddress:
    address = BrokerAddress(reader.int32(), reader.name(), reader.int32(), reader.text())
    reader.skip_tags()
    return address


def _topic(reader: Reader) -> TopicMetadata:
    error_code, name = reader.int16(), reader.text() or ""
    start = reader.skip(16)
    topic_id = str(UUID(bytes=reader.data[start : start + 16]))
    is_internal = reader.data[reader.skip(1)] != 0
    partitions = _partitions(reader, reader.count())
    reader.int32()  # rights on the topic
    reader.skip_tags()
    return TopicMetadata(error_code, name, topic_id, is_internal, partitions)


def _partitions(reader: Reader, number: int) -> tuple[PartitionMetadata, ...]:
    """Row by row, or all together where each has as many replicas as the first."""
    if not number:
        return ()
    start = reader.position
    first = _partition(reader)
    size = reader.position - start
    if not _are_alike(reader.data, start, size, number, first):
        return first, *(_partition(reader) for _ in range(number - 1))
    reader.skip((number - 1) * size)
    rows = np.frombuffer(reader.data, _row(first, size), number, start)
    # Partitions have the same few: one value for all that are equal.
    few: dict[tuple[int, ...], tuple[int, ...]] = {}
    lists = (
        [few.setdefault(nodes, nodes) for nodes in map(tuple, rows[name].tolist())]
        for name in ("replicas", "in_sync", "offline")
    )
    plain = (rows[name].tolist() for name in ("partition", "leader", "epoch"))
    return tuple(map(PartitionMetadata, *plain, *lists))


def _are_alike(data: bytes, start: int, size: int, number: int, first: PartitionMetadata) -> bool:
    """The counts and the tags of every row are those of the first: each row then begins where the one before ends."""
    stop = start + number * size
    places = [*_count_places(first), size - 1]
    if size != places[-2] + 1 + 4 * len(first.offline_replicas) + 1 or stop > len(data):
        return False
    return all(
        data[start + place : stop : size] == data[start + place : start + place + 1] * number for place in places
    )


def _count_places(first: PartitionMetadata) -> tuple[int, int, int]:
    """Where a row holds the lengths of its lists, each of one byte."""
    replicas = _PARTITION_HEAD.size
    in_sync = replicas + 1 + 4 * len(first.replicas)
    return replicas, in_sync, in_sync + 1 + 4 * len(first.in_sync_replicas)


def _row(first: PartitionMetadata, size: int) -> np.dtype[np.void]:
    replicas, in_sync, offline = _count_places(first)
    lists = (first.replicas, first.in_sync_replicas, first.offline_replicas)
    return np.dtype(
        {
            "names": ["partition", "leader", "epoch", "replicas", "in_sync", "offline"],
            "formats": [">i4", ">i4", ">i4", *((">i4", (len(nodes),)) for nodes in lists)],
            "offsets": [2, 6, 10, replicas + 1, in_sync + 1, offline + 1],
            "itemsize": size,
        }
    )


def _partition(reader: Reader) -> PartitionMetadata:
    head: tuple[int, int, int, int] = _PARTITION_HEAD.unpack_from(reader.data, reader.skip(_PARTITION_HEAD.size))
    found = PartitionMetadata(*head[1:], _nodes(reader), _nodes(reader), _nodes(reader))
    reader.skip_tags()
    return found


def _nodes(reader: Reader) -> tuple[int, ...]:
    number = reader.count()
    start = reader.skip(4 * number)
    nodes: tuple[int, ...] = struct.unpack_from(f">{number}i", reader.data, start)
    return nodes
