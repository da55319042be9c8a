"""What truth lines say was done: pure functions from lines to facts."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lab.truth import TruthLine


@dataclass(frozen=True, slots=True, order=True)
class Spot:
    """Where a record is stored, with its id."""

    partition: int
    offset: int
    message_id: str


@dataclass(frozen=True, slots=True)
class Payment:
    """An order a member processed, and the record it made of it; both carry the same id."""

    order: Spot
    payment: Spot


def of_event(event: str) -> Callable[[list[TruthLine]], list[TruthLine]]:
    """Finds the lines of one kind."""
    return lambda lines: [line for line in lines if line.event == event]


def acknowledged(lines: Iterable[TruthLine]) -> list[Spot]:
    """What a producer sent and the brokers acknowledged."""
    facts = [line.facts for line in lines if line.event == "acknowledged"]
    return [Spot(fact["partition"], fact["offset"], fact["message_id"]) for fact in facts]


def polled(lines: Iterable[TruthLine]) -> list[list[Spot]]:
    """What a member took up, batch by batch."""
    batches = [line.facts["records"] for line in lines if line.event == "polled"]
    return [[Spot(partition, offset, message_id) for message_id, partition, offset in batch] for batch in batches]


def payments(lines: Iterable[TruthLine]) -> list[Payment]:
    """What a member of payments-service processed, whether or not it committed it."""
    records = [record for line in lines if line.event == "processed" for record in line.facts["records"]]
    return [
        Payment(Spot(source, source_offset, message_id), Spot(sink, sink_offset, message_id))
        for message_id, source, source_offset, sink, sink_offset in records
    ]


def producer_id(lines: Iterable[TruthLine]) -> int | None:
    """The producer id a process wrote down, if it lived long enough to learn it."""
    return next((int(line.facts["producer_id"]) for line in lines if line.event == "producer"), None)


def member_id(lines: Iterable[TruthLine]) -> str:
    """The member id the coordinator knew the process by."""
    return str([line for line in lines if line.event == "assigned"][-1].facts["member_id"])


def assignment(lines: Iterable[TruthLine]) -> list[int]:
    """The partitions the process owned last."""
    changes = [line for line in lines if line.event in ("assigned", "revoked", "lost")]
    return list(changes[-1].facts["partitions"]) if changes and changes[-1].event == "assigned" else []


def owned_partitions(lines: list[TruthLine]) -> list[int]:
    """What a member owns and has committed for since; empty while a rebalance is not over."""
    events = [line.event for line in lines if line.event in ("assigned", "revoked", "lost", "committed")]
    return assignment(lines) if events[-1:] == ["committed"] else []


def places(spots: Iterable[Spot]) -> dict[str, list[int]]:
    """Message id to partition and offset, as it is written down."""
    return {spot.message_id: [spot.partition, spot.offset] for spot in spots}
