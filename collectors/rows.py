"""How observed values become columns."""

import json
from collections.abc import Iterable, Sequence

import pyarrow as pa

from guarantees.places import TopicPartition
from guarantees.unknown import Unknown

Row = dict[str, object]
# Where there are many, columns without a value for each.
Rows = Sequence[Row] | pa.Table


def known_or_reason(name: str, value: int | Unknown | None, *, absent: str = "not asked") -> Row:
    """The column and its `_unknown` beside it; `absent` is the reason written for None."""
    if isinstance(value, Unknown):
        return {name: None, f"{name}_unknown": value.reason}
    return {name: value, f"{name}_unknown": absent if value is None else None}


def partitions_json(partitions: Iterable[TopicPartition] | None) -> str | None:
    """Sorted, so that equal sets are equal text."""
    return None if partitions is None else json.dumps([[part.topic, part.partition] for part in sorted(partitions)])
