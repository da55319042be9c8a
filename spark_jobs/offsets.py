"""Asks a cluster where its audited topics stand now: ids, leaders, log start, stable offset and high watermark."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.connection import Connections
from kafka_reader.list_offsets import (
    fetch_offsets,
    high_watermark_request,
    last_stable_offset_request,
    log_start_request,
    offset_at_time_request,
)
from kafka_reader.listed_offsets import ListedOffset
from kafka_reader.metadata import Topology, fetch_topology
from spark_jobs.audited import AuditedTopic
from spark_jobs.ranges import Part, PartNow

Offsets = Mapping[TopicPartition, ListedOffset]
Requests = Callable[[Iterable[TopicPartition]], Any]

NO_RECORD_SINCE = "no such offset"  # ListOffsets by time: every record is older


@dataclass(frozen=True, slots=True)
class ClusterNow:
    """One look at a cluster: the partitions of its audited topics, and the topics that are not there."""

    cluster_id: str
    parts: tuple[PartNow, ...]
    missing: Mapping[str, str]

    def partitions(self, topic: str) -> tuple[PartNow, ...]:
        return tuple(now for now in self.parts if now.part.topic == topic)


def fetch_cluster_now(
    connections: Connections,
    topics: Iterable[AuditedTopic],
    *,
    covered: Callable[[Part], bool],
    known_history: Callable[[str, str], bool],
    now_ms: int,
) -> ClusterNow:
    """Log start first, ends last. Raises CollectionError when no broker answers; one that fails leaves Unknowns.

    A topic id seen first begins `horizon_s` ago, by the records' own times; a partition added to a known one begins at
    its log start. `known_history` is asked with (cluster id, topic id).
    """
    topology = fetch_topology(connections)
    audited = {topic.topic: topic for topic in topics}
    parts = [part for part in _parts(topology) if part.topic in audited]
    places = [TopicPartition(part.topic, part.partition) for part in parts]
    log_starts = listed(connections, topology, places, log_start_request)
    starts = dict(log_starts)
    for topic in audited.values():
        new = [part for part in parts if part.topic == topic.topic and not covered(part)]
        if new and not known_history(new[0].cluster_id, new[0].topic_id):
            starts |= _starts(connections, topology, new, now_ms - round(topic.horizon_s * 1000))
    stable = listed(connections, topology, places, last_stable_offset_request)
    high = listed(connections, topology, places, high_watermark_request)
    return ClusterNow(
        cluster_id=topology.cluster_id,
        parts=tuple(_part_now(part, topology, log_starts, stable, high, starts) for part in parts),
        missing={topic: _why_missing(topology, topic) for topic in audited if topic not in topology.topic_ids},
    )


def _parts(topology: Topology) -> list[Part]:
    return [
        Part(topology.cluster_id, place.topic, state.topic_id, place.partition)
        for place, state in sorted(topology.states.items())
    ]


def _starts(connections: Connections, topology: Topology, parts: Iterable[Part], since_ms: int) -> Offsets:
    places = [TopicPartition(part.topic, part.partition) for part in parts]
    return listed(connections, topology, places, lambda asked: offset_at_time_request(asked, since_ms))


def listed(
    connections: Connections, topology: Topology, places: Iterable[TopicPartition], request: Requests
) -> Offsets:
    """What the leaders answer; a partition without a leader is left out."""
    by_leader: dict[int, list[TopicPartition]] = defaultdict(list)
    for place in places:
        leader = topology.leader(place)
        if not isinstance(leader, Unknown):
            by_leader[leader].append(place)
    answers = fetch_offsets(connections, {leader: request(asked) for leader, asked in by_leader.items()})
    return {place: listed for offsets in answers.values() for place, listed in offsets.items()}


def _part_now(
    part: Part, topology: Topology, log_starts: Offsets, stable: Offsets, high: Offsets, starts: Offsets
) -> PartNow:
    place = TopicPartition(part.topic, part.partition)
    leader = topology.leader(place)
    if isinstance(leader, Unknown):
        return PartNow(part, leader, leader, leader, leader, leader, topology.observed_at_ms)
    start = starts[place].offset
    if isinstance(start, Unknown) and start.reason == NO_RECORD_SINCE:
        start = stable[place].offset
    return PartNow(
        part=part,
        leader=leader,
        log_start_offset=log_starts[place].offset,
        last_stable_offset=stable[place].offset,
        high_watermark=high[place].offset,
        start=start,
        observed_at_ms=high[place].observed_at_ms,
    )


def _why_missing(topology: Topology, topic: str) -> str:
    return (
        topology.failed[topic].reason if topic in topology.failed else "there is no such topic, or it may not be seen"
    )
