"""The ledger of covered ranges: what was read completely. It commits with the metrics computed from it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from spark_jobs.ranges import OffsetRange, Part, PartNow, Plan
from spark_jobs.samples import RangeRead
from store.metrics import Transaction
from store.rows import Row

COMPLETE, PURGED = "complete", "purged"


@dataclass(frozen=True, slots=True)
class Sampled:
    """Until when, and up to which offset, ranges were sampled at a rate, and none after them at a lower one."""

    until_ms: int
    next_offset: int
    rate: float


@dataclass(frozen=True, slots=True)
class Coverage:
    """How far one partition has been read, since when, and at which rates: `sampled` rise, the newest range is last."""

    next_offset: int
    since_ms: int
    sampled: tuple[Sampled, ...] = ()

    def lowest_rate_since(self, since_ms: int) -> float:
        """Of ranges read since then; 1 where there are none: there is nothing that a lower rate could have left out."""
        return next((each.rate for each in self.sampled if each.until_ms >= since_ms), 1.0)

    def lowest_rate_from(self, offset: int) -> float:
        """Of ranges that hold this offset or a later one."""
        return next((each.rate for each in self.sampled if each.next_offset > offset), 1.0)


def load_coverage(transaction: Transaction, recent_ms: int) -> dict[Part, Coverage]:
    """Of every partition ever read; rates are those of ranges read since `recent_ms`."""
    coverage = {
        _part(row): Coverage(row["next_offset"], row["since_ms"])
        for row in transaction.query(
            """SELECT cluster_id, topic, topic_id, "partition", max(next_offset) AS next_offset,
                epoch_ms(min(observed_at)) AS since_ms
            FROM ledger GROUP BY ALL"""
        ).to_pylist()
    }
    rates = transaction.query(
        """SELECT cluster_id, topic, topic_id, "partition", sampling_rate AS rate, max(next_offset) AS next_offset,
            epoch_ms(max(observed_at)) AS until_ms
        FROM ledger WHERE state = 'complete' AND observed_at >= make_timestamptz(? * 1000)
        GROUP BY ALL ORDER BY next_offset""",
        [recent_ms],
    )
    for row in rates.to_pylist():
        known = coverage[_part(row)]
        newest = Sampled(row["until_ms"], row["next_offset"], row["rate"])
        coverage[_part(row)] = replace(known, sampled=_and_then(known.sampled, newest))
    return coverage


def extended(coverage: Mapping[Part, Coverage], rows: Iterable[Row]) -> dict[Part, Coverage]:
    """The coverage after these ledger rows were committed."""
    after = dict(coverage)
    for row in rows:
        known = after.get(_part(row), Coverage(0, row["observed_at"]))
        sampled = known.sampled
        if row["state"] == COMPLETE:
            newest = Sampled(row["observed_at"], row["next_offset"], row["sampling_rate"])
            sampled = _and_then(sampled, newest)
        after[_part(row)] = Coverage(max(known.next_offset, row["next_offset"]), known.since_ms, sampled)
    return after


def compared_rates(reads: Iterable[RangeRead], coverage: Mapping[Part, Coverage], now_ms: int) -> dict[str, float]:
    """By topic id, at which rate ranges just read are compared with their topic's horizon; `coverage` includes them."""
    horizon_s = {read.range.part.topic_id: read.request.horizon_s for read in reads}
    return lowest_rates(coverage, {each: now_ms - round(1000 * ago_s) for each, ago_s in horizon_s.items()})


def lowest_rates(coverage: Mapping[Part, Coverage], since_ms: Mapping[str, int]) -> dict[str, float]:
    """What all samples of a topic taken since a time (by topic id) have in common: ids kept at this rate.

    1 where there are none.
    """
    lowest = dict.fromkeys(since_ms, 1.0)
    for part, covered in coverage.items():
        if part.topic_id in lowest:
            rate = covered.lowest_rate_since(since_ms[part.topic_id])
            lowest[part.topic_id] = min(lowest[part.topic_id], rate)
    return lowest


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


def unread_rows(parts: Iterable[PartNow], plan: Plan, rates: Mapping[str, float]) -> list[dict[str, object]]:
    """Of a plan: histories that begin empty, and what was purged. `rates` are by topic id."""
    now = {each.part: each for each in parts}
    states = ((COMPLETE, plan.anchors), (PURGED, plan.purged))
    return [unread_row(r, now[r.part], state, rates[r.part.topic_id]) for state, ranges in states for r in ranges]


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


def _and_then(sampled: Sequence[Sampled], newest: Sampled) -> tuple[Sampled, ...]:
    """A lower rate hides the higher ones before it; a clock set back in between hides nothing."""
    lower = tuple(each for each in sampled if each.rate < newest.rate)
    hidden = [each.until_ms for each in sampled if each.rate >= newest.rate]
    return (*lower, replace(newest, until_ms=max([newest.until_ms, *hidden])))


def _part(row: Row) -> Part:
    return Part(*(row[name] for name in ("cluster_id", "topic", "topic_id", "partition")))


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
