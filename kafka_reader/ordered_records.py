"""Records with their key and what is declared to rise within it: a number in a header or in JSON, or the record's time.

What is no whole number in decimal digits is no order: such a record is counted apart and compared with nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from kafka_reader.batch_headers import BatchHeader
from kafka_reader.batches import AbortedTransaction, Flags, Records, opened, records_with_ids
from kafka_reader.records import Bytes, Ints, Slices
from settings import MessageId, RecordOrder

DIGITS = 18  # differences of two such numbers fit into 64 bits
_PLUS, _MINUS, _ZERO, _NINE = b"+-09"
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
        place, has_place = whole_numbers(*numbered.id_places)
    columns = {name: getattr(by_key, name) for name in Records.__dataclass_fields__}
    return OrderedRecords(**columns, place=place, has_place=has_place)


def whole_numbers(buffer: Bytes, texts: Slices) -> tuple[Ints, Flags]:
    """The number that each text is, and whether it is one: a sign or none, and at most DIGITS decimal digits.

    All texts at once, digit by digit.
    """
    first = _at(buffer, texts.starts)
    is_signed = (first == _PLUS) | (first == _MINUS)
    starts, digits = texts.starts + is_signed, texts.lengths - is_signed
    is_whole = (digits > 0) & (digits <= DIGITS)
    number = np.zeros(len(starts), dtype=np.int64)
    for place in range(int(digits[is_whole].max(initial=0))):
        character = _at(buffer, starts + place)
        goes_on = is_whole & (place < digits)
        is_whole &= ~goes_on | ((character >= _ZERO) & (character <= _NINE))
        number = np.where(goes_on, 10 * number + (character - np.int64(_ZERO)), number)
    return np.where(is_signed & (first == _MINUS), -number, number), is_whole


def _at(buffer: Bytes, places: Ints) -> Bytes:
    """What lies behind the end is never looked at: any byte will do."""
    return buffer[np.minimum(places, len(buffer) - 1)]
