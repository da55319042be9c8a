"""Record batches made by kafka-python's own builder, finished and compressed independently of the code under test."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from crc32c import crc32c
from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder

HEADER = struct.Struct(">qiibIhiqqqhii")
TRANSACTIONAL, CONTROL, LOG_APPEND_TIME = 0x10, 0x20, 0x08
NONE, GZIP, SNAPPY, LZ4, ZSTD = range(5)
ABORT_KEY, COMMIT_KEY = bytes([0, 0, 0, 0]), bytes([0, 0, 0, 1])
XERIAL_HEADER = b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1)


@dataclass(frozen=True)
class Sent:
    """What matters of a record in a test."""

    key: bytes | None = None
    value: bytes | None = b"value"
    headers: tuple[tuple[str, bytes | None], ...] = ()
    timestamp_ms: int = 1_700_000_000_000
    offset_delta: int | None = None


def batch(
    records: Sequence[Sent],
    *,
    base_offset: int = 0,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    attributes: int = 0,
    codec: int = NONE,
    leader_epoch: int = 7,
    last_offset_delta: int | None = None,
    xerial: bool = False,
) -> bytes:
    """One batch as a broker would send it."""
    builder = DefaultRecordBatchBuilder(
        magic=2,
        compression_type=NONE,
        is_transactional=False,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        batch_size=2**31,
    )
    for number, sent in enumerate(records):
        delta = number if sent.offset_delta is None else sent.offset_delta
        builder.append(delta, sent.timestamp_ms, sent.key, sent.value, list(sent.headers))
    built = bytes(builder.build())
    fields = list(HEADER.unpack_from(built))
    payload = _compressed(built[HEADER.size :], codec, xerial)
    fields[0], fields[2], fields[5] = base_offset, leader_epoch, attributes | codec
    if last_offset_delta is not None:
        fields[6] = last_offset_delta
    return seal(fields, payload)


def seal(fields: Sequence[int], payload: bytes) -> bytes:
    """Header and payload with a fitting length and CRC."""
    fields = list(fields)
    fields[1], fields[4] = HEADER.size - 12 + len(payload), 0
    fields[4] = crc32c(HEADER.pack(*fields)[21:] + payload)
    return HEADER.pack(*fields) + payload


def marker(key: bytes, *, base_offset: int, producer_id: int) -> bytes:
    """A control batch of one record: the end of a transaction."""
    return batch(
        [Sent(key=key, value=b"\x00\x00\x00\x00\x00\x00")],
        base_offset=base_offset,
        producer_id=producer_id,
        producer_epoch=0,
        attributes=TRANSACTIONAL | CONTROL,
    )


def kafka_python_records(blob: bytes) -> list:
    """Every record of a run of uncompressed batches as kafka-python's own decoder reads it, with its batch."""
    found, at = [], 0
    while at < len(blob):
        whole = DefaultRecordBatch(blob[at : at + 12 + struct.unpack_from(">i", blob, at + 8)[0]])
        assert whole.validate_crc()
        at += whole.size_in_bytes
        found.extend((whole, record) for record in whole)
    return found


def _compressed(payload: bytes, codec: int, xerial: bool) -> bytes:
    if codec == NONE:
        return payload
    if codec == SNAPPY and xerial:
        blocks = [payload[at : at + 1000] for at in range(0, len(payload), 1000)]
        packed = [pa.compress(block, "snappy", asbytes=True) for block in blocks]
        return XERIAL_HEADER + b"".join(struct.pack(">i", len(block)) + block for block in packed)
    return pa.compress(payload, {GZIP: "gzip", SNAPPY: "snappy", LZ4: "lz4", ZSTD: "zstd"}[codec], asbytes=True)
