"""Metadata: brokers, topics with their ids, and who leads and holds each partition."""

from collections.abc import Iterable
from dataclasses import dataclass

from kafka.protocol.metadata import MetadataRequest

from guarantees.observations import PartitionState
from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.connection import Connections
from kafka_reader.errors import CollectionError, unknown_because
from kafka_reader.metadata_answer import ClusterMetadata, PartitionMetadata, decode
from kafka_reader.undecoded import Prepared, decoded

# v10 gives topic ids; v13 is the newest that is decoded.
OLDEST_VERSION = 10
NEWEST_VERSION = 13

ANY_BROKER = -1
NO_LEADER = -1


@dataclass(frozen=True, slots=True)
class Topology:
    """What one broker says about the cluster; `states` holds every partition, also those without a leader.

    `topic_ids` is by name; a topic that answered with an error is in `failed` only. `internal_topics` are Kafka's own.
    Topics the principal may not describe are left out by the broker without a word. `answer` is what it was made of,
    the very same while the brokers say the same.
    """

    cluster_id: str
    brokers: tuple[int, ...]
    topic_ids: dict[str, str]
    internal_topics: frozenset[str]
    states: dict[TopicPartition, PartitionState]
    failed: dict[str, Unknown]
    requested_at_ms: int
    observed_at_ms: int
    answer: ClusterMetadata | None = None

    @property
    def topics(self) -> tuple[str, ...]:
        return tuple(sorted(self.topic_ids))

    def leader(self, partition: TopicPartition) -> int | Unknown:
        """Node id of the leader, or why there is none to ask."""
        state = self.states.get(partition)
        if state is None:
            return Unknown("the cluster's metadata does not name the partition")
        return Unknown("the partition has no leader") if state.leader is None else state.leader


def metadata_request(topics: Iterable[str] = ()) -> Prepared:
    """Of all topics. Nothing is created by asking."""
    request = MetadataRequest(
        topics=None,
        allow_auto_topic_creation=False,
        include_topic_authorized_operations=False,
        min_version=OLDEST_VERSION,
        max_version=NEWEST_VERSION,
    )
    return Prepared(request, tuple(topics))


def fetch_topology(connections: Connections) -> Topology:
    """Ask any broker, and take over the brokers' addresses. Raises CollectionError when none answers."""
    request = connections.prepared.get(metadata_request, ANY_BROKER, ())
    answer = connections.send_any(request)
    found = decoded(answer, "the cluster", lambda data: decode(data, answer.response.version, request.layout))
    if isinstance(found, CollectionError):
        raise found
    if found is not request.layout:
        connections.learn_brokers(found.brokers, found.cluster_id)
        request.layout = found
    return topology(found, answer.requested_at_ms, answer.observed_at_ms)


def topology(found: ClusterMetadata, requested_at_ms: int, observed_at_ms: int) -> Topology:
    """The answer as values."""
    good = found.good_topics
    states = (_state(topic.topic_id, partition, observed_at_ms) for topic in good for partition in topic.partitions)
    return Topology(
        cluster_id=found.cluster_id,
        brokers=tuple(sorted(broker.node_id for broker in found.brokers)),
        topic_ids={topic.name: topic.topic_id for topic in good},
        internal_topics=frozenset(topic.name for topic in good if topic.is_internal),
        states=dict(zip(found.places, states, strict=True)),
        failed={topic.name: unknown_because(topic.error_code) for topic in found.topics if topic.error_code != 0},
        requested_at_ms=requested_at_ms,
        observed_at_ms=observed_at_ms,
        answer=found,
    )


def _state(topic_id: str, partition: PartitionMetadata, observed_at_ms: int) -> PartitionState:
    return PartitionState(
        topic_id=topic_id,
        leader=None if partition.leader == NO_LEADER else partition.leader,
        leader_epoch=partition.leader_epoch,
        replicas=partition.replicas,
        in_sync_replicas=partition.in_sync_replicas,
        eligible_leader_replicas=None,
        last_known_eligible_leader_replicas=None,
        offline_replicas=partition.offline_replicas,
        observed_at_ms=observed_at_ms,
    )
