"""ListOffsets requests (v7) straight as bytes: an object for each partition would cost more than the answer."""

import struct
from collections.abc import Iterable
from itertools import groupby

import numpy as np

from guarantees.places import TopicPartition

# partition, current leader epoch (not known), timestamp, no tags
_ROW = np.dtype([("partition", ">i4"), ("epoch", ">i4"), ("timestamp", ">i8"), ("tags", "u1")])
_ANY_EPOCH = -1
_NO_TAGS = b"\x00"


def body(partitions: Iterable[TopicPartition], *, replica_id: int, isolation_level: int, timestamp: int) -> bytes:
    """The request without its header (ListOffsetsRequest.json); the partitions are sorted."""
    topics = [
        (name, [part.partition for part in parts]) for name, parts in groupby(partitions, lambda part: part.topic)
    ]
    return b"".join(
        (
            struct.pack(">ib", replica_id, isolation_level),
            unsigned(len(topics) + 1),
            *(_topic(name, numbers, timestamp) for name, numbers in topics),
            _NO_TAGS,
        )
    )


def _topic(name: str, partitions: list[int], timestamp: int) -> bytes:
    rows = np.zeros(len(partitions), _ROW)
    rows["partition"], rows["epoch"], rows["timestamp"] = partitions, _ANY_EPOCH, timestamp
    text = name.encode()
    return unsigned(len(text) + 1) + text + unsigned(len(partitions) + 1) + rows.tobytes() + _NO_TAGS


def unsigned(number: int) -> bytes:
    """A variable-length number."""
    digits = bytearray()
    while number > 0x7F:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*digits, number])
