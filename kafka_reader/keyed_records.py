"""The records of a topic that Kafka keeps its own state in, as a read_committed reader is given them: key and value."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from kafka_reader.batches import AbortedTransaction, opened


@dataclass(frozen=True, slots=True)
class KeyedRecord:
    """`value` None: the key was deleted (a tombstone). `producer_id` None: written outside a transaction."""

    offset: int
    timestamp_ms: int
    producer_id: int | None
    key: bytes | None
    value: bytes | None


@dataclass(frozen=True, slots=True)
class KeyedRecords:
    """What an answer holds from the asked offset on. `next_offset`: behind its last whole batch.

    `missing` offsets between the two are in no record: compaction removed them.
    """

    records: tuple[KeyedRecord, ...]
    next_offset: int
    missing: int


def keyed_records(blob: bytes | memoryview, aborted: Iterable[AbortedTransaction], position: int) -> KeyedRecords:
    """Records at the position or later; neither markers nor what was aborted.

    Raises CorruptBatchError where a batch is damaged, hostile or of an old format.
    """
    found = opened(blob, aborted)
    headers, each = found.headers, found.of_each_record
    offset = found.offset
    is_asked = offset >= position
    is_hidden = each((h.is_control for h in headers), np.bool_) | each(found.is_aborted, np.bool_)
    rows = np.flatnonzero(is_asked & ~is_hidden)
    producers = np.where(
        each((h.is_transactional for h in headers), np.bool_), each((h.producer_id for h in headers), np.int64), -1
    )
    next_offset = max(position, headers[-1].next_offset if headers else position)
    view = memoryview(found.buffer)
    return KeyedRecords(
        tuple(
            KeyedRecord(at, time, None if producer < 0 else producer, _bytes(view, *key), _bytes(view, *value))
            for at, time, producer, key, value in zip(
                offset[rows].tolist(),
                found.timestamp_ms[rows].tolist(),
                producers[rows].tolist(),
                zip(found.fields.key.starts[rows].tolist(), found.fields.key.lengths[rows].tolist(), strict=True),
                zip(found.fields.value.starts[rows].tolist(), found.fields.value.lengths[rows].tolist(), strict=True),
                strict=True,
            )
        ),
        next_offset,
        next_offset - position - int(is_asked.sum()),
    )


def _bytes(view: memoryview, start: int, length: int) -> bytes | None:
    return None if length < 0 else bytes(view[start : start + length])
