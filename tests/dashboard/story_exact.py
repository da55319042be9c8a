"""Exact audits in the story: one that is done, one that runs, one that failed and one that was cancelled."""

import json
from pathlib import Path

from guarantees.audits import Job
from store.audit_requests import AuditRequest, request_row
from store.log import SegmentLog
from store.metrics import METRICS_FILE, MetricsWriter
from store.segments import producer_name
from tests.dashboard import fixture_store as story
from tests.dashboard import story_audit

FIRST, FOLLOWING = story.BASE_OFFSET + 1000, story.BASE_OFFSET + 3000
LOST, SURPLUS = 41, 2


def build(data_dir: Path, end_ms: int, *, state: str | None = "done", seen: bool = True, who: str = "Ada") -> str:
    """One audit of the quarter of an hour before `end_ms`, asked for a minute ago; its run id."""
    request = AuditRequest(f"run-{state}-{seen}", end_ms - 60_000, who, Job.AUDIT, story_audit.PIPELINE,
                           end_ms - 900_000, end_ms)  # fmt: skip
    log = SegmentLog(data_dir, producer_name("host-1", "dashboard"))
    log.append("operator_actions", [request_row(request)])
    log.close()
    if seen:
        with MetricsWriter(data_dir / METRICS_FILE) as writer, writer.transaction() as metrics:
            metrics.replace("audit_runs", [_run(request, state or "waiting", end_ms)])
            if state == "done":
                metrics.replace("audit_ranges", _ranges(request, end_ms))
                metrics.replace("audit_duplicates", [_duplicates(request, end_ms)])
                metrics.replace("audit_ids", _ids(request, end_ms))
    return request.run_id


def build_order(data_dir: Path, end_ms: int) -> str:
    """An audit of the order within keys that is done: one record of `orders` fell behind, which has a hostile key."""
    request = AuditRequest("run-order", end_ms - 50_000, "Ada", Job.ORDER, story_audit.PIPELINE, end_ms - 900_000,
                           end_ms)  # fmt: skip
    where = _place(request, story.ORDERS, 2, end_ms)
    counted = {"without_key": 2, "without_place": 1, "ordered": 1977, "keys": 12, "keys_elsewhere": 1,
               "out_of_order": 1, "repeated": 5, "numbers_missing": 7}  # fmt: skip
    unknown = dict.fromkeys(("without_id", "not_json", "ids", "extra_copies", "lost", "late", "waiting", "surplus"))
    later = {"place": 7, "offset": FIRST + 44, "timestamp_ms": end_ms, "producer_id": 7014, "producer_epoch": 0,
             "sequence": 3}  # fmt: skip
    example = {"key": story.HOSTILE, "key_hash": 5, "earlier": later | {"place": 9, "offset": FIRST + 40}}
    group = {"first_producer_id": 7014, "producer_id": 7014, "producer_epoch": 0, "out_of_order": 1, "keys": 1,
             "first_offset": FIRST + 44, "last_offset": FIRST + 44, "nearest_offsets": 4, "farthest_offsets": 4,
             "examples": json.dumps([example | {"later": later}])}  # fmt: skip
    with MetricsWriter(data_dir / METRICS_FILE) as writer, writer.transaction() as metrics:
        metrics.replace("audit_runs", [_run(request, "done", end_ms)])
        rows = [row for row in _ranges(request, end_ms) if row["topic_id"] == story.ORDERS.topic_id]
        none = dict.fromkeys(counted, 0)
        metrics.replace("audit_ranges", [
            row | unknown | (counted if row["partition"] == 2 else none) for row in rows])  # fmt: skip
        metrics.replace("audit_order", [where | group])
    return request.run_id


def build_content(data_dir: Path, end_ms: int) -> str:
    """An audit of content that is done: one batch of `orders` differs on a replica and from what was read earlier."""
    request = AuditRequest("run-content", end_ms - 50_000, "Ada", Job.CONTENT, story_audit.PIPELINE, end_ms - 900_000,
                           end_ms)  # fmt: skip
    counted = {"batches": 40, "batches_compared": 80, "batches_differing": 0, "copies_silent": 0}
    unknown = dict.fromkeys(("without_id", "not_json", "ids", "extra_copies", "lost", "late", "waiting", "surplus"))
    batch = {"base_offset": FIRST + 44, "leader_epoch": 3, "crc": 0xABCDEF, "copy_leader_epoch": 3, "copy_crc": 17}
    with MetricsWriter(data_dir / METRICS_FILE) as writer, writer.transaction() as metrics:
        metrics.replace("audit_runs", [_run(request, "done", end_ms)])
        rows = [row | unknown | counted for row in _ranges(request, end_ms) if row["side"] == "source"]
        rows[2] |= {"batches_differing": 2, "copies_silent": 1}
        metrics.replace("audit_ranges", rows)
        where = _place(request, story.ORDERS, 2, end_ms)
        metrics.replace("audit_content", [where | batch | {"copy": copy} for copy in (-1, 2)])
    return request.run_id


def _run(request: AuditRequest, state: str, end_ms: int) -> dict[str, object]:
    is_over, begun = state in ("done", "failed", "cancelled"), state != "waiting"
    reasons = {"failed": f"topic {story.HOSTILE} is gone", "cancelled": "cancelled by Bea",
               "waiting": "another audit runs first"}  # fmt: skip
    return {
        "run_id": request.run_id, "audit_id": request.audit_id, "job": request.job, "pipeline": request.pipeline,
        "cluster_id": story.CLUSTER_ID, "window_from": request.from_ms, "window_to": request.to_ms,
        "requested_by": request.who, "requested_at": request.at_ms,
        "started_at": end_ms - 50_000 if begun else None, "ended_at": end_ms - 10_000 if is_over else None,
        "state": state, "reason": reasons.get(state), "step": "reading" if state == "running" else None,
        "slices_done": 3 if begun else 0, "slices_planned": 12 if begun else 0, "offsets_read": 1_200_000,
        "offsets_planned": 5_000_000 if begun else 0, "records": 1_190_000, "busy_s": 11.5, "cpu_s": 8.25,
        "blind_spots": json.dumps(["Times are mapped to offsets by ListOffsets.", "Group unknown of <b>orders</b>."]),
        "is_whole": False if state == "done" else None, "observed_at": end_ms - 10_000,
    }  # fmt: skip


def _place(request: AuditRequest, topic: story.Topic, partition: int, at_ms: int) -> dict[str, object]:
    return {"audit_id": request.audit_id, "run_id": request.run_id, "pipeline": request.pipeline,
            "cluster_id": story.CLUSTER_ID, "topic": topic.name, "topic_id": topic.topic_id, "partition": partition,
            "observed_at": at_ms}  # fmt: skip


def _ranges(request: AuditRequest, at_ms: int) -> list[dict[str, object]]:
    rows = []
    for side, topic in (("source", story.ORDERS), ("sink", story.PAYMENTS)):
        for partition in range(topic.partitions):
            is_source, worst = side == "source", partition == 2
            rows.append(_place(request, topic, partition, at_ms) | {
                "side": side, "first_offset": FIRST, "next_offset": FOLLOWING, "read_from": FIRST - 500,
                "read_to": FOLLOWING + 500, "log_start_offset": FIRST - 900, "last_stable_offset": FOLLOWING + 900,
                "high_watermark": FOLLOWING + 900, "visible": 1980, "without_id": 3, "aborted": 12, "markers": 4,
                "compacted": 0, "unexplained": 4, "below_log_start": 0, "undecided": 0, "begins_at_log_start": False,
                "committed_to": FOLLOWING if is_source else None, "ids": 1900, "extra_copies": 128 if worst else 0,
                "lost": (LOST if worst else 0) if is_source else None,
                "late": (3 if worst else 0) if is_source else None,
                "waiting": 0 if is_source else None, "surplus": None if is_source else (SURPLUS if worst else 0),
            })  # fmt: skip
    return rows


def _duplicates(request: AuditRequest, at_ms: int) -> dict[str, object]:
    examples = [story_audit._example(number, known, at_ms) for number, known in enumerate((story.HOSTILE, None))]
    return _place(request, story.ORDERS, 2, at_ms) | {
        "cause": "other_producer_id", "first_producer_id": 7001, "producer_id": 7014, "producer_epoch": 0,
        "extra_copies": 128, "first_copy_offset": FIRST + 12, "last_copy_offset": FIRST + 139, "nearest_offsets": 412,
        "farthest_offsets": 412, "nearest_ms": 20_000, "farthest_ms": 21_000, "examples": json.dumps(examples),
    }  # fmt: skip


def _ids(request: AuditRequest, at_ms: int) -> list[dict[str, object]]:
    named = {0: story.HOSTILE, 1: None, 2: story_audit.FORMULA}
    return [
        _place(request, story.PAYMENTS if state == "surplus" else story.ORDERS, 2, at_ms) | {
            "state": state, "offset": FIRST + number, "id_hash": number,
            "message_id": named.get(number, f"order-{number}"), "timestamp": at_ms - 500_000,
            "found_at": f"payments-1:{FOLLOWING + 90}" if state == "late" else None,
        }
        for state, count in (("lost", 20), ("late", 3), ("surplus", SURPLUS))
        for number in range(count)
    ]  # fmt: skip
