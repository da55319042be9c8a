"""An audit as rows of the metrics: the run with its progress, and what was found, which replaces what stood there."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from settings import PipelineSettings
from spark_jobs.audits.comparing import GROUP_KEYS
from spark_jobs.audits.exact import Progress
from spark_jobs.audits.plans import SINK, SOURCE, AuditPlan, AuditRange
from spark_jobs.audits.tallies import LATE, LOST, SURPLUS, WAITING, Tally
from spark_jobs.runs import code_version
from spark_jobs.samples import LAST_TIME_MS
from store.audit_requests import AuditRequest, RunState
from store.metrics import Transaction
from store.rows import Row

RESULT_TABLES = ("audit_ranges", "audit_duplicates", "audit_ids", "audit_order", "audit_content")
CONTENT_COLUMNS = ("base_offset", "copy", "leader_epoch", "crc", "copy_leader_epoch", "copy_crc")
ORDER_GROUP = ("first_producer_id", "producer_id", "producer_epoch")
ORDER_NUMBERS = ("out_of_order", "keys", "first_offset", "last_offset", "nearest_offsets", "farthest_offsets")


@dataclass(slots=True)
class Run:
    """One request and what is known of it."""

    request: AuditRequest
    state: RunState = RunState.WAITING
    reason: str | None = None
    started_at_ms: int | None = None
    ended_at_ms: int | None = None
    plan: AuditPlan | None = None
    progress: Progress = field(default_factory=lambda: Progress(None))
    is_whole: bool | None = None

    def row(self, now_ms: int) -> Row:
        """As `audit_runs` keeps it."""
        request, progress = self.request, self.progress
        return {
            "run_id": request.run_id,
            "audit_id": request.audit_id,
            "job": request.job.value,
            "pipeline": request.pipeline,
            "cluster_id": self.plan and self.plan.cluster_id,
            "window_from": request.from_ms,
            "window_to": request.to_ms,
            "requested_by": request.who,
            "requested_at": request.at_ms,
            "started_at": self.started_at_ms,
            "ended_at": self.ended_at_ms,
            "state": self.state.value,
            "reason": self.reason,
            "step": progress.step if self.state is RunState.RUNNING else None,
            "slices_done": progress.slices_done,
            "slices_planned": progress.slices_done if self.state.is_over else progress.slices_planned,
            "offsets_read": progress.offsets_read,
            "offsets_planned": progress.offsets_planned,
            "records": progress.records,
            "busy_s": progress.busy_s,
            "cpu_s": progress.cpu_s,
            "plan": self.plan.to_json() if self.plan and not self.state.is_over else None,
            "blind_spots": json.dumps(self.plan.blind_spots) if self.plan else None,
            "is_whole": self.is_whole,
            "code_version": code_version(),
            "observed_at": now_ms,
        }


def replace_results(transaction: Transaction, run: Run, pipeline: PipelineSettings, found: Tally, now_ms: int) -> None:
    """The rows of the same job, pipeline and window give way, also those that this run did not find again."""
    common = {
        "audit_id": run.request.audit_id,
        "run_id": run.request.run_id,
        "pipeline": pipeline.name,
        "cluster_id": found.plan.cluster_id,
        "observed_at": now_ms,
    }
    made = (_range_rows(found), _duplicate_rows(found), _id_rows(found), _order_rows(found), _content_rows(found))
    for table, rows in zip(RESULT_TABLES, made, strict=True):
        transaction.delete(table, "audit_id = ?", [run.request.audit_id])
        if rows:
            transaction.replace(table, [{**common, **row} for row in rows])


def _range_rows(found: Tally) -> list[dict[str, Any]]:
    return [{**_place(each), "side": each.side, **_offsets(found, each), **_counts(found, each)}
            for each in found.plan.ranges]  # fmt: skip


def _offsets(found: Tally, each: AuditRange) -> dict[str, Any]:
    account, gaps = found.account(each), found.gaps(each)
    return {
        "first_offset": each.window_first,
        "next_offset": each.window_next,
        "read_from": each.read_first,
        "read_to": each.search_next if _was_searched(found, each) else each.read_next,
        "log_start_offset": each.log_start_offset,
        "last_stable_offset": each.last_stable_offset,
        "high_watermark": each.high_watermark,
        "visible": account.visible,
        "without_id": account.without_id if found.plan.job.is_of_ids else None,
        "not_json": account.not_json if found.plan.job.is_of_ids else None,
        "aborted": account.aborted,
        "markers": account.markers,
        "compacted": gaps if each.is_compacted else 0,
        "unexplained": 0 if each.is_compacted else gaps,
        "below_log_start": account.purged,
        "undecided": each.undecided,
        "begins_at_log_start": each.begins_at_log_start,
        "committed_to": each.committed_to,
    }


def _was_searched(found: Tally, each: AuditRange) -> bool:
    return each.side == SINK and any(found.total(state) for state in (LOST, LATE, WAITING))


def _counts(found: Tally, each: AuditRange) -> dict[str, Any]:
    """What is counted of ids on one partition; null where it is not counted on this side or by this job."""
    partition = each.part.partition

    def of(state: str, side: str) -> int | None:
        return found.counts[state].get(partition, 0) if each.side == side and state in found.counts else None

    if found.content is not None:
        return dict(found.content[each.side, partition])
    if found.order is not None:
        account = found.account(each)
        counted = found.order[each.side, partition]
        return {**counted, "without_key": account.without_key, "without_place": account.without_place}
    groups = [group for group in found.groups[each.side] if group["partition"] == partition]
    return {
        "ids": found.ids[each.side].get(partition, 0),
        "extra_copies": None if found.extra_copies is None else sum(group["extra_copies"] for group in groups),
        **{state: of(state, SOURCE) for state in (LOST, LATE, WAITING)},
        "surplus": of(SURPLUS, SINK),
    }


def _duplicate_rows(found: Tally) -> list[dict[str, Any]]:
    topics = {side: found.plan.side(side) for side in (SOURCE, SINK)}
    numbers = ("extra_copies", "first_copy_offset", "last_copy_offset", "nearest_offsets", "farthest_offsets",
               "nearest_ms", "farthest_ms")  # fmt: skip
    return [
        {
            **_place(_range_of(topics[side], group["partition"])),
            **{name: group[name] for name in (*GROUP_KEYS, *numbers)},
            "examples": json.dumps([_example(example) for example in group["examples"]], sort_keys=True),
        }
        for side, groups in found.groups.items()
        for group in groups
    ]


def _example(example: dict[str, Any]) -> dict[str, Any]:
    return {"message_id": example.get("message_id"), "first": example["first"], "last": example["last"]}


def _order_rows(found: Tally) -> list[dict[str, Any]]:
    return [
        {
            **_place(_range_of(found.plan.side(group["side"]), group["partition"])),
            **{name: group[name] for name in (*ORDER_GROUP, *ORDER_NUMBERS)},
            "examples": json.dumps([_order_example(example) for example in group["examples"]], sort_keys=True),
        }
        for group in found.order_groups
    ]


def _order_example(example: dict[str, Any]) -> dict[str, Any]:
    """Both records; the key is null where only hashes are stored or the record could not be read again."""
    return {name: example.get(name) for name in ("key", "key_hash", "earlier", "later")}


def _content_rows(found: Tally) -> list[dict[str, Any]]:
    return [
        {
            **_place(_range_of(found.plan.side(batch["side"]), batch["partition"])),
            **{name: batch[name] for name in CONTENT_COLUMNS},
        }
        for batch in found.differing
    ]


def _id_rows(found: Tally) -> list[dict[str, Any]]:
    return [
        {
            **_place(_range_of(found.plan.side(one.side), one.partition)),
            "state": one.state,
            "offset": one.offset,
            "id_hash": one.id_hash,
            "message_id": one.message_id,
            "timestamp": one.timestamp_ms if 0 <= one.timestamp_ms <= LAST_TIME_MS else None,
            "found_at": one.found_at,
        }
        for one in found.listed
    ]


def _range_of(ranges: Sequence[AuditRange], partition: int) -> AuditRange:
    return next(each for each in ranges if each.part.partition == partition)


def _place(each: AuditRange) -> dict[str, Any]:
    return {"topic": each.part.topic, "topic_id": each.part.topic_id, "partition": each.part.partition}
