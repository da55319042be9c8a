"""Compression codecs of record batches (attributes bits 0-2), all by cramjam, with a cap on what comes out.

A few kilobytes can decompress to gigabytes: the output buffer grows only as far as the cap, so a hostile batch costs
at most the cap, never the machine's memory.
"""

from collections.abc import Callable, Mapping
from enum import IntEnum

import cramjam
import numpy as np
from numpy.typing import NDArray

MAX_DECOMPRESSED_BYTES = 256 * 1024 * 1024
_FIRST_BUFFER_BYTES = 64 * 1024
_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_HEADER_BYTES = len(_XERIAL_MAGIC) + 8  # followed by version and lowest compatible version, 32 bits each

Bytes = NDArray[np.uint8]


class CodecError(Exception):
    """A batch cannot be decompressed: unknown codec, damaged data, or more than the cap."""


class Codec(IntEnum):
    """As in the batch attributes."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


def decompress(codec: int, data: memoryview, max_bytes: int = MAX_DECOMPRESSED_BYTES) -> Bytes:
    """The bytes of all records of a batch; raises CodecError for anything that is not exactly that."""
    try:
        return _DECOMPRESS[Codec(codec)](data, max_bytes)
    except ValueError as exc:
        raise CodecError(f"unknown compression codec {codec}") from exc
    except cramjam.DecompressionError as exc:
        raise CodecError(f"{Codec(codec).name.lower()}: {exc}") from exc


def _stored(data: memoryview, max_bytes: int) -> Bytes:
    if len(data) > max_bytes:
        raise CodecError(f"{len(data)} bytes of records are more than the cap of {max_bytes}")
    return np.frombuffer(data, dtype=np.uint8)


def _streamed(decompress_into: Callable[[memoryview, Bytes], int]) -> Callable[[memoryview, int], Bytes]:
    """For formats that do not say reliably how large their content is: a growing buffer."""

    def decompress_stream(data: memoryview, max_bytes: int) -> Bytes:
        size = min(max_bytes, max(_FIRST_BUFFER_BYTES, 4 * len(data)))
        while True:
            buffer = np.empty(size, dtype=np.uint8)
            try:
                return buffer[: decompress_into(data, buffer)]
            except cramjam.DecompressionError as exc:
                if "whole buffer" not in str(exc):
                    raise
            if size >= max_bytes:
                raise CodecError(f"records decompress to more than the cap of {max_bytes} bytes")
            size = min(max_bytes, 4 * size)

    return decompress_stream


def _snappy(data: memoryview, max_bytes: int) -> Bytes:
    """Raw snappy (librdkafka), or the blocks of the xerial frame (Java, kafka-python)."""
    if bytes(data[: len(_XERIAL_MAGIC)]) != _XERIAL_MAGIC:
        return _snappy_block(data, max_bytes)
    blocks: list[Bytes] = []
    position, left = _XERIAL_HEADER_BYTES, max_bytes
    while position < len(data):
        size = int.from_bytes(data[position : position + 4], "big", signed=True)
        position += 4
        if size < 0 or position + size > len(data):
            raise CodecError("snappy: a block ends beyond the batch")
        blocks.append(_snappy_block(data[position : position + size], left))
        position, left = position + size, left - len(blocks[-1])
    return np.concatenate(blocks) if blocks else np.empty(0, dtype=np.uint8)


def _snappy_block(data: memoryview, max_bytes: int) -> Bytes:
    size = cramjam.snappy.decompress_raw_len(data)
    if size > max_bytes:
        raise CodecError(f"records decompress to more than the cap of {max_bytes} bytes")
    buffer = np.empty(size, dtype=np.uint8)
    return buffer[: cramjam.snappy.decompress_raw_into(data, buffer)]


_DECOMPRESS: Mapping[Codec, Callable[[memoryview, int], Bytes]] = {
    Codec.NONE: _stored,
    Codec.GZIP: _streamed(cramjam.gzip.decompress_into),
    Codec.SNAPPY: _snappy,
    Codec.LZ4: _streamed(cramjam.lz4.decompress_into),
    Codec.ZSTD: _streamed(cramjam.zstd.decompress_into),
}
