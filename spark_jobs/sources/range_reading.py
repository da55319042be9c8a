"""Reads ranges in a Spark worker: fetch, decode, keep the sampled ids, and account for every offset."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace

import numpy as np
import pyarrow as pa

from kafka_reader.batch_headers import CorruptBatchError
from kafka_reader.batches import Records, decode
from kafka_reader.connection import Connections
from kafka_reader.errors import CollectionError
from kafka_reader.fetch import Fetched, read_range
from kafka_reader.fetch import Part as FetchedPart
from kafka_reader.pace import Pace
from settings import MessageId
from spark_jobs.sampling import is_kept
from spark_jobs.sources.accounts import Account
from spark_jobs.sources.kafka_ranges import IDS, RangeRequest
from spark_jobs.sources.open_clusters import OpenClusters

# Of an answer: what a worker holds at a time, with its decoded columns. Each costs a millisecond beside its bytes.
MAX_BYTES = 6_000_000
MESSAGE_ID_CHARACTERS = 200

_ACCOUNT = pa.struct(
    [pa.field("error", pa.string()), *(pa.field(n, pa.int64()) for n in Account.__dataclass_fields__ if n != "error")]
)
_SCHEMA = pa.schema([("range", pa.int32()), ("ids", pa.binary()), ("account", _ACCOUNT)])


def read_requests(numbered: Iterable[tuple[int, RangeRequest]]) -> Iterator[pa.RecordBatch]:
    """One range after another over the same connections; one that fails stops no other."""
    with OpenClusters() as clusters:
        for number, request in numbered:
            yield from _read_request(clusters.connections(request), number, request)


def _read_request(connections: Connections, number: int, request: RangeRequest) -> Iterator[pa.RecordBatch]:
    """The kept ids of each answer, then the account; an error ends the range with an account that says so."""
    account = Account(error=None)
    try:
        for fetched in answers(connections, request):
            records = decoded(fetched, request.message_id)
            in_range = in_range_of(records, request)
            account = _accounted(account, fetched, records, in_range)
            ids = kept_ids(request, records, in_range)
            if ids.num_rows:
                yield _row(number, ids=ids.serialize().to_pybytes())
    except (CollectionError, CorruptBatchError) as exc:
        account = Account(error=str(exc))
    yield _row(number, account=asdict(account))


def answers(connections: Connections, request: RangeRequest, max_bytes: int = MAX_BYTES) -> Iterator[Fetched]:
    """The raw batches of the range, whole or with a CollectionError; no faster than the request allows."""
    wanted, cap, pace = request.range, request.bytes_per_s, Pace(request.bytes_per_s)
    part = FetchedPart(wanted.part.topic, wanted.part.topic_id, wanted.part.partition)
    for fetched in read_range(
        connections,
        wanted.leader,
        part,
        first_offset=wanted.first_offset,
        next_offset=wanted.next_offset,
        max_bytes=max_bytes if cap is None else max(1, min(max_bytes, int(cap))),
    ):
        pace.pay(len(fetched.blob))
        yield fetched


def decoded(fetched: Fetched, message_id: MessageId) -> Records:
    return decode(fetched.blob, fetched.aborted, message_id, fetched.headers)


def in_range_of(records: Records, request: RangeRequest) -> np.ndarray:
    """Batches are whole: the first may begin below the range and the last may pass its end."""
    return (records.offset >= request.range.first_offset) & (records.offset < request.range.next_offset)


def _accounted(account: Account, fetched: Fetched, records: Records, in_range: np.ndarray) -> Account:
    visible = in_range & records.is_visible
    return replace(
        account,
        records=account.records + int(visible.sum()),
        records_without_id=account.records_without_id + int((visible & ~records.has_id).sum()),
        records_not_json=account.records_not_json + int((visible & records.is_not_json).sum()),
        aborted_records=account.aborted_records + int((in_range & records.is_aborted).sum()),
        markers=account.markers + int((in_range & records.is_control).sum()),
        bytes=account.bytes + len(fetched.blob),
        log_start_offset=fetched.log_start_offset,
        last_stable_offset=fetched.last_stable_offset,
        high_watermark=fetched.high_watermark,
        observed_at_ms=fetched.observed_at_ms,
    )


def kept_ids(request: RangeRequest, records: Records, in_range: np.ndarray) -> pa.RecordBatch:
    """The sampled ids of an answer, by the schema IDS."""
    kept = is_kept(records.id_hash, request.rate)
    if request.awaited:
        kept |= np.isin(records.id_hash, np.array(request.awaited, dtype=np.int64))
    rows = np.flatnonzero(in_range & ~records.is_control & records.has_id & kept)
    sequence = records.sequence[rows]
    producer_id = records.producer_id[rows]
    columns = [
        records.offset[rows],
        records.id_hash[rows],
        id_texts(request, records, rows),
        pa.array(producer_id, mask=producer_id < 0),
        pa.array(records.producer_epoch[rows].astype(np.int32), mask=producer_id < 0),
        pa.array(sequence.astype(np.int32), mask=sequence < 0),
        records.is_transactional[rows],
        records.is_aborted[rows],
        records.timestamp_ms[rows],
    ]
    return pa.record_batch([pa.array(c) if isinstance(c, np.ndarray) else c for c in columns], schema=IDS)


def id_texts(request: RangeRequest, records: Records, rows: np.ndarray) -> pa.Array:
    """As text for people, cut; the hash of key and value has no other name than its digits."""
    if not request.store_ids:
        return pa.nulls(len(rows), pa.string())
    if request.message_id.hash:
        return pa.array([f"{id_hash:016x}" for id_hash in records.id_hash[rows].view(np.uint64).tolist()], pa.string())
    ids = records.message_ids(rows)
    return pa.array([_as_text(id_bytes) for id_bytes in ids if id_bytes is not None], pa.string())


def _as_text(id_bytes: bytes) -> str:
    return id_bytes[: 4 * MESSAGE_ID_CHARACTERS].decode(errors="backslashreplace")[:MESSAGE_ID_CHARACTERS]


def _row(number: int, **given: object) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([{"range": number, **given}], schema=_SCHEMA)
