"""What batches hold after their headers, decompressed and side by side in one buffer."""

from collections.abc import Sequence

import numpy as np

from kafka_reader.batch_headers import HEADER_BYTES, BatchHeader, CorruptBatchError
from kafka_reader.codecs import Codec, CodecError, decompress
from kafka_reader.records import PADDING_BYTES, Bytes, Ints


def bodies_of(view: memoryview, headers: Sequence[BatchHeader], max_bytes: int) -> list[Bytes]:
    """What each batch decompresses to; the cap is for all of them together."""
    bodies: list[Bytes] = []
    for header in headers:
        bodies.append(_body(view, header, max_bytes))
        max_bytes -= len(bodies[-1])
    return bodies


def in_one_buffer(
    blob: bytes | memoryview, headers: Sequence[BatchHeader], bodies: Sequence[Bytes]
) -> tuple[Bytes, Ints]:
    """The bodies and where each begins: in the blob itself where it holds them as they are and enough follows them."""
    if headers and all(header.codec == Codec.NONE for header in headers):
        starts = np.array([header.position + HEADER_BYTES for header in headers], dtype=np.int64)
        if headers[-1].position + headers[-1].size_bytes + PADDING_BYTES <= len(blob):
            return np.frombuffer(blob, dtype=np.uint8), starts
    buffer = np.concatenate([*bodies, np.zeros(PADDING_BYTES, dtype=np.uint8)])
    sizes = np.array([len(body) for body in bodies], dtype=np.int64)
    return buffer, np.cumsum(sizes) - sizes


def _body(view: memoryview, header: BatchHeader, max_bytes: int) -> Bytes:
    data = view[header.position + HEADER_BYTES : header.position + header.size_bytes]
    if not header.records:
        return np.empty(0, dtype=np.uint8)
    try:
        return decompress(header.codec, data, max_bytes)
    except CodecError as exc:
        raise CorruptBatchError(f"the batch at offset {header.base_offset}: {exc}") from exc
