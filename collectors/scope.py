"""What a cluster's metadata means to a watch: which partitions, and whom to ask for them."""

from dataclasses import dataclass

from collectors.leaders import Led, led_partitions
from collectors.replica_offsets import Held, held
from guarantees.places import TopicPartition
from kafka_reader.metadata import Topology
from settings import ClusterSettings


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """The watched partitions in order, who leads and who holds them. The same value while the metadata says the same.

    `answer` is the metadata it was made of.
    """

    answer: object
    partitions: tuple[TopicPartition, ...]
    led: Led
    held: Held


def scope(settings: ClusterSettings, topology: Topology, before: Scope | None) -> Scope:
    """Of this topology; that of the round before where nothing has changed."""
    if before is not None and topology.answer is not None and topology.answer is before.answer:
        return before
    partitions = watched_partitions(settings, topology)
    return Scope(topology.answer, partitions, led_partitions(topology, partitions), held(topology, partitions))


def watched_partitions(settings: ClusterSettings, topology: Topology) -> tuple[TopicPartition, ...]:
    """Kafka's own topics are left out: what their readers do is no pipeline."""
    watched = {topic for topic in topology.topic_ids if settings.watches_topic(topic)} - topology.internal_topics
    return tuple(sorted(partition for partition in topology.states if partition.topic in watched))
