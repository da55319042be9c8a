"""ListOffsets answers (v7) as columns, without an object for each partition (ListOffsetsResponse.json)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from guarantees.places import TopicPartition
from kafka_reader.wire import Frame, Positions, Reader, frame, gathered

# Of a row without tags: partition 4, error 2, timestamp 8, offset 8, leader epoch 4, tags 1.
PLAIN_ROW_BYTES = 27
_ERROR, _OFFSET, _EPOCH, _TAGS = 4, 14, 22, 26
_CHANGING = (_ERROR, _TAGS - _ERROR)

NOT_NAMED = -1
_NOTHING = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class OffsetLayout:
    """Where the rows of an answer begin; `rows` gives for each partition asked about its row, or NOT_NAMED."""

    frame: Frame
    starts: Positions
    rows: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class OffsetColumns:
    """The answer for each partition asked about, in that order, as the broker gave it; zeros where not named."""

    is_named: NDArray[np.bool_]
    offset: NDArray[np.int64]
    leader_epoch: NDArray[np.int32]
    error_code: NDArray[np.int16]


def decode(
    data: bytes, asked: Sequence[TopicPartition], known: OffsetLayout | None
) -> tuple[OffsetColumns, OffsetLayout]:
    """`known` is the layout of the last answer to the same question. Raises UnreadableAnswerError."""
    layout = known if known is not None and known.frame.fits(data) else parse_layout(data, asked)
    is_named = layout.rows != NOT_NAMED
    starts = layout.starts[layout.rows[is_named]]
    columns = OffsetColumns(
        is_named,
        _spread(gathered(data, starts + _OFFSET, "i8"), is_named),
        _spread(gathered(data, starts + _EPOCH, "i4"), is_named),
        _spread(gathered(data, starts + _ERROR, "i2"), is_named),
    )
    return columns, layout


def parse_layout(data: bytes, asked: Sequence[TopicPartition]) -> OffsetLayout:
    """Field by field, but for rows without tags, which are taken together. `asked` is sorted."""
    reader = Reader(data)
    reader.int32()  # throttle time
    found: dict[str, list[Positions]] = {}
    starts, first = [_NOTHING], 0
    for _ in range(reader.count()):
        topic, its_starts = reader.name(), _rows(reader, reader.count())
        reader.skip_tags()
        found.setdefault(topic, []).append(np.arange(first, first + len(its_starts)))
        starts.append(its_starts)
        first += len(its_starts)
    reader.skip_tags()
    all_starts = np.concatenate(starts)
    partition = gathered(data, all_starts, "i4")
    rows = [
        _rows_of(np.concatenate([_NOTHING, *found.get(topic, [])]), partition, [each.partition for each in its])
        for topic, its in groupby(asked, lambda each: each.topic)
    ]
    start, size = _CHANGING
    return OffsetLayout(frame(data, [(all_starts + start, size)]), all_starts, np.concatenate([_NOTHING, *rows]))


def _rows_of(rows: NDArray[np.int64], partition: NDArray[np.int32], asked: list[int]) -> NDArray[np.int64]:
    """Where the partitions of one topic are in the answer; brokers mostly answer in the order of the question."""
    given = partition[rows].tolist()
    if given == asked:
        return rows
    row_of = dict(zip(given, rows.tolist(), strict=True))
    return np.array([row_of.get(each, NOT_NAMED) for each in asked], np.int64)


def _rows(reader: Reader, number: int) -> Positions:
    start, stop = reader.position, reader.position + number * PLAIN_ROW_BYTES
    if stop <= len(reader.data) and not any(reader.data[start + _TAGS : stop : PLAIN_ROW_BYTES]):
        return reader.skip(stop - start) + PLAIN_ROW_BYTES * np.arange(number, dtype=np.int64)
    starts = []
    for _ in range(number):
        starts.append(reader.skip(_TAGS))
        reader.skip_tags()
    return np.array(starts, np.int64)


def _spread(values: NDArray, is_named: NDArray[np.bool_]) -> NDArray:
    if is_named.all():
        return values
    spread = np.zeros(len(is_named), values.dtype)
    spread[is_named] = values
    return spread
