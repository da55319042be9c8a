"""OffsetFetch answers (v8 and v9) as columns, without an object for each commit (OffsetFetchResponse.json)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kafka_reader.wire import Frame, Positions, Reader, frame, gathered

# Of a row without metadata: partition 4, offset 8, leader epoch 4, metadata 1, error 2, tags 1.
PLAIN_ROW_BYTES = 20
_OFFSET, _METADATA, _ERROR, _TAGS = 4, 16, 17, 19
# The length of a metadata text that is null or empty.
_NO_METADATA = b"\x00\x01"


class Span(NamedTuple):
    """The rows of one topic: from `start`, up to `stop`."""

    topic: str
    start: int
    stop: int


class GroupSpans(NamedTuple):
    """The rows of one group, topic by topic."""

    group_id: str
    error_code: int
    topics: tuple[Span, ...]


@dataclass(frozen=True, slots=True, eq=False)
class CommitLayout:
    """Where everything lies in an answer, and what does not change from one answer of this layout to the next."""

    frame: Frame
    groups: Mapping[str, GroupSpans]
    partition: NDArray[np.int32]
    offset_at: Positions
    error_at: Positions


@dataclass(frozen=True, slots=True, eq=False)
class CommitColumns:
    """All commits of an answer as the coordinator gave them: offset −1 says none, epoch −1 unknown."""

    layout: CommitLayout
    committed_offset: NDArray[np.int64]
    leader_epoch: NDArray[np.int32]
    error_code: NDArray[np.int16]


def decode(data: bytes, known: CommitLayout | None) -> CommitColumns:
    """`known` is the layout of the last answer to the same question. Raises UnreadableAnswerError."""
    layout = known if known is not None and known.frame.fits(data) else parse_layout(data)
    return CommitColumns(
        layout,
        gathered(data, layout.offset_at, "i8"),
        gathered(data, layout.offset_at + 8, "i4"),
        gathered(data, layout.error_at, "i2"),
    )


def parse_layout(data: bytes) -> CommitLayout:
    """Field by field, but for rows of the common form, which are taken together."""
    reader = Reader(data)
    reader.int32()  # throttle time
    rows = _Rows()
    groups = [_group(reader, rows) for _ in range(reader.count())]
    reader.skip_tags()
    starts, error_at = rows.positions()
    offset_at = starts + _OFFSET
    return CommitLayout(
        frame(data, [(offset_at, 12), (error_at, 2)]),
        {group.group_id: group for group in groups},
        gathered(data, starts, "i4"),
        offset_at,
        error_at,
    )


class _Rows:
    """Where rows begin and where their errors are, in the order of the answer."""

    def __init__(self) -> None:
        self.number = 0
        self._starts: list[Positions] = []
        self._errors: list[Positions] = []

    def add(self, starts: Positions, errors: Positions) -> None:
        self.number += len(starts)
        self._starts.append(starts)
        self._errors.append(errors)

    def positions(self) -> tuple[Positions, Positions]:
        nothing = np.empty(0, np.int64)
        return np.concatenate([nothing, *self._starts]), np.concatenate([nothing, *self._errors])


def _group(reader: Reader, rows: _Rows) -> GroupSpans:
    group_id = reader.name()
    topics = tuple(_topic(reader, rows) for _ in range(reader.count()))
    error_code = reader.int16()
    reader.skip_tags()
    return GroupSpans(group_id, error_code, topics)


def _topic(reader: Reader, rows: _Rows) -> Span:
    topic, number, start = reader.name(), reader.count(), rows.number
    if _are_plain(reader.data, reader.position, number):
        starts = reader.skip(number * PLAIN_ROW_BYTES) + PLAIN_ROW_BYTES * np.arange(number, dtype=np.int64)
        rows.add(starts, starts + _ERROR)
    else:
        pairs = np.array(list(_walked(reader, number)), np.int64)
        rows.add(pairs[:, 0], pairs[:, 1])
    reader.skip_tags()
    return Span(topic, start, rows.number)


def _are_plain(data: bytes, start: int, number: int) -> bool:
    """No row has metadata or tags: each then begins 20 bytes after the one before, so the check proves itself."""
    stop = start + number * PLAIN_ROW_BYTES
    if stop > len(data):
        return False
    metadata, tags = data[start + _METADATA : stop : PLAIN_ROW_BYTES], data[start + _TAGS : stop : PLAIN_ROW_BYTES]
    return not metadata.translate(None, _NO_METADATA) and not any(tags)


def _walked(reader: Reader, number: int) -> Iterator[tuple[int, int]]:
    for _ in range(number):
        start = reader.skip(_METADATA)
        reader.skip(max(0, reader.unsigned() - 1))  # metadata: the group's own words, of no use here
        yield start, reader.skip(2)
        reader.skip_tags()
