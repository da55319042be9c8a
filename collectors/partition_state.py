"""Leaders, replicas, in-sync and eligible replicas, kept as intervals."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from collectors.intervals import Interval, Key, Seen
from guarantees.observations import PartitionState
from guarantees.places import TopicPartition
from guarantees.topic_settings import TopicSettings, min_insync_replicas
from kafka_reader.connection import Connections
from kafka_reader.metadata import Topology
from kafka_reader.topic_partitions import EligibleLeaders, fetch_eligible_leaders

TABLE = "partition_state"
DETAILS = ()


def of_interest(topology: Topology, is_watched: Callable[[str], bool]) -> dict[TopicPartition, PartitionState]:
    """Watched topics and Kafka's own: a cluster whose commits cannot be written is everybody's business."""
    topics = topology.internal_topics | {topic for topic in topology.topic_ids if is_watched(topic)}
    return {partition: state for partition, state in topology.states.items() if partition.topic in topics}


def topics_out_of_sync(states: Mapping[TopicPartition, PartitionState]) -> set[str]:
    """Topics with a replica out of the ISR: only there can anyone be eligible who is not in it (KIP-966)."""
    return {
        partition.topic
        for partition, state in states.items()
        if set(state.in_sync_replicas) != set(state.replicas) or state.leader is None
    }


def collect(connections: Connections, topics: Iterable[str]) -> dict[TopicPartition, EligibleLeaders]:
    return fetch_eligible_leaders(connections, topics)


def with_eligible_leaders(
    states: Mapping[TopicPartition, PartitionState], eligible: Mapping[TopicPartition, EligibleLeaders]
) -> dict[TopicPartition, PartitionState]:
    """The states, completed where eligible leaders were asked for."""
    return dict(states) | {
        partition: replace(
            states[partition],
            eligible_leader_replicas=leaders.eligible,
            last_known_eligible_leader_replicas=leaders.last_known,
        )
        for partition, leaders in eligible.items()
        if partition in states
    }


def seen(states: Mapping[TopicPartition, PartitionState], settings: Mapping[str, TopicSettings]) -> dict[Key, Seen]:
    """Every partition as it stands."""
    minimum = {topic: min_insync_replicas(its) for topic, its in settings.items()}
    return {
        (state.topic_id, partition.partition): Seen(
            value={
                "topic": partition.topic,
                "leader": state.leader,
                "leader_epoch": state.leader_epoch,
                "replicas": state.replicas,
                "in_sync_replicas": state.in_sync_replicas,
                "eligible_leader_replicas": state.eligible_leader_replicas,
                "last_known_eligible_leader_replicas": state.last_known_eligible_leader_replicas,
                "offline_replicas": state.offline_replicas,
                "min_insync_replicas": minimum.get(partition.topic),
            },
            at_ms=state.observed_at_ms,
        )
        for partition, state in states.items()
    }


def gone(topology: Topology, interval: Interval) -> str | None:
    """The partition ended where the cluster's list of topics says so; a topic with an error says nothing."""
    topic, (topic_id, partition) = str(interval.value["topic"]), interval.key
    if topic in topology.failed:
        return None
    if topic not in topology.topic_ids:
        return "the topic is no longer listed"
    if topology.topic_ids[topic] != topic_id:
        return "the topic was made anew"
    is_there = TopicPartition(topic, int(str(partition))) in topology.states
    return None if is_there else "the partition is no longer listed"


def values(topology: Topology) -> list[object]:
    """Everything asked for: partitions, and topics that answered with an error."""
    return [*topology.states.values(), *topology.failed.values()]
