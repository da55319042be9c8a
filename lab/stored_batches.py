"""Record batches as they lie in a broker's segment files, read by the lab itself and not over the wire.

Layout: DefaultRecordBatch of Apache Kafka. The checksum covers everything from the attributes on: two batches with one
checksum carry the same records with the same times and the same producer.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_HEAD = struct.Struct(">qi")  # base offset, length of what follows
_CRC_AT, _RECORDS_AT, _HEADER_BYTES = 17, 57, 61


@dataclass(frozen=True, slots=True)
class StoredBatch:
    """One batch; offsets of a topic that was never compacted are those of its records."""

    base_offset: int
    records: int
    crc: int


def stored_batches(log_directory: Path) -> list[StoredBatch]:
    """All whole batches of a partition's log on one broker, in their order."""
    return [batch for segment in sorted(log_directory.glob("*.log")) for batch in parse_segment(segment.read_bytes())]


def parse_segment(blob: bytes) -> Iterator[StoredBatch]:
    """A segment is allocated ahead: its zeros at the end are no batch."""
    position = 0
    while position + _HEADER_BYTES <= len(blob):
        base_offset, length = _HEAD.unpack_from(blob, position)
        if length == 0 or position + _HEAD.size + length > len(blob):
            return
        (crc,) = struct.unpack_from(">I", blob, position + _CRC_AT)
        (records,) = struct.unpack_from(">i", blob, position + _RECORDS_AT)
        yield StoredBatch(base_offset, records, crc)
        position += _HEAD.size + length


def is_stored_twice(batches: list[StoredBatch], count: int) -> bool:
    """The last two batches are `count` records each, and the same ones."""
    last = batches[-2:]
    return len(last) == 2 and len({batch.crc for batch in last}) == 1 and all(each.records == count for each in last)
