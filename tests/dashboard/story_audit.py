"""What the record jobs found in the story: copies, lost and late ids, ranges read, one purged and one never read."""

import json
from collections.abc import Iterator
from pathlib import Path

from store.metrics import METRICS_FILE, MetricsWriter
from tests.dashboard import fixture_store as story

PIPELINE = "orders-to-payments"
FORMULA = "=HYPERLINK(0)"
READ = 9_000
A_MINUTE = 480  # offsets a partition of orders grows by
DUPLICATES_MIN, LOSSES_MIN = 6, 9  # minutes before the story's end
LOST, LATE = 41, 3
Rows = Iterator[dict[str, object]]


def extend(data_dir: Path, times: story.Times) -> None:
    """The jobs go on reading through the quiet minutes."""
    writer = MetricsWriter(data_dir / METRICS_FILE)
    with writer.transaction() as metrics:
        metrics.replace("ledger", [*_ledger(times)])
        metrics.replace("duplicates", [*_duplicates(times.story_ms)])
        metrics.replace("losses", [*_losses(times.story_ms)])
        metrics.replace("lost_ids", [*_lost_ids(times.story_ms)])
        metrics.replace("job_runs", [*_runs(times)])
    writer.close()


def _of(topic: story.Topic, partition: int, at_ms: int) -> dict[str, object]:
    return {"cluster_id": story.CLUSTER_ID, "topic": topic.name, "topic_id": topic.topic_id, "partition": partition,
            "run_id": "r1", "observed_at": at_ms}  # fmt: skip


def _range(topic: story.Topic, partition: int, first: int, following: int, at_ms: int, **columns: object) -> dict:
    """Offsets are counted from the story's base."""
    stable = story.BASE_OFFSET + following
    return _of(topic, partition, at_ms) | {
        "first_offset": story.BASE_OFFSET + first, "next_offset": stable, "log_start_offset": story.BASE_OFFSET - 4000,
        "last_stable_offset": stable, "high_watermark": stable, "records": following - first, "records_without_id": 0,
        "aborted_records": 0, "markers": 0, "sampled": following - first, "sampling_rate": 1.0, "state": "complete",
    } | columns  # fmt: skip


def _ledger(times: story.Times) -> Rows:
    at = times.story_ms - 6_000  # a page looks at the end of a step of 5 s: what is newer is not there yet
    nothing = {"records": 0, "sampled": 0}
    yield _range(story.ORDERS, 0, 0, READ, at)
    yield _range(story.ORDERS, 1, 0, READ, at, records=READ - 12, records_without_id=25, aborted_records=12)
    for partition in range(2, story.ORDERS.partitions):
        yield _range(story.ORDERS, partition, 0, READ, at)
    for partition in (0, 1, 2, 4):
        yield _range(story.PAYMENTS, partition, 0, READ, at)
    yield _range(story.PAYMENTS, 3, 0, 3000, at - 60_000)
    yield _range(story.PAYMENTS, 3, 3000, 3400, at, state="purged", **nothing)
    yield _range(story.PAYMENTS, 3, 3400, READ, at)
    yield _range(story.PAYMENTS, 5, 0, 4000, at - 60_000)
    yield _range(story.PAYMENTS, 5, 4200, READ, at)
    for partition, following in ((0, 2100), (1, 77), (2, 2100)):
        yield _range(story.INVOICES, partition, 0, following, at, sampled=following // 64, sampling_rate=1 / 64)
    yield _range(story.STRANGE, 0, 0, 500, at)
    for minute in range(1, _minutes(times) + 1):
        first = READ + A_MINUTE * (minute - 1)
        for topic in (story.ORDERS, story.PAYMENTS):
            for partition in range(topic.partitions):
                yield _range(topic, partition, first, first + A_MINUTE, at + minute * story.MINUTE_MS)


def _duplicates(story_ms: int) -> Rows:
    """The copies of the finding: 128, exactly counted."""
    at = story_ms - DUPLICATES_MIN * story.MINUTE_MS
    ids = ("order-000456", story.HOSTILE, None, FORMULA, "order-000460")
    yield _of(story.ORDERS, 4, at) | {
        "first_offset": story.BASE_OFFSET, "cause": "other_producer_id", "first_producer_id": 7001,
        "producer_id": 7014, "producer_epoch": 0, "sampled_extra_copies": 128, "estimate": 128, "lower": 128,
        "upper": 128, "sampling_rate": 1.0, "horizon_s": 3600.0, "first_copy_offset": story.BASE_OFFSET + 1312,
        "last_copy_offset": story.BASE_OFFSET + 1439,
        "examples": json.dumps([_example(number, known, at) for number, known in enumerate(ids)]),
    }  # fmt: skip


def _example(number: int, message_id: str | None, at: int) -> dict[str, object]:
    first = {"partition": 4, "offset": story.BASE_OFFSET + 900 + number, "producer_id": 7001, "producer_epoch": 0,
             "sequence": 90 + number, "timestamp_ms": at - 21_000}  # fmt: skip
    last = {"partition": 4, "offset": story.BASE_OFFSET + 1312 + number, "producer_id": 7014, "producer_epoch": 0,
            "sequence": number, "timestamp_ms": at - 1_000}  # fmt: skip
    return {"message_id": message_id, "first": first, "last": last}


def _losses(story_ms: int) -> Rows:
    read_to = json.dumps([[partition, story.BASE_OFFSET + READ] for partition in range(story.PAYMENTS.partitions)])
    for partition in range(story.ORDERS.partitions):
        has_lost = partition == 2
        yield _of(story.ORDERS, partition, story_ms - 6_000) | {
            "pipeline": PIPELINE, "judged_from": story.BASE_OFFSET, "judged_to": story.BASE_OFFSET + 6000,
            "ids_judged": 6000, "ids_unseen": 12 if has_lost else 0, "ids_lost": LOST if has_lost else 0,
            "ids_late": LATE if has_lost else 0, "estimate": LOST if has_lost else 0, "lower": 38 if has_lost else 0,
            "upper": 44 if has_lost else 0, "sampling_rate": 1.0, "settle_s": 30.0, "sink_read_to": read_to,
        }  # fmt: skip


def _lost_ids(story_ms: int) -> Rows:
    at = story_ms - LOSSES_MIN * story.MINUTE_MS
    named = {1: story.HOSTILE, 2: None, 3: FORMULA}
    for number in range(LOST + LATE):
        is_late = number >= LOST
        yield _of(story.ORDERS, 2, at + 90_000 if is_late else at + 40_000) | {
            "pipeline": PIPELINE, "offset": story.BASE_OFFSET + 1200 + number, "id_hash": number,
            "message_id": named.get(number, f"order-{123 + number:06}"), "state": "late" if is_late else "lost",
            "record_observed_at": at - 4_000, "passed_at": at, "decided_at": at + 40_000,
            "found_at": f"payments-1:{story.BASE_OFFSET + 5000 + number}" if is_late else None,
        }  # fmt: skip


def _runs(times: story.Times) -> Rows:
    for minute in range(1, _minutes(times) + 1):
        at = times.story_ms + minute * story.MINUTE_MS
        yield {
            "run_id": f"quiet-{minute}", "job": "live", "started_at": at - 6_000, "ended_at": at - 4_000,
            "state": "done", "ranges": 12, "records": 12 * A_MINUTE, "backlog": 0, "observed_at": at - 4_000,
        }  # fmt: skip


def _minutes(times: story.Times) -> int:
    return (times.end_ms - times.story_ms) // story.MINUTE_MS
