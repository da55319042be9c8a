"""What clients did, as Jepsen writes it down: completed operations, in order."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

# A partition, in whatever way its owner names it. Every value is unique within one.
Key = Any
Value = Hashable
Process = Hashable


class Outcome(StrEnum):
    """How an operation ended."""

    OK = "ok"  # acknowledged
    FAIL = "fail"  # known not to have happened
    INFO = "info"  # nobody knows


@dataclass(frozen=True, slots=True)
class Record:
    """A value and where it is stored; `offset` is None where the client was not told."""

    offset: int | None
    value: Value


@dataclass(frozen=True, slots=True)
class Send:
    key: Key
    record: Record


@dataclass(frozen=True, slots=True)
class Poll:
    """What one poll returned, in its order."""

    records_by_key: Mapping[Key, Sequence[Record]]


@dataclass(frozen=True, slots=True)
class Operation:
    """Sends and polls that happened together. `process` is a logical client: positions are compared within one.

    `keys`: the new set of an assign or a subscribe; None where it is neither.
    """

    process: Process
    outcome: Outcome
    actions: tuple[Send | Poll, ...] = ()
    keys: frozenset[Key] | None = None

    def sends(self) -> Iterator[Send]:
        return (action for action in self.actions if isinstance(action, Send))

    def polls(self) -> Iterator[Poll]:
        return (action for action in self.actions if isinstance(action, Poll))

    def sent(self) -> dict[Key, list[Record]]:
        """What it sent, by key."""
        found: dict[Key, list[Record]] = {}
        for send in self.sends():
            found.setdefault(send.key, []).append(send.record)
        return found

    def polled(self) -> dict[Key, list[Record]]:
        """What it polled, by key, over all its polls."""
        found: dict[Key, list[Record]] = {}
        for poll in self.polls():
            for key, records in poll.records_by_key.items():
                found.setdefault(key, []).extend(records)
        return found


History = Sequence[Operation]
