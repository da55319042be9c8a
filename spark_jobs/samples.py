"""From offset ranges to id_samples: Spark reads the ranges, the driver keeps what each complete one sampled."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession

from spark_jobs.ranges import OffsetRange
from spark_jobs.sources.accounts import Account
from spark_jobs.sources.kafka_ranges import FORMAT, IDS, RangeRequest, options
from store.log import SegmentLog
from store.rows import arrow_table

# Record times are the producer's word and may be anything; the store keeps those a calendar can show.
LAST_TIME_MS = 253_402_300_799_999  # the end of the year 9999


@dataclass(frozen=True, slots=True)
class RangeRead:
    """What became of one range. `samples` are rows of id_samples and `aborted` of aborted_ids.

    They mean nothing where the account has an error.
    """

    request: RangeRequest
    account: Account
    samples: pa.Table
    aborted: pa.Table

    @property
    def range(self) -> OffsetRange:
        return self.request.range


def read_ranges(spark: SparkSession, requests: Sequence[RangeRequest], tasks: int) -> list[RangeRead]:
    """Read all ranges in one Spark job of so many tasks; one that failed says so in its account and stops no other."""
    rows = spark.read.format(FORMAT).options(**options(requests, tasks)).load().toArrow()
    packed: list[list[pa.RecordBatch]] = [[] for _ in requests]
    accounts: dict[int, Account] = {}
    for number, ids, account in zip(*(rows[name] for name in ("range", "ids", "account")), strict=True):
        if ids.is_valid:
            packed[number.as_py()].append(pa.ipc.read_record_batch(ids.as_buffer(), IDS))
        else:
            accounts[number.as_py()] = Account(**account.as_py())
    return [
        _range_read(pa.Table.from_batches(packed[number], IDS), request, accounts[number])
        for number, request in enumerate(requests)
    ]


def append_samples(log: SegmentLog, read: RangeRead) -> str | None:
    """Commit the sampled ids of a complete range; the segment's name, None where no id was sampled."""
    if read.account.error is not None:
        raise ValueError(f"{read.range.part}: a range that was not read completely is not appended")
    if read.aborted.num_rows:
        _append(log, "aborted_ids", read, read.aborted)
    return _append(log, "id_samples", read, read.samples) if read.samples.num_rows else None


def _append(log: SegmentLog, table: str, read: RangeRead, rows: pa.Table) -> str:
    return log.append_range(
        table,
        rows,
        topic_id_hex=UUID(read.range.part.topic_id).hex,
        partition=read.range.part.partition,
        first=read.range.first_offset,
        last=read.range.next_offset - 1,
        observed_at_ms=read.account.observed_at_ms,
    )


def new_samples(reads: Iterable[RangeRead]) -> pa.Table:
    """What a round sampled, as rows of id_samples."""
    return pa.concat_tables(arrow_table("id_samples", read.samples) for read in reads)


def _range_read(ids: pa.Table, request: RangeRequest, account: Account) -> RangeRead:
    sampled, is_aborted = _samples(ids, request, account), ids["is_aborted"]
    return RangeRead(request, account, sampled.filter(pc.invert(is_aborted)), sampled.filter(is_aborted))


def _samples(ids: pa.Table, request: RangeRequest, account: Account) -> pa.Table:
    part = request.range.part
    fixed = {
        "cluster_id": pa.scalar(part.cluster_id),
        "topic": pa.scalar(part.topic),
        "topic_id": pa.scalar(part.topic_id),
        "partition": pa.scalar(part.partition, pa.int32()),
        "observed_at": pa.scalar(account.observed_at_ms, pa.timestamp("ms", tz="UTC")),
    }
    kept = ids.drop_columns(["is_aborted", "timestamp_ms"])
    for name, value in fixed.items():
        kept = kept.append_column(name, pa.repeat(value, ids.num_rows))
    return kept.append_column("timestamp", _record_times(ids["timestamp_ms"]))


def _record_times(timestamp_ms: pa.ChunkedArray) -> pa.ChunkedArray:
    is_time = pc.and_(pc.greater_equal(timestamp_ms, 0), pc.less_equal(timestamp_ms, LAST_TIME_MS))
    return pc.if_else(is_time, timestamp_ms, pa.scalar(None, pa.int64())).cast(pa.timestamp("ms", tz="UTC"))
