"""Metadata: brokers, topics with their ids, and who leads and holds each partition."""

from dataclasses import dataclass
from typing import Any

from guarantees.observations import PartitionState
from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.connection import Connections
from kafka_reader.errors import unknown_because

NO_LEADER = -1


@dataclass(frozen=True, slots=True)
class Topology:
    """What one broker says about the cluster; `states` holds every partition, also those without a leader.

    `topic_ids` is by name; a topic that answered with an error is in `failed` only. `internal_topics` are Kafka's own.
    Topics the principal may not describe are left out by the broker without a word.
    """

    cluster_id: str
    brokers: tuple[int, ...]
    topic_ids: dict[str, str]
    internal_topics: frozenset[str]
    states: dict[TopicPartition, PartitionState]
    failed: dict[str, Unknown]
    requested_at_ms: int
    observed_at_ms: int

    @property
    def topics(self) -> tuple[str, ...]:
        return tuple(sorted(self.topic_ids))

    def leader(self, partition: TopicPartition) -> int | Unknown:
        """Node id of the leader, or why there is none to ask."""
        state = self.states.get(partition)
        if state is None:
            return Unknown("the cluster's metadata does not name the partition")
        return Unknown("the partition has no leader") if state.leader is None else state.leader


def fetch_topology(connections: Connections) -> Topology:
    """Ask any broker. Raises CollectionError when none answers."""
    answer = connections.metadata()
    return parse_topology(answer.response, answer.requested_at_ms, answer.observed_at_ms)


def parse_topology(response: Any, requested_at_ms: int, observed_at_ms: int) -> Topology:
    """A MetadataResponse (v10 or later) as values."""
    good = [topic for topic in response.topics if topic.error_code == 0]
    return Topology(
        cluster_id=response.cluster_id,
        brokers=tuple(sorted(broker.node_id for broker in response.brokers)),
        topic_ids={topic.name: str(topic.topic_id) for topic in good},
        internal_topics=frozenset(topic.name for topic in good if topic.is_internal),
        states={
            TopicPartition(topic.name, partition.partition_index): _state(
                str(topic.topic_id), partition, observed_at_ms
            )
            for topic in good
            for partition in topic.partitions
        },
        failed={topic.name: unknown_because(topic.error_code) for topic in response.topics if topic.error_code != 0},
        requested_at_ms=requested_at_ms,
        observed_at_ms=observed_at_ms,
    )


def _state(topic_id: str, partition: Any, observed_at_ms: int) -> PartitionState:
    """Error 5 stands beside leader −1 and says nothing more. Replica lists are in replica order, the ISR's too."""
    return PartitionState(
        topic_id=topic_id,
        leader=None if partition.leader_id == NO_LEADER else partition.leader_id,
        leader_epoch=partition.leader_epoch,
        replicas=tuple(partition.replica_nodes),
        in_sync_replicas=tuple(partition.isr_nodes),
        eligible_leader_replicas=None,
        last_known_eligible_leader_replicas=None,
        offline_replicas=tuple(partition.offline_replicas),
        observed_at_ms=observed_at_ms,
    )
