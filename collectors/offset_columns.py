"""Columns of the tables of offsets, from what brokers listed."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from collectors.columns import flags, numbers_or_null, reasons, repeated
from collectors.signals import Answered
from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.listed_offsets import NO_LEADER_EPOCH, ListedOffsets
from kafka_reader.metadata import Topology

Columns = dict[str, pa.Array]


def places(cluster_id: str, tick: int, topology: Topology, partitions: Sequence[TopicPartition]) -> Columns:
    """Where and when."""
    size, topics = len(partitions), [partition.topic for partition in partitions]
    return {
        "cluster_id": repeated(cluster_id, size, pa.string()),
        "tick": repeated(tick, size, pa.int64()),
        "topic": pa.array(topics, pa.string()),
        "topic_id": pa.array([topology.topic_ids.get(topic) for topic in topics], pa.string()),
        "partition": pa.array([partition.partition for partition in partitions], pa.int32()),
    }


def offset_columns(name: str, listed: ListedOffsets) -> Columns:
    """The offsets, and why some are unknown."""
    return {
        name: numbers_or_null(listed.offset, flags(len(listed), list(listed.unknown))),
        f"{name}_unknown": reasons(len(listed), listed.unknown, absent=""),
    }


def epoch_columns(listed: ListedOffsets) -> Columns:
    """The leader epochs; where there is no offset, there is no epoch for the same reason."""
    without = np.flatnonzero(listed.leader_epoch < 0).tolist()
    unknown: dict[int, Unknown | None] = {**dict.fromkeys(without, NO_LEADER_EPOCH), **listed.unknown}
    return {
        "leader_epoch": numbers_or_null(listed.leader_epoch, flags(len(listed), list(unknown))),
        "leader_epoch_unknown": reasons(len(listed), unknown, absent=""),
    }


def values(listed: ListedOffsets) -> Answered:
    """Everything asked for."""
    return Answered(len(listed), list(listed.unknown.values()))
