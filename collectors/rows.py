"""How observed values become columns."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import pyarrow as pa

from guarantees.observations import Task, Tasks
from guarantees.places import TopicPartition
from guarantees.unknown import Unknown

Row = dict[str, object]
# Where there are many, columns without a value for each.
Rows: TypeAlias = Sequence[Row] | pa.Table

# How they are made, by table.
Makers: TypeAlias = Mapping[str, Callable[[], Rows]]


class RowsOnDemand(Mapping[str, Rows]):
    """Rows by table, made each time they are asked for: of a large cluster only one table's need be there at a time."""

    def __init__(self, makers: Makers) -> None:
        self._makers = makers

    def __getitem__(self, table: str) -> Rows:
        return self._makers[table]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


def known_or_reason(name: str, value: int | Unknown | None, *, absent: str = "not asked") -> Row:
    """The column and its `_unknown` beside it; `absent` is the reason written for None."""
    if isinstance(value, Unknown):
        return {name: None, f"{name}_unknown": value.reason}
    return {name: value, f"{name}_unknown": absent if value is None else None}


def partitions_json(partitions: Iterable[TopicPartition] | None) -> str | None:
    """Sorted, so that equal sets are equal text."""
    return None if partitions is None else json.dumps([[part.topic, part.partition] for part in sorted(partitions)])


def tasks_json(tasks: Tasks | None) -> str | None:
    """Sorted, as `partitions_json`."""
    if tasks is None:
        return None
    return json.dumps({name: _listed(getattr(tasks, name)) for name in ("active", "standby", "warm_up")})


def _listed(tasks: Iterable[Task]) -> list[list[object]]:
    return [[task.subtopology_id, task.partition] for task in sorted(tasks)]
