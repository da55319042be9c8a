"""From rows of aborted_at_sink to the findings of the aborted-read rule."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from guarantees.audits import AbortedAudit, AbortedId
from guarantees.findings import Bounds, Finding, Unit
from guarantees.rules.aborted_reads import aborted_read_findings
from settings import PipelineSettings
from spark_jobs.statistics import ids_at_rates
from store.metrics import Transaction

_ABORTED = """
SELECT pipeline, cluster_id, topic, topic_id, "partition", "offset", message_id, producer_id, producer_epoch, found_at,
    sampling_rate, epoch_ms(sink_observed_at) AS sink_observed_at_ms, epoch_ms(sought_since) AS sought_since_ms,
    epoch_ms(decided_at) AS decided_at_ms
FROM aborted_at_sink
QUALIFY max(observed_at) OVER (PARTITION BY pipeline, topic_id, "partition") >= make_timestamptz(? * 1000)
"""


def aborted_findings(
    transaction: Transaction, pipelines: Mapping[str, PipelineSettings], since_ms: int, now_ms: int
) -> list[Finding]:
    """Those of partitions of which ids were decided since a time; a pipeline that is no longer declared has none."""
    by_partition: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for row in transaction.query(_ABORTED, [since_ms]).to_pylist():
        if row["pipeline"] in pipelines:
            by_partition.setdefault((row["pipeline"], row["topic_id"], row["partition"]), []).append(row)
    return [
        finding
        for (name, _, _), rows in sorted(by_partition.items())
        for finding in _of_partition(pipelines[name], rows, now_ms)
    ]


def _of_partition(pipeline: PipelineSettings, rows: Sequence[Mapping[str, Any]], now_ms: int) -> list[Finding]:
    audit = AbortedAudit(
        pipeline=pipeline.name,
        **{name: rows[0][name] for name in ("cluster_id", "topic", "topic_id", "partition")},
        group_id=pipeline.group,
        sink=pipeline.sink or "",
        settle_s=pipeline.settle_s,
        horizon_s=pipeline.horizon_s,
    )
    found = [AbortedId(**{name: row[name] for name in AbortedId.__dataclass_fields__}) for row in rows]
    return aborted_read_findings(audit, found, _estimated, now_ms)


def _estimated(found: Iterable[AbortedId]) -> Bounds:
    interval = ids_at_rates(Counter(one.sampling_rate for one in found))
    return Bounds(interval.lower, interval.estimate, interval.upper, Unit.MESSAGE_IDS)
