"""Anomalies of what is stored and read, wherever and by whom: each a pure function from a history to its findings."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lab.checker.history import History, Key, Outcome, Process, Value
from lab.checker.version_order import committed, known_logs


@dataclass(frozen=True, slots=True)
class InconsistentOffset:
    """One offset with several values."""

    key: Key
    index: int
    offset: int
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Duplicate:
    """One value at several offsets."""

    key: Key
    value: Value
    offsets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LostWrite:
    """A value that counts as written and that nobody read, though something after it was read."""

    key: Key
    value: Value
    index: int
    max_read_index: int


@dataclass(frozen=True, slots=True)
class AbortedRead:
    """G1a: a value was read whose writer is known to have failed."""

    key: Key
    value: Value
    writer: Process
    reader: Process


@dataclass(frozen=True, slots=True)
class PrecommittedRead:
    """An operation read a value that it sent itself."""

    key: Key
    value: Value


def inconsistent_offsets(history: History) -> Iterator[InconsistentOffset]:
    for key, log in known_logs(history).items():
        for index, (offset, values) in enumerate(log.values_at.items()):
            if len(values) > 1:
                yield InconsistentOffset(key, index, offset, values)


def duplicates(history: History) -> Iterator[Duplicate]:
    """Reading one offset again is none."""
    for key, log in known_logs(history).items():
        for value, offsets in log.offsets_of().items():
            if len(offsets) > 1:
                yield Duplicate(key, value, tuple(offsets))


def lost_writes(history: History) -> Iterator[LostWrite]:
    read, written = read_values(history), set(_written(history))
    for key, log in known_logs(history).items():
        first, last = log.first_index(), log.last_index()
        furthest = max((first[value] for value in first if (key, value) in read), default=-1)
        for value, index in last.items():
            if index <= furthest and (key, value) in written and (key, value) not in read:
                yield LostWrite(key, value, index, furthest)


def unseen(history: History) -> dict[Key, list[Value]]:
    """Acknowledged values that nobody has polled so far, for every key that was acknowledged anything."""
    read = read_values(history)
    found: dict[Key, list[Value]] = {}
    for operation in history:
        if operation.outcome is Outcome.OK:
            for send in operation.sends():
                values = found.setdefault(send.key, [])
                if (send.key, send.record.value) not in read:
                    values.append(send.record.value)
    return found


def aborted_reads(history: History) -> Iterator[AbortedRead]:
    """A value that was sent again after it was aborted, which no history of Jepsen's has, may be the later one."""
    sent_again = {
        (send.key, send.record.value)
        for operation in history
        if operation.outcome is not Outcome.FAIL
        for send in operation.sends()
    }
    failed = {
        (send.key, send.record.value): operation.process
        for operation in history
        if operation.outcome is Outcome.FAIL
        for send in operation.sends()
        if (send.key, send.record.value) not in sent_again
    }
    for operation in history:
        for key, records in operation.polled().items() if operation.outcome is Outcome.OK else ():
            for record in records:
                if (key, record.value) in failed:
                    yield AbortedRead(key, record.value, failed[key, record.value], operation.process)


def precommitted_reads(history: History) -> Iterator[PrecommittedRead]:
    for operation in history:
        own = {(send.key, send.record.value) for send in operation.sends()}
        for key, records in operation.polled().items():
            yield from (PrecommittedRead(key, each.value) for each in records if (key, each.value) in own)


def read_values(history: History) -> set[tuple[Key, Value]]:
    """What anybody polled, whatever became of the operation."""
    return {
        (key, record.value)
        for operation in history
        for key, records in operation.polled().items()
        for record in records
    }


def _written(history: History) -> Iterable[tuple[Key, Value]]:
    for operation, is_committed in zip(history, committed(history), strict=True):
        if is_committed:
            yield from ((send.key, send.record.value) for send in operation.sends())
