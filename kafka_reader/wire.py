"""Kafka's primitive types read from bytes, and the layout of an answer kept for the next one.

Protocol guide: "Protocol Primitive Types" (flexible versions, KIP-482).
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kafka_reader.errors import UnreadableAnswerError

Positions = NDArray[np.int64]

_INT16, _INT32, _INT64 = struct.Struct(">h"), struct.Struct(">i"), struct.Struct(">q")


class Reader:
    """Walks over the bytes of one answer. Raises UnreadableAnswerError where they end too early or mean nothing."""

    def __init__(self, data: bytes | memoryview) -> None:
        self.data = data
        self.position = 0

    def skip(self, size: int) -> int:
        """Where the next `size` bytes begin; goes on behind them."""
        start = self.position
        if size < 0 or start + size > len(self.data):
            raise UnreadableAnswerError(f"the answer ends at byte {len(self.data)}, in the middle of a field")
        self.position = start + size
        return start

    def taken(self, size: int) -> memoryview:
        """The next `size` bytes, where they lie."""
        start = self.skip(size)
        return memoryview(self.data)[start : start + size]

    def int16(self) -> int:
        value: int = _INT16.unpack_from(self.data, self.skip(2))[0]
        return value

    def int32(self) -> int:
        value: int = _INT32.unpack_from(self.data, self.skip(4))[0]
        return value

    def int64(self) -> int:
        value: int = _INT64.unpack_from(self.data, self.skip(8))[0]
        return value

    def unsigned(self) -> int:
        """A variable-length number of at most five bytes."""
        value = 0
        for shift in range(0, 35, 7):
            byte = self.data[self.skip(1)]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise UnreadableAnswerError(f"no number ends before byte {self.position}")

    def count(self) -> int:
        """Of a compact array; a null one has no elements. Each takes a byte at least."""
        number = max(0, self.unsigned() - 1)
        if number > len(self.data) - self.position:
            raise UnreadableAnswerError(f"the answer is too short for {number:,} elements")
        return number

    def text(self) -> str | None:
        """A compact string, None where it is null."""
        size = self.unsigned() - 1
        if size < 0:
            return None
        start = self.skip(size)
        try:
            return str(self.data[start : start + size], "utf-8")
        except UnicodeDecodeError as exc:
            raise UnreadableAnswerError(f"no text at byte {start}") from exc

    def name(self) -> str:
        """A compact string that may not be null."""
        text = self.text()
        if text is None:
            raise UnreadableAnswerError(f"a name is missing at byte {self.position}")
        return text

    def skip_tags(self) -> None:
        """Tagged fields: what a later version of Kafka may add."""
        for _ in range(self.unsigned()):
            self.unsigned()
            self.skip(self.unsigned())


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """The bytes of an answer in which only known fields may differ from the next one of the same layout."""

    fixed: NDArray[np.uint8]
    mask: NDArray[np.uint8]

    def fits(self, data: bytes) -> bool:
        """Whether nothing but the known fields differs."""
        return len(data) == len(self.fixed) and np.array_equal(_bytes(data) & self.mask, self.fixed)


def frame(data: bytes, fields: Sequence[tuple[Positions, int]]) -> Frame:
    """`fields` are what may differ: where, and how many bytes each."""
    mask = np.full(len(data), 0xFF, np.uint8)
    for positions, size in fields:
        for byte in range(size):
            mask[positions + byte] = 0
    return Frame(_bytes(data) & mask, mask)


def gathered(data: bytes, positions: Positions, kind: str) -> NDArray[Any]:
    """Big-endian numbers ("i2", "i4", "i8") at these positions, which the layout has proven to lie inside."""
    wire = np.dtype(f">{kind}")
    if not len(positions):
        return np.empty(0, kind)
    everywhere = np.ndarray((len(data) - wire.itemsize + 1,), wire, data, strides=(1,))
    return everywhere[positions].astype(kind)


def _bytes(data: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(data, np.uint8)
