"""Headers of record batches of the current format (magic 2), as a Fetch answer carries them; payloads stay untouched.

The CRC of a batch is checked before anything is claimed about it. A last batch that is cut short is ignored: brokers
cut answers anywhere. Layout: DefaultRecordBatch of Apache Kafka (KIP-98).
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from crc32c import crc32c

HEADER_BYTES = 61
_HEADER = struct.Struct(">qiibIhiqqqhii")
_LENGTH_AT = 8
_LENGTH_COUNTS_FROM = 12
_MAGIC_AT = 16
_CRC_COUNTS_FROM = 21
_MAGIC = 2


class CorruptBatchError(Exception):
    """The bytes are not a record batch of the current format: nothing is claimed about them."""


@dataclass(frozen=True, slots=True)
class BatchHeader:
    """The 61 bytes in front of a batch. `size_bytes` is the whole batch, `position` where it starts in the blob.

    Producer id, epoch and base sequence are −1 where the batch has none. `records` is 0 in a batch that compaction
    emptied: it stays to explain the gap and to keep the producer's last sequence.
    """

    position: int
    size_bytes: int
    base_offset: int
    leader_epoch: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp_ms: int
    max_timestamp_ms: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    records: int

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        """The first offset after the batch: compaction may have removed the batch's last records."""
        return self.last_offset + 1

    @property
    def codec(self) -> int:
        return self.attributes & 0x07

    @property
    def is_log_append_time(self) -> bool:
        return bool(self.attributes & 0x08)

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & 0x10)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & 0x20)


def batch_headers(blob: bytes | memoryview) -> list[BatchHeader]:
    """One entry per complete batch, control and empty ones included; nothing is decompressed.

    Raises CorruptBatchError for a wrong CRC, an impossible length or an old format (magic 0 and 1).
    """
    return list(_walk(memoryview(blob)))


def _walk(view: memoryview) -> Iterator[BatchHeader]:
    position = 0
    while len(view) - position > _MAGIC_AT:
        if (magic := view[position + _MAGIC_AT]) != _MAGIC:
            raise CorruptBatchError(f"a batch has format {magic}; only format 2 (Kafka 0.11 and later) can be read")
        (length,) = struct.unpack_from(">i", view, position + _LENGTH_AT)
        end = position + _LENGTH_COUNTS_FROM + length
        if length < HEADER_BYTES - _LENGTH_COUNTS_FROM:
            raise CorruptBatchError(f"a batch announces {length} bytes, less than its header")
        if end > len(view):
            return  # cut short by the broker
        yield _header(view, position, end)
        position = end


def _header(view: memoryview, position: int, end: int) -> BatchHeader:
    base_offset, length, leader_epoch, _, crc, *rest = _HEADER.unpack_from(view, position)
    header = BatchHeader(position, length + _LENGTH_COUNTS_FROM, base_offset, leader_epoch, crc, *rest)
    if crc32c(view[position + _CRC_COUNTS_FROM : end]) != crc:
        raise CorruptBatchError(f"the batch at offset {base_offset} does not match its CRC")
    if base_offset < 0 or header.last_offset_delta < 0 or header.records < 0:
        raise CorruptBatchError(f"the batch at offset {base_offset} has a negative offset, length or count")
    return header
