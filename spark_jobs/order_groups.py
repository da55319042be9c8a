"""Records out of order as exact audits left them in the metrics: one group for each pipeline, partition and producer.

Of audits whose windows overlap the one that found most counts, so that nothing is counted twice.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from guarantees.audited_order import OrderCause, OrderedRecord, OrderExample, OrderGroup
from settings import PipelineSettings, RecordOrder
from spark_jobs.duplicate_counts import apart
from store.metrics import Transaction

EXAMPLES = 5
KEY = ("pipeline", "cluster_id", "topic", "topic_id", "partition", "cause", "producer_id", "producer_epoch")
_CAUSE = f"""CASE WHEN least(first_producer_id, producer_id) < 0 THEN '{OrderCause.NOT_IDEMPOTENT}'
    WHEN first_producer_id = producer_id THEN '{OrderCause.SAME_PRODUCER}' ELSE '{OrderCause.OTHER_PRODUCER}' END"""
# A group is looked at whole, or its figures would change with the time that is looked at.
_FOUND = f"""
WITH told AS (SELECT *, {_CAUSE} AS cause FROM audit_order)
SELECT {", ".join(f'told."{name}"' for name in KEY)}, audit_id, ranges.first_offset AS first,
    ranges.next_offset AS following, any_value(ranges.keys_elsewhere) AS keys_elsewhere,
    sum(told.out_of_order)::BIGINT AS out_of_order, list(DISTINCT first_producer_id) AS first_producer_ids,
    min(told.first_offset) AS first_offset, max(told.last_offset) AS last_offset,
    min(nearest_offsets) AS nearest_offsets, max(farthest_offsets) AS farthest_offsets,
    epoch_ms(window_from) AS from_ms, epoch_ms(window_to) AS to_ms, epoch_ms(max(told.observed_at)) AS decided_ms,
    list(examples ORDER BY told.first_offset)[:{EXAMPLES}] AS examples
FROM told
JOIN audit_ranges AS ranges USING (audit_id, cluster_id, topic, topic_id, "partition")
JOIN audit_runs AS runs USING (audit_id) WHERE runs.run_id = told.run_id GROUP BY ALL
"""
_DUE = "SELECT 1 FROM audit_order WHERE observed_at >= make_timestamptz(? * 1000) LIMIT 1"

Row = Mapping[str, Any]


def order_groups(
    transaction: Transaction, pipelines: Mapping[str, PipelineSettings], since_ms: int
) -> list[OrderGroup]:
    """All groups of pipelines that declare an order still, where an audit found any since a time; else none."""
    if not transaction.query(_DUE, [since_ms]).num_rows:
        return []
    found: dict[tuple[object, ...], list[Row]] = {}
    for row in transaction.query(_FOUND).to_pylist():
        pipeline = pipelines.get(row["pipeline"])
        if pipeline is not None and pipeline.order is not None:
            found.setdefault(tuple(row[name] for name in KEY), []).append(row)
    return [order_group(rows, pipelines[rows[0]["pipeline"]]) for _, rows in sorted(found.items())]


def order_group(rows: Iterable[Row], pipeline: PipelineSettings) -> OrderGroup:
    """What the audits of one group know together."""
    audits = apart(rows, "out_of_order")
    first = audits[0]
    examples = [json.loads(each) for row in audits for each in row["examples"]]
    return OrderGroup(
        **{name: first[name] for name in ("pipeline", "cluster_id", "topic", "topic_id", "partition")},
        cause=OrderCause(first["cause"]),
        producer_id=_known(first["producer_id"]),
        producer_epoch=_known(first["producer_epoch"]),
        first_producer_ids=tuple(sorted({each for row in audits for each in row["first_producer_ids"] if each >= 0})),
        out_of_order=sum(row["out_of_order"] for row in audits),
        first_offset=min(row["first_offset"] for row in audits),
        last_offset=max(row["last_offset"] for row in audits),
        nearest_offsets=min(row["nearest_offsets"] for row in audits),
        farthest_offsets=max(row["farthest_offsets"] for row in audits),
        keys_elsewhere=sum(row["keys_elsewhere"] or 0 for row in audits),
        order=in_words(pipeline.order),
        window_ms=(min(row["from_ms"] for row in audits), max(row["to_ms"] for row in audits)),
        decided_at_ms=max(row["decided_ms"] for row in audits),
        horizon_s=pipeline.horizon_s,
        audited=tuple(sorted((row["first"], row["following"]) for row in audits)),
        examples=tuple(_example(each) for listed in examples for each in listed)[:EXAMPLES],
    )


def in_words(order: RecordOrder | None) -> str:
    """What is declared to rise."""
    if order is None or order.timestamp:
        return "the record's time"
    return f"the number in the header {order.header}" if order.header else f"the number at {order.json} of the value"


def _example(each: Row) -> OrderExample:
    return OrderExample(each["key"], each["key_hash"], OrderedRecord(**each["earlier"]), OrderedRecord(**each["later"]))


def _known(value: int) -> int | None:
    return value if value >= 0 else None
