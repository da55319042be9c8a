"""Lost ids of a pipeline as the metrics hold them, live and exact, as the input of the loss rule."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from guarantees.audited_losses import AuditedLosses, with_audits
from guarantees.audits import LossAudit, LossEpisode, LostId
from guarantees.findings import Bounds, Unit
from guarantees.rules.losses import loss_episodes
from settings import PipelineSettings
from spark_jobs.losses import LATE
from spark_jobs.statistics import ids_at_rates
from store.metrics import Transaction

_LOST = """
SELECT topic, topic_id, cluster_id, "partition", "offset", message_id, state,
    coalesce(lost_ids.sampling_rate, losses.sampling_rate, 1) AS rate,
    epoch_ms(record_observed_at) AS observed_ms, epoch_ms(passed_at) AS passed_ms,
    epoch_ms(lost_ids.decided_at) AS decided_ms, epoch_ms(lost_ids.observed_at) AS changed_ms
FROM lost_ids LEFT JOIN losses USING (pipeline, cluster_id, topic, topic_id, "partition") WHERE pipeline = ?
"""
_LOSSES = "SELECT topic_id, settle_s, sink_read_to FROM losses WHERE pipeline = ? ORDER BY observed_at DESC"
# Lost only where the group is known to have passed, and where the sink still had all it had been given: what retention
# or an open transaction hides of it may be what is sought.
_AUDITED = """
SELECT source.audit_id, source.cluster_id, source.topic, source.topic_id, source."partition", source.first_offset,
    source.next_offset, source.lost, epoch_ms(source.observed_at) AS decided_ms, epoch_ms(window_from) AS from_ms,
    epoch_ms(window_to) AS to_ms,
    (SELECT list([sink."partition", sink.read_to] ORDER BY sink."partition") FROM audit_ranges AS sink
        WHERE sink.audit_id = source.audit_id AND sink.side = 'sink') AS sink_read_to
FROM audit_ranges AS source JOIN audit_runs USING (run_id)
WHERE source.pipeline = ? AND source.side = 'source' AND source.lost + source.late > 0
    AND source.committed_to IS NOT NULL
    AND NOT EXISTS (FROM audit_ranges AS sink WHERE sink.audit_id = source.audit_id AND sink.side = 'sink'
        AND (sink.begins_at_log_start OR sink.below_log_start + sink.undecided > 0))
"""
_AUDITED_IDS = """
SELECT audit_id, topic_id, "partition", "offset", message_id, state, epoch_ms(timestamp) AS timestamp_ms
FROM audit_ids WHERE pipeline = ? AND state IN ('lost', 'late')
"""

Row = Mapping[str, Any]


def pipeline_episodes(transaction: Transaction, pipeline: PipelineSettings) -> list[LossEpisode]:
    """Of every history of its source that anybody judged."""
    state = {row["topic_id"]: row for row in reversed(transaction.query(_LOSSES, [pipeline.name]).to_pylist())}
    live = _by_topic(transaction.query(_LOST, [pipeline.name]).to_pylist())
    audits = _by_topic(transaction.query(_AUDITED, [pipeline.name]).to_pylist())
    listed = transaction.query(_AUDITED_IDS, [pipeline.name]).to_pylist() if audits else []
    found: list[LossEpisode] = []
    for topic_id in sorted(live.keys() | audits.keys()):
        rows, exact = live.get(topic_id, []), audits.get(topic_id, [])
        shared = _shared(pipeline, [*rows, *exact], state.get(topic_id))
        episodes = loss_episodes(shared, _live_ids(rows), _estimated)
        found += with_audits(episodes, [_audited(row, listed) for row in exact], shared, _estimated)
    return found


def _shared(pipeline: PipelineSettings, known: list[Row], state: Row | None) -> LossAudit:
    """An exact audit alone leaves no state of live rounds: its own figures stand in its episodes."""
    return LossAudit(
        pipeline=pipeline.name,
        cluster_id=known[0]["cluster_id"],
        topic=known[0]["topic"],
        topic_id=known[0]["topic_id"],
        group_id=pipeline.group,
        sink=pipeline.sink or "",
        settle_s=pipeline.settle_s if state is None else state["settle_s"],
        is_one_to_one=pipeline.one_to_one,
        sink_read_to=() if state is None else tuple((p, offset) for p, offset in json.loads(state["sink_read_to"])),
    )


def _estimated(lost: Iterable[LostId]) -> Bounds:
    interval = ids_at_rates(Counter(one.sampling_rate for one in lost))
    return Bounds(interval.lower, interval.estimate, interval.upper, Unit.MESSAGE_IDS)


def _live_ids(rows: list[Row]) -> dict[int, list[LostId]]:
    """By partition of the source."""
    lost: dict[int, list[LostId]] = {}
    for row in rows:
        one = LostId(
            message_id=row["message_id"],
            offset=row["offset"],
            observed_at_ms=row["observed_ms"],
            passed_at_ms=row["passed_ms"],
            is_late=row["state"] == LATE,
            decided_at_ms=row["decided_ms"],
            changed_at_ms=row["changed_ms"],
            sampling_rate=row["rate"],
        )
        lost.setdefault(row["partition"], []).append(one)
    return lost


def _audited(row: Row, listed: list[Row]) -> AuditedLosses:
    place = (row["audit_id"], row["topic_id"], row["partition"])
    own = [one for one in listed if (one["audit_id"], one["topic_id"], one["partition"]) == place]
    return AuditedLosses(
        partition=row["partition"],
        first_offset=row["first_offset"],
        next_offset=row["next_offset"],
        ids_lost=row["lost"],
        ids=tuple(_listed(one, row) for one in own),
        sink_read_to=tuple((partition, offset) for partition, offset in row["sink_read_to"]),
        decided_at_ms=row["decided_ms"],
    )


def _listed(one: Row, audit: Row) -> LostId:
    """The record's own time is the producer's word: it counts as far as it lies in the audited window."""
    stored_ms = audit["from_ms"] if one["timestamp_ms"] is None else one["timestamp_ms"]
    at_ms = min(max(stored_ms, audit["from_ms"]), audit["to_ms"])
    decided_ms = audit["decided_ms"]
    return LostId(one["message_id"], one["offset"], at_ms, None, one["state"] == LATE, decided_ms, decided_ms)


def _by_topic(rows: list[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["topic_id"], []).append(row)
    return found
