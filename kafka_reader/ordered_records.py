"""Records with their key and what is declared to rise within it: a number in a header or in JSON, or the record's time.

What is no whole number in decimal digits is no order: such a record is counted apart and compared with nothing.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from kafka_reader.batch_headers import BatchHeader
from kafka_reader.batches import AbortedTransaction, Flags, Records, opened, records_with_ids
from kafka_reader.records import Ints
from settings import MessageId, RecordOrder

# Eighteen digits: differences of two of them fit into 64 bits.
_WHOLE = re.compile(rb"[+-]?[0-9]{1,18}")
KEY = MessageId(key=True)


@dataclass(frozen=True, slots=True)
class OrderedRecords(Records):
    """Records with their key as the id; `place` means nothing where `has_place` is false."""

    place: Ints
    has_place: Flags


def decode_ordered(
    blob: bytes | memoryview,
    aborted: Iterable[AbortedTransaction],
    order: RecordOrder,
    headers: Sequence[BatchHeader] | None = None,
) -> OrderedRecords:
    """All records of the complete batches of a blob. Raises CorruptBatchError as `decode` does."""
    found = opened(blob, aborted, headers)
    by_key = records_with_ids(found, KEY)
    place, has_place = by_key.timestamp_ms, by_key.timestamp_ms >= 0
    if not order.timestamp:
        numbered = records_with_ids(found, MessageId(header=order.header, json=order.json))
        place, has_place = _whole_numbers(numbered.message_ids(np.arange(len(numbered))))
    columns = {name: getattr(by_key, name) for name in Records.__dataclass_fields__}
    return OrderedRecords(**columns, place=place, has_place=has_place)


def _whole_numbers(texts: Iterable[bytes | None]) -> tuple[Ints, Flags]:
    numbers = [int(text) if text is not None and _WHOLE.fullmatch(text) else None for text in texts]
    place = np.array([number or 0 for number in numbers], dtype=np.int64)
    return place, np.array([number is not None for number in numbers], dtype=np.bool_)
