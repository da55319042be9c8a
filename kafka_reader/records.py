"""The records inside a batch, many at a time: where each begins, and its fields, parsed in lock step with numpy.

Every length is checked against the record's own end before it is used, so hostile bytes give CorruptBatchError and
never a read beyond the buffer. Layout of a record: DefaultRecord of Apache Kafka (KIP-98).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_reader.batch_headers import CorruptBatchError

PADDING_BYTES = 16  # zero bytes that must follow the records in the buffer: a varint may be read past its record's end
MIN_RECORD_BYTES = 7  # a length, attributes, two deltas, two lengths and a header count
_MAX_VARINT_BYTES = 10
_MAX_HEADERS = 10_000
_WORTH_LOCK_STEP = 48  # records parsed per numpy step below which the plain loop is faster
_WALKED_AT_LEAST, _PASSED_AT_MOST = 32, 4096  # records of one size are sought after so many; so many at once

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Slices:
    """Where a field of each record lies in the buffer; length −1: null."""

    starts: Ints
    lengths: Ints


@dataclass(frozen=True, slots=True)
class RecordFields:
    """One entry per record, in offset order. `key_at` and `headers_at` are where those parts begin."""

    timestamp_delta: Ints
    offset_delta: Ints
    key_at: Ints
    key: Slices
    value: Slices
    headers_at: Ints
    ends: Ints

    @property
    def key_and_value(self) -> Slices:
        """Both with their length prefixes, so that no two pairs look alike; null where both are null."""
        is_null = (self.key.lengths < 0) & (self.value.lengths < 0)
        return Slices(self.key_at, np.where(is_null, -1, self.headers_at - self.key_at))


def record_bounds(buffer: Bytes, batch_starts: Ints, batch_ends: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Where each record's body starts and ends; the records must fill their batch exactly."""
    if np.any(counts * MIN_RECORD_BYTES > batch_ends - batch_starts):
        raise CorruptBatchError("a batch announces more records than its bytes can hold")
    total, longest = int(counts.sum()), int(counts.max(initial=0))
    walk = _walk_together if total >= _WORTH_LOCK_STEP * longest else _walk_each
    starts, ends, reached = walk(buffer, batch_starts, batch_ends, counts)
    if np.any(reached != batch_ends):
        raise CorruptBatchError("the records of a batch do not fill it")
    return starts, ends


def parse_fields(buffer: Bytes, starts: Ints, ends: Ints) -> RecordFields:
    """The fixed fields of each record; headers are left where they are."""
    timestamp_delta, at = _varints(buffer, starts + 1)  # one byte of attributes, unused
    offset_delta, at = _varints(buffer, at)
    _require(at <= ends, "a record's deltas pass its end")
    key, value_at = _slices(buffer, at, ends, "key")
    value, headers_at = _slices(buffer, value_at, ends, "value")
    return RecordFields(timestamp_delta, offset_delta, at, key, value, headers_at, ends)


def header_values(buffer: Bytes, fields: RecordFields, name: str) -> Slices:
    """The value of the last header of that name in each record, as Kafka's `lastHeader`; null where there is none."""
    wanted = np.frombuffer(name.encode(), dtype=np.uint8)
    found = Slices(np.zeros_like(fields.ends), np.full_like(fields.ends, -1))
    counts, at = _varints(buffer, fields.headers_at)
    _require((counts >= 0) & (2 * counts <= fields.ends - at), "a record announces more headers than it can hold")
    _require(counts <= _MAX_HEADERS, f"a record has more than {_MAX_HEADERS} headers")
    rows = np.flatnonzero(counts > 0)
    for number in range(int(counts.max(initial=0))):
        rows = rows[counts[rows] > number]
        names, after = _slices(buffer, at[rows], fields.ends[rows], "header name")
        values, after = _slices(buffer, after, fields.ends[rows], "header value")
        same = _equal(buffer, names, wanted)
        found.starts[rows[same]], found.lengths[rows[same]] = values.starts[same], values.lengths[same]
        at[rows] = after
    _require(at == fields.ends, "the headers of a record do not fill it")
    return found


def _walk_together(buffer: Bytes, batch_starts: Ints, batch_ends: Ints, counts: Ints) -> tuple[Ints, Ints, Ints]:
    """Record number i of all batches at once."""
    first_record = np.cumsum(counts) - counts
    starts, ends = np.empty(counts.sum(), dtype=np.int64), np.empty(counts.sum(), dtype=np.int64)
    at = batch_starts.copy()
    rows = np.arange(len(counts))
    for number in range(int(counts.max(initial=0))):
        rows = rows[counts[rows] > number]
        lengths, after = _varints(buffer, at[rows])
        _require(
            (lengths >= MIN_RECORD_BYTES - 1) & (lengths <= batch_ends[rows] - after), "a record ends beyond its batch"
        )
        starts[first_record[rows] + number] = after
        ends[first_record[rows] + number] = at[rows] = after + lengths
    return starts, ends, at


def _walk_each(buffer: Bytes, batch_starts: Ints, batch_ends: Ints, counts: Ints) -> tuple[Ints, Ints, Ints]:
    """Batch after batch, record after record; where they led is checked for all of them at once."""
    prefixes = [
        _prefixes(buffer[start:end], count) + start
        for start, end, count in zip(batch_starts.tolist(), batch_ends.tolist(), counts.tolist(), strict=True)
    ]
    at = np.concatenate(prefixes) if prefixes else np.empty(0, dtype=np.int64)
    lengths, starts = _varints(buffer, at)
    room = np.repeat(batch_ends, counts) - starts
    _require((lengths >= MIN_RECORD_BYTES - 1) & (lengths <= room), "a record ends beyond its batch")
    ends = starts + lengths
    reached = batch_starts.copy()
    reached[counts > 0] = ends[(np.cumsum(counts) - 1)[counts > 0]]
    return starts, ends, reached


def _prefixes(body: Bytes, count: int) -> Ints:
    """Where the length of each record stands. A negative length leads nowhere: it is for the caller to refuse.

    A length says where the next one stands, so this is the one loop over single records there is. Where records of one
    size follow each other they are passed together; after steps that found none the next attempt comes later, and the
    loop goes over a copy, which it reads faster.
    """
    data: bytes | memoryview = memoryview(body)
    found, at, done, step = [], 0, 0, _WALKED_AT_LEAST
    while done < count:
        places, at = _walk(data, at, min(step, count - done))
        run = _run_of_equals(body, places[-1], at, count - done - len(places))
        found += [np.array(places, dtype=np.int64), run]
        at = int(run[-1]) + at - places[-1] if len(run) else at
        done += len(places) + len(run)
        if len(run) >= len(places):
            step = _WALKED_AT_LEAST
        else:
            step, data = 2 * step, body.tobytes() if isinstance(data, memoryview) else data
    return np.concatenate(found) if found else np.empty(0, dtype=np.int64)


def _walk(data: bytes | memoryview, at: int, count: int) -> tuple[list[int], int]:
    """So many records from a position on, and where the next one stands."""
    places: list[int] = []
    try:
        for _ in range(count):
            places.append(at)
            low = data[at]  # zigzag varints of one and of two bytes are read here
            if low < 0x80:
                at += 1 + (low >> 1)
            elif (high := data[at + 1]) < 0x80:
                at += 2 + ((high << 6) | ((low & 0x7F) >> 1))
            else:
                length, at = varint(data, at)
                at += max(0, length)
    except IndexError as exc:
        raise CorruptBatchError("a record ends beyond its batch") from exc
    return places, at


def _run_of_equals(body: Bytes, last: int, at: int, most: int) -> Ints:
    """The records from `at` on that begin like the one at `last`, which ends there: each says where the next stands."""
    size = at - last
    most = min(most, _PASSED_AT_MOST, (len(body) - at) // size)
    if most <= 0:
        return np.empty(0, dtype=np.int64)
    prefix_bytes = 1 + int((body[last : min(at, last + _MAX_VARINT_BYTES)] < 0x80).argmax())
    begin = body[at : at + most * size].reshape(most, size)[:, :prefix_bytes]
    differs = (begin != body[last : last + prefix_bytes]).any(axis=1)
    run = int(differs.argmax()) if differs.any() else most
    return at + size * np.arange(run, dtype=np.int64)


def varint(data: bytes | memoryview, at: int) -> tuple[int, int]:
    """One zigzag varint and the position after it."""
    value = shift = 0
    while True:
        if at >= len(data) or shift >= 7 * _MAX_VARINT_BYTES:
            raise CorruptBatchError("a varint does not end")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), at
        shift += 7


def _varints(buffer: Bytes, at: Ints) -> tuple[Ints, Ints]:
    """The zigzag varint at each position, and the position after it."""
    byte = buffer[at].astype(np.uint64)
    value, after = byte & np.uint64(0x7F), at + 1
    rows = np.flatnonzero(byte >= 0x80)
    for shift in range(7, 7 * _MAX_VARINT_BYTES, 7):
        if not len(rows):
            break
        byte = buffer[after[rows]].astype(np.uint64)
        value[rows] |= (byte & np.uint64(0x7F)) << np.uint64(shift)
        after[rows] += 1
        rows = rows[byte >= 0x80]
    if len(rows):
        raise CorruptBatchError("a varint does not end")
    return (value >> np.uint64(1)).view(np.int64) ^ -(value & np.uint64(1)).view(np.int64), after


def _slices(buffer: Bytes, at: Ints, ends: Ints, what: str) -> tuple[Slices, Ints]:
    """The length-prefixed field at each position, and the position after it."""
    lengths, starts = _varints(buffer, at)
    _require((lengths >= -1) & (np.maximum(lengths, 0) <= ends - starts), f"a {what} passes the end of its record")
    return Slices(starts, lengths), starts + np.maximum(lengths, 0)


def _equal(buffer: Bytes, slices: Slices, wanted: Bytes) -> NDArray[np.bool_]:
    same = slices.lengths == len(wanted)
    rows = np.flatnonzero(same)
    found = buffer[slices.starts[rows, np.newaxis] + np.arange(len(wanted))]
    same[rows] = (found == wanted).all(axis=1)
    return same


def _require(holds: NDArray[np.bool_], otherwise: str) -> None:
    if not holds.all():
        raise CorruptBatchError(otherwise)
