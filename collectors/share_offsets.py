"""Where share groups stand in the partitions they read. Their start offsets are no commits, and are never judged so."""

from collections.abc import Iterator, Mapping

from collectors.group_list import GroupList
from collectors.rows import Row, known_or_reason
from guarantees.lag import NOT_STARTED
from guarantees.observations import SHARE
from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.connection import Connections
from kafka_reader.share_groups import ShareOffset, ShareOffsets, fetch_offsets

TABLE = "share_offsets"

NO_PARTITION = Unknown("no partition in the answer: nothing was read yet, or its topics may not be described")

Answers = Mapping[str, ShareOffsets]


def collect(relayed: Connections, groups: GroupList) -> dict[str, ShareOffsets]:
    """All groups of a coordinator in one request. It asks the partitions' leaders before it answers."""
    asked: dict[int, list[str]] = {}
    for group in groups.listed.values():
        if group.group_type == SHARE:
            asked.setdefault(group.coordinator, []).append(group.group_id)
    return fetch_offsets(relayed, asked)


def with_unavailable(found: Answers, groups: GroupList) -> dict[str, ShareOffsets]:
    """Remembered share groups too: where they stand is unknown."""
    return dict(found) | {
        group_id: ShareOffsets(reason, None, None, None)
        for group_id, reason in groups.unavailable.items()
        if groups.remembered[group_id].group_type == SHARE
    }


def values(found: Answers) -> Iterator[object]:
    """Everything asked for. A partition that was not read yet is an answer."""
    for offsets in found.values():
        if isinstance(offsets.partitions, Unknown):
            yield offsets.partitions
        else:
            starts = (each.start_offset for each in offsets.partitions.values())
            yield from (None if start == NOT_STARTED else start for start in starts)


def rows(cluster_id: str, tick: int, found: Answers, ended_at_ms: int) -> list[Row]:
    """A group without any partition to show has one row that says why."""
    return [
        {
            "cluster_id": cluster_id,
            "tick": tick,
            "group_id": group_id,
            "topic": None if partition is None else partition.topic,
            "topic_id": offset.topic_id,
            "partition": None if partition is None else partition.partition,
            **known_or_reason("start_offset", offset.start_offset),
            **known_or_reason("lag", offset.lag),
            "broker": offsets.broker,
            "requested_at": offsets.requested_at_ms,
            "observed_at": ended_at_ms if offsets.observed_at_ms is None else offsets.observed_at_ms,
        }
        for group_id, offsets in found.items()
        for partition, offset in _each(offsets)
    ]


def _each(offsets: ShareOffsets) -> list[tuple[TopicPartition | None, ShareOffset]]:
    if isinstance(offsets.partitions, Unknown):
        return [(None, ShareOffset(None, offsets.partitions, offsets.partitions))]
    return sorted(offsets.partitions.items()) or [(None, ShareOffset(None, NO_PARTITION, NO_PARTITION))]
