"""The fields of Kafka's own keys and values, read one after the other and never past their end.

Strings, arrays and bytes have 16- or 32-bit lengths, in flexible versions varints one above the length (KIP-482).
"""

import struct
from collections.abc import Callable
from typing import TypeVar
from uuid import UUID

T = TypeVar("T")

_INT8, _INT16, _INT32, _INT64 = struct.Struct(">b"), struct.Struct(">h"), struct.Struct(">i"), struct.Struct(">q")
_UUID_BYTES = 16
_MAX_VARINT_BYTES = 5


class MalformedError(Exception):
    """The bytes are not what their version says: nothing is claimed about them."""


class Fields:
    """A position in the bytes. `is_flexible`: lengths are varints and structures end with tagged fields."""

    def __init__(self, data: bytes, at: int = 0, *, is_flexible: bool = False) -> None:
        self._data = data
        self._at = at
        self._is_flexible = is_flexible

    def int8(self) -> int:
        return self._number(_INT8)

    def int16(self) -> int:
        return self._number(_INT16)

    def int32(self) -> int:
        return self._number(_INT32)

    def int64(self) -> int:
        return self._number(_INT64)

    def uuid(self) -> str:
        return str(UUID(bytes=self._taken(_UUID_BYTES)))

    def text(self) -> str:
        return self._decoded(self._length(_INT16))

    def nullable_text(self) -> str | None:
        length = self._length(_INT16, least=-1)
        return None if length < 0 else self._decoded(length)

    def binary(self) -> bytes:
        return self._taken(self._length(_INT32))

    def array(self, entry: Callable[["Fields"], T]) -> list[T]:
        return [entry(self) for _ in range(self._count())]

    def nullable_array(self, entry: Callable[["Fields"], T]) -> list[T]:
        """Null reads as empty."""
        return [entry(self) for _ in range(max(0, self._count(least=-1)))]

    def tags(self) -> dict[int, bytes]:
        """The tagged fields that end a structure of a flexible version; of others there are none."""
        if not self._is_flexible:
            return {}
        return {self._varint(): self._taken(self._varint()) for _ in range(self._bounded(self._varint()))}

    def end(self) -> None:
        if self._at != len(self._data):
            raise MalformedError(f"{len(self._data) - self._at} bytes follow the last field")

    def _number(self, kind: struct.Struct) -> int:
        (value,) = kind.unpack(self._taken(kind.size))
        return int(value)

    def _taken(self, size: int) -> bytes:
        if size > len(self._data) - self._at:
            raise MalformedError("a field passes the end")
        self._at += size
        return self._data[self._at - size : self._at]

    def _decoded(self, length: int) -> str:
        try:
            return self._taken(length).decode()
        except UnicodeDecodeError as exc:
            raise MalformedError("a text is not UTF-8") from exc

    def _length(self, kind: struct.Struct, least: int = 0) -> int:
        length = self._varint() - 1 if self._is_flexible else self._number(kind)
        if length < least:
            raise MalformedError("a field that may not be null is")
        return length

    def _count(self, least: int = 0) -> int:
        return self._bounded(self._length(_INT32, least))

    def _bounded(self, count: int) -> int:
        """Every entry takes a byte at least."""
        if count > len(self._data) - self._at:
            raise MalformedError("an array announces more entries than there are bytes")
        return count

    def _varint(self) -> int:
        value = 0
        for number in range(_MAX_VARINT_BYTES):
            (byte,) = self._taken(1)
            value |= (byte & 0x7F) << (7 * number)
            if byte < 0x80:
                return value
        raise MalformedError("a varint does not end")


def of_value(value: bytes, known_versions: range, flexible_from: int) -> tuple[int, Fields]:
    """The version in front of a value, and the fields behind it; raises MalformedError for one that is not known."""
    version = Fields(value).int16()
    if version not in known_versions:
        raise MalformedError(f"version {version} of its value is not known")
    return version, Fields(value, _INT16.size, is_flexible=version >= flexible_from)
