"""The log of each key as its clients know it, and the order of its values."""

from collections.abc import Mapping
from dataclasses import dataclass

from lab.checker.history import History, Key, Operation, Outcome, Value


@dataclass(frozen=True, slots=True)
class KnownLog:
    """What is known to be stored under one key. `values_at`: by offset, ascending, each with its values as first seen.

    Offsets of which nothing is known take no place: indices are dense.
    """

    values_at: Mapping[int, tuple[Value, ...]]

    def offsets_of(self) -> dict[Value, list[int]]:
        """Where each value is stored."""
        found: dict[Value, list[int]] = {}
        for offset, values in self.values_at.items():
            for value in values:
                found.setdefault(value, []).append(offset)
        return found

    def first_index(self) -> dict[Value, int]:
        """The first dense index at which each value is stored."""
        return {value: index for index, value in reversed(list(self._indexed()))}

    def last_index(self) -> dict[Value, int]:
        """The last dense index at which each value is stored."""
        return {value: index for index, value in self._indexed()}

    def version_order(self) -> list[Value]:
        """The values by their last index."""
        last = self.last_index()
        return sorted(last, key=lambda value: last[value])

    def _indexed(self) -> list[tuple[int, Value]]:
        return [(index, value) for index, values in enumerate(self.values_at.values()) for value in values]


def known_logs(history: History) -> dict[Key, KnownLog]:
    """From the sends that count, and from every poll, whatever became of it: a record that was read is there."""
    found: dict[Key, dict[int, dict[Value, None]]] = {}
    for operation, is_committed in zip(history, committed(history), strict=True):
        for key, records in [*(operation.sent().items() if is_committed else ()), *operation.polled().items()]:
            for record in records:
                if record.offset is not None:
                    found.setdefault(key, {}).setdefault(record.offset, {})[record.value] = None
    return {key: KnownLog({offset: tuple(at[offset]) for offset in sorted(at)}) for key, at in found.items()}


def committed(history: History) -> list[bool]:
    """Whether each operation's sends happened: acknowledged, or one of its values was read by an operation that was."""
    read = {
        (key, record.value)
        for operation in history
        if operation.outcome is Outcome.OK
        for key, records in operation.polled().items()
        for record in records
    }
    return [_is_committed(operation, read) for operation in history]


def _is_committed(operation: Operation, read: set[tuple[Key, Value]]) -> bool:
    if operation.outcome is Outcome.INFO:
        return any((send.key, send.record.value) in read for send in operation.sends())
    return operation.outcome is Outcome.OK
