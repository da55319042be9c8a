"""From where the headers of each partition are read next, and why a range does not follow the one before."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace

from guarantees.observations import PartitionOffsets
from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.fetch import Part
from kafka_reader.header_fetch import FetchedHeaders

FIRST_SIGHT = "first sight: what was written before is not seen"
NEW_PARTITION = "a partition added while its cluster was watched is read from its log start"
MADE_ANEW = "the topic was deleted and created anew"
LOG_CUT = "the log was cut below what had been read"


@dataclass(frozen=True, slots=True)
class Position:
    """`producers_before` is None until the leader was asked; `break_reason` is of the next range, None: it follows."""

    topic_id: str
    offset: int
    break_reason: str | None
    producers_before: frozenset[int] | Unknown | None = None


def begun(
    known: Mapping[TopicPartition, Position],
    topic_ids: Mapping[str, str],
    wanted: Iterable[TopicPartition],
    offsets: Mapping[TopicPartition, PartitionOffsets],
    old: Set[TopicPartition],
) -> dict[TopicPartition, Position]:
    """Where each wanted partition stands, new ones included; those whose offsets are not known wait.

    `old` are the partitions that were there when the watching began: others are read from their log start.
    """
    positions: dict[TopicPartition, Position] = {}
    for partition in wanted:
        topic_id, position = topic_ids.get(partition.topic), known.get(partition)
        if topic_id is None:
            continue
        if position is None or position.topic_id != topic_id:
            reason = MADE_ANEW if position is not None else FIRST_SIGHT if partition in old else NEW_PARTITION
            position = _first(topic_id, offsets.get(partition), reason)
        if position is not None:
            positions[partition] = position
    return positions


def _first(topic_id: str, offsets: PartitionOffsets | None, reason: str) -> Position | None:
    if offsets is None or offsets.topic_id != topic_id:
        return None
    offset = offsets.high_watermark if reason == FIRST_SIGHT else offsets.log_start_offset
    return None if isinstance(offset, Unknown) else Position(topic_id, offset, reason)


def after(position: Position, fetched: FetchedHeaders, offsets: PartitionOffsets | None) -> Position:
    """Behind the last whole batch; where the log no longer holds the offset, where it begins or ends now."""
    if not fetched.is_out_of_range:
        end = fetched.batches[-1].next_offset if fetched.batches else position.offset
        return replace(position, offset=end, break_reason=None)
    start = fetched.log_start_offset
    if isinstance(start, int) and start > position.offset:
        reason = f"retention removed the offsets {position.offset} to {start - 1} before they were read"
        return Position(position.topic_id, start, reason)
    end_now = None if offsets is None else offsets.high_watermark
    if isinstance(end_now, int) and end_now < position.offset:
        return Position(position.topic_id, end_now, LOG_CUT)
    return position


def part(partition: TopicPartition, position: Position) -> Part:
    return Part(partition.topic, position.topic_id, partition.partition)
