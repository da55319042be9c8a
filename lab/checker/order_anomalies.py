"""Anomalies of order: what one process reads or sends next to what it read or sent before."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from lab.checker.history import History, Key, Operation, Outcome, Process, Record, Value
from lab.checker.version_order import known_logs


@dataclass(frozen=True, slots=True)
class Step:
    """From one value to the next: `delta` places further in the version order, 1 where either place is not known.

    `skipped` are the known values between them.
    """

    key: Key
    values: tuple[Value, Value]
    delta: int
    skipped: tuple[Value, ...]

    @property
    def is_skip(self) -> bool:
        return self.delta > 1

    @property
    def is_backwards(self) -> bool:
        return self.delta < 1


class VersionOrders:
    """The place of every value in its key's version order."""

    def __init__(self, history: History) -> None:
        self._orders = {key: log.version_order() for key, log in known_logs(history).items()}
        self._places = {key: {value: place for place, value in enumerate(order)} for key, order in self._orders.items()}

    def step(self, key: Key, before: Value, after: Value) -> Step:
        places = self._places.get(key, {})
        if before not in places or after not in places:
            return Step(key, (before, after), 1, ())
        start, end = places[before], places[after]
        return Step(key, (before, after), end - start, tuple(self._orders[key][start + 1 : end]))


def poll_steps(history: History) -> Iterator[Step]:
    """From the last value of a process's last acknowledged poll to the first of each poll after it."""
    return _steps_between(history, Operation.polled, compared=set(Outcome), advancing={Outcome.OK})


def send_steps(history: History) -> Iterator[Step]:
    """From the last value of a process's last send that did not fail to the first of its next one."""
    happened = {Outcome.OK, Outcome.INFO}
    return _steps_between(history, Operation.sent, compared=happened, advancing=happened)


def steps_within_polls(history: History) -> Iterator[Step]:
    """Between neighbouring reads of one operation."""
    return _steps_within(history, Operation.polled)


def steps_within_sends(history: History) -> Iterator[Step]:
    """Between neighbouring sends of one operation."""
    return _steps_within(history, Operation.sent)


RecordsOf = Callable[[Operation], dict[Key, list[Record]]]


def _steps_between(
    history: History, records_of: RecordsOf, compared: set[Outcome], advancing: set[Outcome]
) -> Iterator[Step]:
    orders, last = VersionOrders(history), _Positions()
    for operation in history:
        last.keep_to(operation)
        for key, records in records_of(operation).items():
            if not records:
                continue
            before = last.of(operation.process, key)
            if before is not None and operation.outcome in compared:
                yield orders.step(key, before.value, records[0].value)
            if operation.outcome in advancing:
                last.move(operation.process, key, records[-1])


def _steps_within(history: History, records_of: RecordsOf) -> Iterator[Step]:
    orders = VersionOrders(history)
    for operation in history:
        for key, records in records_of(operation).items():
            yield from (orders.step(key, one.value, other.value) for one, other in pairwise(records))


class _Positions:
    """The last record of each process and key."""

    def __init__(self) -> None:
        self._last: dict[Process, dict[Key, Record]] = {}

    def of(self, process: Process, key: Key) -> Record | None:
        return self._last.get(process, {}).get(key)

    def move(self, process: Process, key: Key, record: Record) -> None:
        self._last.setdefault(process, {})[key] = record

    def keep_to(self, operation: Operation) -> None:
        """An assign or subscribe that did not fail keeps the positions of the keys in its new set."""
        if operation.keys is None or operation.outcome is Outcome.FAIL:
            return
        kept = self._last.get(operation.process, {})
        self._last[operation.process] = {key: kept[key] for key in kept if key in operation.keys}


def skips(steps: Iterable[Step]) -> list[Step]:
    return [step for step in steps if step.is_skip]


def backwards(steps: Iterable[Step]) -> list[Step]:
    return [step for step in steps if step.is_backwards]
