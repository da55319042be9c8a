"""Columns of the store from numbers and names, without a row for each value."""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from guarantees.unknown import Unknown

Flags = NDArray[np.bool_]


def texts(names: Sequence[str | None], numbers: NDArray[np.int64]) -> pa.Array:
    """The name of each number; the names are many times fewer than the rows."""
    return pa.array(names, pa.string()).take(pa.array(numbers))


def numbers_or_null(values: NDArray[np.int64] | NDArray[np.int32], is_null: Flags) -> pa.Array:
    return pa.array(values, mask=is_null)


def reasons(size: int, unknown: Mapping[int, Unknown | None], *, absent: str) -> pa.Array:
    """Why rows are unknown, null where they are known; `absent` stands for None."""
    if not unknown:
        return pa.nulls(size, pa.string())
    words = {row: absent if why is None else why.reason for row, why in unknown.items()}
    number_of = {word: number for number, word in enumerate(dict.fromkeys(words.values()))}
    numbers, is_known = np.zeros(size, np.int64), np.ones(size, np.bool_)
    rows = np.fromiter(words, np.int64, len(words))
    numbers[rows] = np.fromiter((number_of[word] for word in words.values()), np.int64, len(words))
    is_known[rows] = False
    return pa.array(list(number_of), pa.string()).take(pa.array(numbers, mask=is_known))


def few_values(values: NDArray[np.int64]) -> list[int]:
    """As Python's numbers, one for all that are equal: times of a handful of answers beside thousands of rows."""
    few: dict[int, int] = {}
    return [few.setdefault(value, value) for value in values.tolist()]


def flags(size: int, rows: Sequence[int]) -> Flags:
    """True in these rows."""
    found = np.zeros(size, np.bool_)
    found[list(rows)] = True
    return found


def repeated(value: str | int | None, size: int, kind: pa.DataType) -> pa.Array:
    return pa.repeat(pa.scalar(value, kind), size)
