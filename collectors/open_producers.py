"""Producers with an open transaction, asked only where the stable offset lags behind the high watermark."""

from collections.abc import Iterable, Mapping

from collectors.intervals import Interval, Key, Seen
from collectors.leaders import by_leader
from guarantees.observations import OpenProducer, PartitionOffsets
from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.connection import Connections
from kafka_reader.metadata import Topology
from kafka_reader.producers import fetch_open_producers

TABLE = "open_producers"
DETAILS = ("last_sequence", "last_timestamp", "coordinator_epoch")

Producers = Mapping[TopicPartition, tuple[OpenProducer, ...] | Unknown]


def held_back(partitions: Mapping[TopicPartition, PartitionOffsets]) -> list[TopicPartition]:
    """Partitions whose stable offset lies below the high watermark."""
    return [partition for partition, offsets in partitions.items() if _is_held_back(offsets)]


def _is_held_back(offsets: PartitionOffsets) -> bool:
    stable, high = offsets.last_stable_offset, offsets.high_watermark
    return not isinstance(stable, Unknown) and not isinstance(high, Unknown) and stable < high


def collect(
    connections: Connections, topology: Topology, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, tuple[OpenProducer, ...] | Unknown]:
    """Of the leaders. Needs READ on the topic."""
    led, without = by_leader(topology, partitions)
    return {**without, **fetch_open_producers(connections, led)}


def seen(topology: Topology, producers: Producers) -> dict[Key, Seen]:
    return {
        (
            topology.topic_ids.get(partition.topic),
            partition.partition,
            producer.producer_id,
            producer.producer_epoch,
            producer.current_transaction_start_offset,
        ): Seen(
            value={"topic": partition.topic},
            at_ms=producer.observed_at_ms,
            detail={
                "last_sequence": producer.last_sequence,
                "last_timestamp": producer.last_timestamp_ms,
                "coordinator_epoch": producer.coordinator_epoch,
            },
        )
        for partition, its_producers in producers.items()
        if not isinstance(its_producers, Unknown)
        for producer in its_producers
    }


def gone(partitions: Mapping[TopicPartition, PartitionOffsets], producers: Producers, interval: Interval) -> str | None:
    """The transaction ended where the partition answered without it, or its stable offset has passed its start."""
    _, partition, _, _, start_offset = interval.key
    place = TopicPartition(str(interval.value["topic"]), int(str(partition)))
    if place in producers:
        return None if isinstance(producers[place], Unknown) else "the transaction ended"
    offsets = partitions.get(place)
    if offsets is None or isinstance(offsets.last_stable_offset, Unknown):
        return None
    return "the transaction ended" if offsets.last_stable_offset > int(str(start_offset)) else None
