"""High watermarks and last stable offsets, read after the commits: then no healthy group is ahead of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from collectors.leaders import offsets_of_leaders
from collectors.rows import Row, known_or_reason
from guarantees.observations import PartitionOffsets
from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.connection import Connections
from kafka_reader.list_offsets import ListedOffset, high_watermark_request, last_stable_offset_request
from kafka_reader.metadata import Topology

TABLE = "partition_offsets"

NOT_ASKED = Unknown("not asked in this round")


@dataclass(frozen=True, slots=True)
class EndOffsets:
    """What the leaders answered, per partition asked."""

    high_watermarks: Mapping[TopicPartition, ListedOffset]
    last_stable_offsets: Mapping[TopicPartition, ListedOffset]

    @property
    def values(self) -> list[int | Unknown]:
        """Everything asked for."""
        return [listed.offset for each in (self.high_watermarks, self.last_stable_offsets) for listed in each.values()]


NOTHING = EndOffsets({}, {})


def collect(connections: Connections, topology: Topology, partitions: Iterable[TopicPartition]) -> EndOffsets:
    """High watermarks first: stable offsets read before them would make busy partitions look blocked."""
    asked = list(partitions)
    high_watermarks = offsets_of_leaders(connections, topology, asked, high_watermark_request)
    return EndOffsets(high_watermarks, offsets_of_leaders(connections, topology, asked, last_stable_offset_request))


def partition_offsets(
    topology: Topology, log_starts: Mapping[TopicPartition, ListedOffset], ends: EndOffsets
) -> dict[TopicPartition, PartitionOffsets]:
    """The three offsets of each partition as one value."""
    return {
        partition: _joined(
            topology.topic_ids.get(partition.topic),
            log_starts.get(partition),
            high_watermark,
            ends.last_stable_offsets.get(partition),
        )
        for partition, high_watermark in ends.high_watermarks.items()
    }


def _joined(
    topic_id: str | None,
    log_start: ListedOffset | None,
    high_watermark: ListedOffset,
    last_stable_offset: ListedOffset | None,
) -> PartitionOffsets:
    return PartitionOffsets(
        topic_id=topic_id,
        log_start_offset=NOT_ASKED if log_start is None else log_start.offset,
        last_stable_offset=_stable_below(
            high_watermark.offset, NOT_ASKED if last_stable_offset is None else last_stable_offset.offset
        ),
        high_watermark=high_watermark.offset,
        leader_epoch=high_watermark.leader_epoch,
        broker=high_watermark.broker,
        log_start_observed_at_ms=high_watermark.observed_at_ms if log_start is None else log_start.observed_at_ms,
        observed_at_ms=high_watermark.observed_at_ms,
    )


def _stable_below(high_watermark: int | Unknown, last_stable_offset: int | Unknown) -> int | Unknown:
    """Read a moment later, the stable offset may lie above: then everything below the high watermark was decided."""
    if isinstance(high_watermark, Unknown) or isinstance(last_stable_offset, Unknown):
        return last_stable_offset
    return min(high_watermark, last_stable_offset)


def rows(
    cluster_id: str,
    tick: int,
    partitions: Mapping[TopicPartition, PartitionOffsets],
    ends: EndOffsets,
) -> list[Row]:
    return [
        {
            "cluster_id": cluster_id,
            "tick": tick,
            "topic": partition.topic,
            "topic_id": offsets.topic_id,
            "partition": partition.partition,
            **known_or_reason("log_start_offset", offsets.log_start_offset),
            **known_or_reason("last_stable_offset", offsets.last_stable_offset),
            **known_or_reason("high_watermark", offsets.high_watermark),
            **known_or_reason("leader_epoch", offsets.leader_epoch),
            "broker": offsets.broker,
            "log_start_observed_at": offsets.log_start_observed_at_ms,
            "requested_at": ends.high_watermarks[partition].requested_at_ms,
            "observed_at": offsets.observed_at_ms,
        }
        for partition, offsets in partitions.items()
    ]
