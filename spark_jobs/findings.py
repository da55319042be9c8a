"""From metrics to findings: rows of the metrics as the record rules' inputs, and the rules' answers as events.

Everything is derived from committed rows, so evaluating again gives the same findings: a crash between a commit and
its findings costs nothing but the evaluation at the next start.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from guarantees.audits import DuplicateCause, DuplicateExample, DuplicateGroup, LossAudit, LostId, StoredCopy
from guarantees.findings import Bounds, Finding, Kind, Unit
from guarantees.lifecycle import FindingHistory, changes, fold
from guarantees.rules.duplicates import duplicate_findings
from guarantees.rules.losses import loss_episodes, loss_findings
from settings import PipelineSettings
from spark_jobs.aborted_findings import aborted_findings
from spark_jobs.losses import LATE
from spark_jobs.statistics import ExtraCopies, extra_copies, ids
from store.findings import append_events, load_findings
from store.log import SegmentLog
from store.metrics import Transaction

RECORD_KINDS = (Kind.DUPLICATE_WRITE, Kind.LOST_WRITE, Kind.ABORTED_AT_SINK)

_DUPLICATES = """
SELECT cluster_id, topic, topic_id, "partition", cause, producer_id, producer_epoch,
    list(DISTINCT first_producer_id) AS first_producer_ids, sum(sampled_extra_copies)::BIGINT AS sampled,
    count(*) AS ranges, min("lower") AS "lower", min(estimate) AS estimate, min("upper") AS "upper",
    min(sampling_rate) AS sampling_rate, max(horizon_s) AS horizon_s,
    min(first_copy_offset) AS first_offset, max(last_copy_offset) AS last_offset,
    epoch_ms(min(observed_at)) AS first_observed_at_ms, epoch_ms(max(observed_at)) AS last_observed_at_ms,
    list(examples ORDER BY first_offset)[:5] AS examples
FROM duplicates GROUP BY ALL HAVING max(observed_at) >= make_timestamptz(? * 1000)
"""
_LOST = """
SELECT topic, topic_id, cluster_id, "partition", "offset", message_id, state,
    epoch_ms(record_observed_at) AS observed_ms, epoch_ms(passed_at) AS passed_ms, epoch_ms(observed_at) AS changed_ms
FROM lost_ids WHERE pipeline = ?
"""
_LOSSES = (
    "SELECT topic_id, sampling_rate, settle_s, sink_read_to FROM losses WHERE pipeline = ? ORDER BY observed_at DESC"
)


class RecordFindings:
    """The findings of the record rules as the store knows them, kept up to date."""

    def __init__(self, data_dir: Path, log: SegmentLog, pipelines: Iterable[PipelineSettings]) -> None:
        self._log = log
        self._pipelines = {pipeline.name: pipeline for pipeline in pipelines}
        stored = load_findings(data_dir)
        self._known = {key: each for key, each in stored.items() if each.finding.kind in RECORD_KINDS}

    def judge(self, transaction: Transaction, pipelines: Iterable[str], *, since_ms: int, now_ms: int) -> list[Finding]:
        """What the metrics say: duplicates and aborted reads that grew since a time, losses of the named pipelines."""
        found = self._duplicates(transaction, since_ms, now_ms)
        found += aborted_findings(transaction, self._pipelines, since_ms, now_ms)
        for name in pipelines:
            found += self._losses(transaction, self._pipelines[name])
        return found

    def append(self, found: list[Finding], now_ms: int) -> None:
        """Write what changed; only after the metrics it rests on are committed."""
        events = changes(self._known, found, now_ms)
        append_events(self._log, events)
        self._known: Mapping[str, FindingHistory] = fold(events, self._known)

    def _duplicates(self, transaction: Transaction, since_ms: int, now_ms: int) -> list[Finding]:
        groups = [duplicate_group(row) for row in transaction.query(_DUPLICATES, [since_ms]).to_pylist()]
        declared = [pipeline.pipeline for pipeline in self._pipelines.values()]
        return duplicate_findings(groups, declared, now_ms)

    def _losses(self, transaction: Transaction, pipeline: PipelineSettings) -> list[Finding]:
        state = {row["topic_id"]: row for row in reversed(transaction.query(_LOSSES, [pipeline.name]).to_pylist())}
        by_topic: dict[str, list[dict[str, Any]]] = {}
        for row in transaction.query(_LOST, [pipeline.name]).to_pylist():
            by_topic.setdefault(row["topic_id"], []).append(row)
        return [
            finding
            for topic_id, rows in by_topic.items()
            for finding in _loss_findings(pipeline, rows, state[topic_id])
        ]


def duplicate_group(row: Mapping[str, Any]) -> DuplicateGroup:
    """All covered ranges' rows of one partition, cause and producer as the rule's input."""
    examples = [example for each in row["examples"] for example in json.loads(each)][:5]
    return DuplicateGroup(
        cluster_id=row["cluster_id"],
        topic=row["topic"],
        topic_id=row["topic_id"],
        partition=row["partition"],
        cause=DuplicateCause(row["cause"]),
        producer_id=_known(row["producer_id"]),
        producer_epoch=_known(row["producer_epoch"]),
        first_producer_ids=tuple(sorted(each for each in row["first_producer_ids"] if each >= 0)),
        extra_copies=_extra_copies(row),
        sampling_rate=row["sampling_rate"],
        horizon_s=row["horizon_s"],
        first_offset=row["first_offset"],
        last_offset=row["last_offset"],
        first_observed_at_ms=row["first_observed_at_ms"],
        last_observed_at_ms=row["last_observed_at_ms"],
        examples=tuple(
            DuplicateExample(each["message_id"], StoredCopy(**each["first"]), StoredCopy(**each["last"]))
            for each in examples
        ),
    )


def _extra_copies(row: Mapping[str, Any]) -> Bounds:
    """The interval of a single range as it was computed; over several, one extra copy per id and range is assumed."""
    if row["ranges"] == 1:
        return Bounds(row["lower"], row["estimate"], row["upper"], Unit.RECORDS)
    interval = extra_copies(ExtraCopies(row["sampled"], row["sampled"], 1), row["sampling_rate"])
    return Bounds(interval.lower, interval.estimate, interval.upper, Unit.RECORDS)


def _known(value: int) -> int | None:
    return value if value >= 0 else None


def _loss_findings(pipeline: PipelineSettings, rows: list[dict[str, Any]], state: Mapping[str, Any]) -> list[Finding]:
    rate = state["sampling_rate"]

    def estimated(seen: int) -> Bounds:
        interval = ids(seen, rate)
        return Bounds(interval.lower, interval.estimate, interval.upper, Unit.MESSAGE_IDS)

    audit = LossAudit(
        pipeline=pipeline.name,
        cluster_id=rows[0]["cluster_id"],
        topic=rows[0]["topic"],
        topic_id=rows[0]["topic_id"],
        group_id=pipeline.group,
        sink=pipeline.sink or "",
        sampling_rate=rate,
        settle_s=state["settle_s"],
        is_one_to_one=pipeline.one_to_one,
        sink_read_to=tuple((partition, offset) for partition, offset in json.loads(state["sink_read_to"])),
        decided_at_ms=max(row["changed_ms"] for row in rows),
    )
    lost: dict[int, list[LostId]] = {}
    for row in rows:
        one = LostId(row["message_id"], row["offset"], row["observed_ms"], row["passed_ms"], row["state"] == LATE)
        lost.setdefault(row["partition"], []).append(one)
    return loss_findings(loss_episodes(audit, lost, estimated))
