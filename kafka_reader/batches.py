"""Record batches as columns: every record of a Fetch answer with its producer, its id and the id's hash.

Aborted data and markers are kept and marked, because offsets are not records.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kafka_reader.batch_headers import BatchHeader, CorruptBatchError, batch_headers
from kafka_reader.bodies import bodies_of, in_one_buffer
from kafka_reader.codecs import MAX_DECOMPRESSED_BYTES
from kafka_reader.decoders import decoded_ids
from kafka_reader.hashes import xxhash64_slices
from kafka_reader.json_ids import SoughtIds, json_ids
from kafka_reader.markers import ABORT, NoControlRecordError, control_record
from kafka_reader.records import (
    Bytes,
    Ints,
    RecordFields,
    Slices,
    header_values,
    parse_fields,
    record_bounds,
)
from settings import MessageId

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class AbortedTransaction:
    """One entry of a Fetch answer's aborted list; `first_offset` may lie below the fetched range."""

    producer_id: int
    first_offset: int


@dataclass(frozen=True, slots=True)
class Records:
    """Records as columns, in offset order, control and aborted ones included and marked.

    `sequence`, `producer_id` and `producer_epoch` are −1 where the batch has none. `id_hash` means nothing where
    `has_id` is false: a record without an id is counted apart, never hashed. An empty id is no id. `is_not_json`: the
    id was sought in the value, which is not JSON or which the decoder refused; never where it is sought elsewhere.
    """

    offset: Ints
    timestamp_ms: Ints
    producer_id: Ints
    producer_epoch: Ints
    sequence: Ints
    leader_epoch: Ints
    is_transactional: Flags
    is_control: Flags
    is_aborted: Flags
    has_id: Flags
    is_not_json: Flags
    id_hash: Ints
    _id_buffer: Bytes
    _ids: Slices

    def __len__(self) -> int:
        return len(self.offset)

    @property
    def is_visible(self) -> Flags:
        """What a read_committed consumer is given."""
        return ~(self.is_control | self.is_aborted)

    @property
    def id_places(self) -> tuple[Bytes, Slices]:
        """The buffer that holds the ids, and where each lies in it."""
        return self._id_buffer, self._ids

    def message_ids(self, rows: Ints) -> list[bytes | None]:
        """The id's bytes of the named rows; None where a record has none."""
        view = memoryview(self._id_buffer)
        places = zip(self._ids.starts[rows].tolist(), self._ids.lengths[rows].tolist(), strict=True)
        return [bytes(view[start : start + length]) if length > 0 else None for start, length in places]


@dataclass(frozen=True, slots=True)
class Opened:
    """Batches of an answer: `is_aborted` is of each batch, `fields` of each record, whose bytes lie in `buffer`."""

    headers: Sequence[BatchHeader]
    is_aborted: Flags
    buffer: Bytes
    fields: RecordFields

    def of_each_record(self, values: Iterable[int | bool], dtype: type) -> NDArray:
        """A batch's value at each of its records."""
        return np.repeat(np.array(list(values), dtype=dtype), [header.records for header in self.headers])

    @property
    def offset(self) -> Ints:
        return self.of_each_record((h.base_offset for h in self.headers), np.int64) + self.fields.offset_delta

    @property
    def timestamp_ms(self) -> Ints:
        """The broker's where it stamps, else the producer's."""
        return np.where(
            self.of_each_record((h.is_log_append_time for h in self.headers), np.bool_),
            self.of_each_record((h.max_timestamp_ms for h in self.headers), np.int64),
            self.of_each_record((h.base_timestamp_ms for h in self.headers), np.int64) + self.fields.timestamp_delta,
        )


def decode(
    blob: bytes | memoryview,
    aborted: Iterable[AbortedTransaction],
    message_id: MessageId,
    headers: Sequence[BatchHeader] | None = None,
    max_decompressed_bytes: int = MAX_DECOMPRESSED_BYTES,
) -> Records:
    """All records of the complete batches of a blob, with the id of each.

    `headers`: what `batch_headers` found in the blob, where that was looked at before. Raises CorruptBatchError where a
    batch is damaged, hostile or of an old format.
    """
    return records_with_ids(opened(blob, aborted, headers, max_decompressed_bytes), message_id)


def opened(
    blob: bytes | memoryview,
    aborted: Iterable[AbortedTransaction],
    headers: Sequence[BatchHeader] | None = None,
    max_decompressed_bytes: int = MAX_DECOMPRESSED_BYTES,
) -> Opened:
    """The complete batches of a blob, decompressed, and where the fields of each record lie.

    Raises CorruptBatchError where a batch is damaged, hostile or of an old format.
    """
    headers = batch_headers(blob) if headers is None else headers
    bodies = bodies_of(memoryview(blob), headers, max_decompressed_bytes)
    is_aborted = aborted_batches(
        headers, [_is_abort_marker(h, b) for h, b in zip(headers, bodies, strict=True)], aborted
    )
    buffer, batch_starts = in_one_buffer(blob, headers, bodies)
    batch_ends = batch_starts + np.array([len(body) for body in bodies], dtype=np.int64)
    counts = np.array([header.records for header in headers], dtype=np.int64)
    starts, ends = record_bounds(buffer, batch_starts, batch_ends, counts)
    fields = parse_fields(buffer, starts, ends)
    found = Opened(headers, np.array(is_aborted, dtype=np.bool_), buffer, fields)
    _check_deltas(fields, found.of_each_record((h.last_offset_delta for h in headers), np.int64))
    return found


def aborted_batches(
    headers: Sequence[BatchHeader], is_abort_marker: Sequence[bool], aborted: Iterable[AbortedTransaction]
) -> list[bool]:
    """Which batches hold data of aborted transactions, as a read_committed consumer decides it (Fetcher.java).

    A producer's data is aborted from the listed first offset until its next abort marker; a marker without an open
    entry is ignored, and so are commit markers.
    """
    waiting = sorted(aborted, key=lambda entry: entry.first_offset, reverse=True)
    aborting: set[int] = set()
    decided: list[bool] = []
    for header, is_abort in zip(headers, is_abort_marker, strict=True):
        while waiting and waiting[-1].first_offset <= header.last_offset:
            aborting.add(waiting.pop().producer_id)
        if is_abort:
            aborting.discard(header.producer_id)
        decided.append(header.is_transactional and not header.is_control and header.producer_id in aborting)
    return decided


def _is_abort_marker(header: BatchHeader, body: Bytes) -> bool:
    if not header.is_control or not len(body):
        return False
    try:
        return control_record(body[:64].tobytes()).kind == ABORT
    except NoControlRecordError as exc:
        raise CorruptBatchError(f"the control batch at offset {header.base_offset} has no type") from exc


def records_with_ids(found: Opened, message_id: MessageId) -> Records:
    """The records of opened batches, with the id of each."""
    headers, fields, each = found.headers, found.fields, found.of_each_record
    is_control = each((h.is_control for h in headers), np.bool_)
    sought = _ids(found.buffer, fields, message_id, is_control)
    ids = Slices(sought.ids.starts, np.where(is_control | (sought.ids.lengths <= 0), -1, sought.ids.lengths))
    base_sequence = each((h.base_sequence for h in headers), np.int64)
    return Records(
        offset=found.offset,
        timestamp_ms=found.timestamp_ms,
        producer_id=each((h.producer_id for h in headers), np.int64),
        producer_epoch=each((h.producer_epoch for h in headers), np.int64),
        sequence=np.where(base_sequence < 0, -1, (base_sequence + fields.offset_delta) & 0x7FFFFFFF),
        leader_epoch=each((h.leader_epoch for h in headers), np.int64),
        is_transactional=each((h.is_transactional for h in headers), np.bool_),
        is_control=is_control,
        is_aborted=each(found.is_aborted, np.bool_),
        has_id=ids.lengths > 0,
        is_not_json=sought.is_not_json,
        id_hash=_id_hashes(sought.buffer, ids),
        _id_buffer=sought.buffer,
        _ids=ids,
    )


def _check_deltas(fields: RecordFields, last_offset_delta: Ints) -> None:
    if np.any((fields.offset_delta < 0) | (fields.offset_delta > last_offset_delta)):
        raise CorruptBatchError("a record lies outside its batch's offsets")


def _ids(buffer: Bytes, fields: RecordFields, message_id: MessageId, is_control: Flags) -> SoughtIds:
    """Where the ids lie; markers carry a value too, which is nobody's JSON."""
    if message_id.json is not None:
        values = Slices(fields.value.starts, np.where(is_control, -1, fields.value.lengths))
        return json_ids(buffer, values, message_id.json)
    if message_id.decoder is not None:
        return decoded_ids(buffer, fields, is_control, message_id.decoder)
    if message_id.header is not None:
        ids = header_values(buffer, fields, message_id.header)
    else:
        ids = fields.key if message_id.key else fields.key_and_value
    return SoughtIds(buffer, ids, np.zeros(len(is_control), dtype=np.bool_))


def _id_hashes(buffer: Bytes, ids: Slices) -> Ints:
    hashes = np.zeros(len(ids.lengths), dtype=np.int64)
    rows = np.flatnonzero(ids.lengths > 0)
    hashes[rows] = xxhash64_slices(buffer, ids.starts[rows], ids.lengths[rows])
    return hashes
