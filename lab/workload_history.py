"""The truth lines of the workload's processes as a client history. Pure."""

from collections.abc import Callable, Iterable, Iterator

from lab.checker.history import Operation, Outcome, Poll, Record, Send
from lab.deeds import Spot, acknowledged, payments, polled
from lab.second_judge import LogKey
from lab.topics import Flow
from lab.truth import TruthLine

KeyOf = Callable[[str, int], LogKey]


def producer_operations(lines: Iterable[TruthLine], process: str, topic: str, key_of: KeyOf) -> Iterator[Operation]:
    """What a producer of one topic sent and got acknowledged."""
    return (_sent(process, topic, [spot], key_of) for spot in acknowledged(lines))


def member_operations(lines: Iterable[TruthLine], flow: Flow, key_of: KeyOf) -> Iterator[Operation]:
    """What a member that polls, sends and commits took up and handed on. A group is one process."""
    for line in lines:
        for batch in polled([line]):
            yield _taken(flow.group_id, flow.source, batch, Outcome.OK, key_of)
        for handed in payments([line]):
            yield _sent(flow.group_id, flow.sink, [handed.payment], key_of)


def transaction_operations(lines: Iterable[TruthLine], process: str, source: str, key_of: KeyOf) -> Iterator[Operation]:
    """What a transactional member took up; an aborted transaction gives it back.

    Each process is one of its own: one that was killed may have committed what it could not write down any more.
    """
    outcomes = {"committed": Outcome.OK, "aborted": Outcome.FAIL}
    for line in lines:
        if line.event in outcomes:
            batch = [Spot(partition, offset, message_id) for message_id, partition, offset in line.facts["records"]]
            yield _taken(process, source, batch, outcomes[line.event], key_of)


def _sent(process: str, topic: str, spots: Iterable[Spot], key_of: KeyOf) -> Operation:
    sends = (Send(key_of(topic, spot.partition), Record(spot.offset, spot.message_id)) for spot in spots)
    return Operation(process, Outcome.OK, tuple(sends))


def _taken(process: str, topic: str, batch: Iterable[Spot], outcome: Outcome, key_of: KeyOf) -> Operation:
    records: dict[LogKey, list[Record]] = {}
    for spot in batch:
        records.setdefault(key_of(topic, spot.partition), []).append(Record(spot.offset, spot.message_id))
    return Operation(process, outcome, (Poll(records),))
