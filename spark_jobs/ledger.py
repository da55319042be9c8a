"""The ledger of covered ranges: what was read completely. It commits with the metrics computed from it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from spark_jobs.ranges import OffsetRange, Part, PartNow
from spark_jobs.samples import RangeRead
from store.metrics import Transaction
from store.rows import Row

COMPLETE, PURGED = "complete", "purged"


@dataclass(frozen=True, slots=True)
class Coverage:
    """How far one partition has been read, since when, and the lowest rate its samples were taken at."""

    next_offset: int
    since_ms: int
    rate: float


def load_coverage(transaction: Transaction, recent_ms: int) -> dict[Part, Coverage]:
    """Of every partition ever read; the rate is that of ranges read since `recent_ms`, 1 where there are none."""
    rows = transaction.query(
        """SELECT cluster_id, topic, topic_id, "partition", max(next_offset) AS next_offset,
            epoch_ms(min(observed_at)) AS since_ms,
            coalesce(
                min(sampling_rate) FILTER (state = 'complete' AND observed_at >= make_timestamptz(? * 1000)), 1
            ) AS rate
        FROM ledger GROUP BY ALL""",
        [recent_ms],
    )
    return {
        Part(row["cluster_id"], row["topic"], row["topic_id"], row["partition"]): Coverage(
            row["next_offset"], row["since_ms"], row["rate"]
        )
        for row in rows.to_pylist()
    }


def extended(coverage: Mapping[Part, Coverage], rows: Iterable[Row]) -> dict[Part, Coverage]:
    """The coverage after these ledger rows were committed."""
    after = dict(coverage)
    for row in rows:
        part = Part(*(row[name] for name in ("cluster_id", "topic", "topic_id", "partition")))
        known = after.get(part, Coverage(0, row["observed_at"], 1.0))
        rate = row["sampling_rate"] if row["state"] == COMPLETE else known.rate
        after[part] = Coverage(max(known.next_offset, row["next_offset"]), known.since_ms, min(known.rate, rate))
    return after


def read_row(read: RangeRead, segment: str | None) -> dict[str, object]:
    """A range that was read to its end; its run is added at the commit."""
    account = read.account
    return {
        **_place(read.range),
        "log_start_offset": account.log_start_offset,
        "last_stable_offset": account.last_stable_offset,
        "high_watermark": account.high_watermark,
        "records": account.records,
        "records_without_id": account.records_without_id,
        "records_not_json": account.records_not_json,
        "aborted_records": account.aborted_records,
        "markers": account.markers,
        "sampled": read.samples.num_rows,
        "sampling_rate": read.request.rate,
        "state": COMPLETE,
        "segment": segment,
        "observed_at": account.observed_at_ms,
    }


def unread_row(covered: OffsetRange, now: PartNow, state: str, rate: float) -> dict[str, object]:
    """A range nothing was read of: empty (a history begins), or purged before it was read."""
    return {
        **_place(covered),
        "log_start_offset": now.log_start_offset,
        "last_stable_offset": now.last_stable_offset,
        "high_watermark": now.high_watermark,
        "records": 0,
        "records_without_id": 0,
        "records_not_json": 0,
        "aborted_records": 0,
        "markers": 0,
        "sampled": 0,
        "sampling_rate": rate,
        "state": state,
        "segment": None,
        "observed_at": now.observed_at_ms,
    }


def _place(covered: OffsetRange) -> dict[str, object]:
    part = covered.part
    return {
        "cluster_id": part.cluster_id,
        "topic": part.topic,
        "topic_id": part.topic_id,
        "partition": part.partition,
        "first_offset": covered.first_offset,
        "next_offset": covered.next_offset,
    }
