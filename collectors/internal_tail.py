"""A topic of Kafka's own, read on to its end round after round: where each partition stands, and what was left out."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, replace

from collectors.leaders import by_leader, led_partitions, offsets_of_leaders
from collectors.vanished import TOPIC_REFUSED
from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.connection import Connections
from kafka_reader.fetch import Part
from kafka_reader.internal_log import FetchedLog, fetch_log
from kafka_reader.internal_records import partition_of
from kafka_reader.list_offsets import last_stable_offset_request, log_start_request
from kafka_reader.metadata import Topology
from kafka_reader.rights import fetch_permitted_topics

# Where the reading of a partition begins: recent history is worth a second, the whole of it is not.
FIRST_OFFSETS = 2_000
# So far behind, what happens now would be read too late: the reading goes on at the end.
MOST_BEHIND = 500_000
# What a leader sends in one answer at most: a round must not wait for more.
ANSWER_BYTES = 8_000_000

FIRST_SIGHT = f"first sight: what lies more than {FIRST_OFFSETS:,} offsets before the end is not read"
MADE_ANEW = "the topic was deleted and created anew"
LOG_CUT = "the log was cut below what had been read"


@dataclass(frozen=True, slots=True)
class LogPosition:
    """`break_reason` is of the next range, None: it follows the one before. `is_lost`: the log does not hold it."""

    topic_id: str
    offset: int
    break_reason: str | None = None
    is_lost: bool = False


@dataclass(frozen=True, slots=True)
class Tail:
    """By partition. `turn`: the partition that comes first next time, so that none always comes last."""

    positions: Mapping[int, LogPosition] = field(default_factory=dict)
    turn: int = 0


@dataclass(frozen=True, slots=True)
class LogReading:
    """What one round read: from where, and what came; Unknown where nothing did. `partitions`: how many there are."""

    topic: str
    partitions: int = 0
    begun: Mapping[int, LogPosition] = field(default_factory=dict)
    fetched: Mapping[int, FetchedLog | Unknown] = field(default_factory=dict)

    @property
    def answers(self) -> Mapping[int, FetchedLog]:
        """Those that came, of the partitions in order."""
        return {number: one for number, one in sorted(self.fetched.items()) if isinstance(one, FetchedLog)}

    @property
    def at_end(self) -> frozenset[int]:
        """Partitions read to their end, with nothing left out before it and nothing waiting for a transaction."""
        return frozenset(number for number, one in self.answers.items() if one.is_at_end)

    def lies_in(self, name: str, partitions: Set[int]) -> bool:
        """The records of this group or transactional id lie in one of these partitions."""
        return bool(partitions) and partition_of(name, self.partitions) in partitions


def collect(
    connections: Connections, topology: Topology, topic: str, tail: Tail, max_bytes: int, timeout_s: float
) -> LogReading:
    """What follows of every partition, a request a leader; `max_bytes` is for all leaders together."""
    partitions = sorted(each for each in topology.states if each.topic == topic)
    positions = _begun(connections, topology, tail, partitions)
    turned = [each for each in partitions if each.partition >= tail.turn] + partitions
    led, without = by_leader(
        topology, dict.fromkeys(each for each in turned if isinstance(positions[each], LogPosition))
    )
    known = {each: one for each, one in positions.items() if isinstance(one, LogPosition)}
    parts = {each: Part(topic, one.topic_id, each.partition) for each, one in known.items()}
    asked = {leader: {parts[each]: known[each].offset for each in its} for leader, its in led.items()}
    answers = fetch_log(connections, asked, min(ANSWER_BYTES, max_bytes // max(1, len(asked))), timeout_s)
    failed = {each: one for each, one in positions.items() if isinstance(one, Unknown)}
    fetched = {each: answers[parts[each]] for each in known if each not in without} | without | failed
    return LogReading(
        topic,
        len(partitions),
        {each.partition: one for each, one in known.items()},
        {each.partition: one for each, one in fetched.items()},
    )


def absent(connections: Connections, topic: str) -> LogReading:
    """The brokers do not name the topic: it is not there yet, or may not be described; asked by name they say which."""
    permitted = fetch_permitted_topics(connections, [topic])[topic]
    if permitted is True:
        return LogReading(topic)
    return LogReading(topic, fetched={0: permitted if isinstance(permitted, Unknown) else TOPIC_REFUSED})


def after(tail: Tail, reading: LogReading) -> Tail:
    """Where the next round reads on."""
    moved = {number: _after(reading.begun[number], one) for number, one in reading.answers.items()}
    return Tail({**tail.positions, **reading.begun, **moved}, (tail.turn + 1) % max(1, reading.partitions))


def broken(reading: LogReading) -> frozenset[int]:
    """Partitions of which something was left out: what was known of their groups and ids may have changed unseen."""
    return frozenset(
        number
        for number, one in reading.answers.items()
        if reading.begun[number].break_reason is not None or one.is_out_of_range or one.missing
    )


def _begun(
    connections: Connections, topology: Topology, tail: Tail, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, LogPosition | Unknown]:
    """Where each partition stands; of those that are new or lost, the ends of the log are asked for."""
    known = {each: tail.positions.get(each.partition) for each in partitions}
    ids = topology.topic_ids
    stand = {each: one for each, one in known.items() if one and one.topic_id == ids[each.topic] and not one.is_lost}
    seek = [each for each in known if each not in stand]
    led, led_at_ms = led_partitions(topology, seek), topology.observed_at_ms
    starts = offsets_of_leaders(connections, led, led_at_ms, log_start_request)
    ends = offsets_of_leaders(connections, led, led_at_ms, last_stable_offset_request)
    sought = {each: _found(ids[each.topic], known[each], starts[each].offset, ends[each].offset) for each in seek}
    return {**stand, **sought}


def _found(
    topic_id: str, before: LogPosition | None, start: int | Unknown, end: int | Unknown
) -> LogPosition | Unknown:
    """A log that is short is read from its beginning."""
    if isinstance(start, Unknown):
        return start
    if isinstance(end, Unknown):
        return end
    if before is None or before.topic_id != topic_id:
        return LogPosition(topic_id, max(start, end - FIRST_OFFSETS), FIRST_SIGHT if before is None else MADE_ANEW)
    if start > before.offset:
        reason = f"the offsets {before.offset} to {start - 1} were removed before they were read"
        return LogPosition(topic_id, start, reason)
    return LogPosition(topic_id, min(before.offset, end), LOG_CUT if end < before.offset else before.break_reason)


def _after(position: LogPosition, fetched: FetchedLog) -> LogPosition:
    """Behind the last whole batch, or near the end where that is too far ahead."""
    if fetched.is_out_of_range:
        return replace(position, is_lost=True)
    left = fetched.last_stable_offset - fetched.next_offset
    if left > MOST_BEHIND:
        reason = (
            f"more is written than may be read (history_bytes_per_s): {left - FIRST_OFFSETS:,} offsets are left out"
        )
        return LogPosition(position.topic_id, fetched.last_stable_offset - FIRST_OFFSETS, reason)
    return replace(position, offset=fetched.next_offset, break_reason=None)
