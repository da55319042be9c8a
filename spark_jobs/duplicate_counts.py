"""Extra copies as the metrics hold them, live and exact, as one group for each partition, cause and producer.

Live rounds see a sample of all offsets, an exact audit every id of a window. Both are of the same copies: in its window
the exact count takes the place of the estimate.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from guarantees.audits import DuplicateCause, DuplicateExample, DuplicateGroup, StoredCopy
from guarantees.findings import Bounds, Unit
from spark_jobs.statistics import copies_at_rates
from store.metrics import Transaction

EXAMPLES = 5
KEY = ("cluster_id", "topic", "topic_id", "partition", "cause", "producer_id", "producer_epoch")
_KEY = ", ".join(f'"{name}"' for name in KEY)
# A group is looked at whole, or its figures would change with the time that is looked at.
_DUE = f"""WITH due AS (
    SELECT {_KEY} FROM duplicates WHERE observed_at >= make_timestamptz(? * 1000) UNION
    SELECT {_KEY} FROM audit_duplicates WHERE observed_at >= make_timestamptz(? * 1000))"""
_LIVE = f"""{_DUE}
SELECT {_KEY}, list(DISTINCT first_producer_id) AS first_producer_ids, sum(sampled_extra_copies)::BIGINT AS sampled,
    count(*) AS ranges, min("lower") AS "lower", min(estimate) AS estimate, min("upper") AS "upper",
    min(sampling_rate) AS sampling_rate, max(horizon_s) AS horizon_s,
    min(first_copy_offset) AS first_offset, max(last_copy_offset) AS last_offset,
    epoch_ms(min(observed_at)) AS first_observed_at_ms, epoch_ms(max(observed_at)) AS last_observed_at_ms,
    list(examples ORDER BY first_offset)[:{EXAMPLES}] AS examples
FROM duplicates SEMI JOIN due USING ({_KEY}) GROUP BY ALL
"""
_RATES = f"""{_DUE}
SELECT {_KEY}, sampling_rate AS rate, sum(sampled_extra_copies)::BIGINT AS sampled
FROM duplicates SEMI JOIN due USING ({_KEY}) GROUP BY ALL
"""
_RANGES = f"""{_DUE}
SELECT {_KEY}, first_copy_offset AS first, last_copy_offset AS last, sampling_rate AS rate,
    sampled_extra_copies AS sampled
FROM duplicates SEMI JOIN due USING ({_KEY}) SEMI JOIN audit_duplicates USING ({_KEY})
"""
_EXACT = f"""{_DUE}
SELECT {_KEY}, audit_id, copies.pipeline, ranges.first_offset AS first, ranges.next_offset AS following,
    sum(copies.extra_copies)::BIGINT AS extra_copies, list(DISTINCT first_producer_id) AS first_producer_ids,
    min(first_copy_offset) AS first_offset, max(last_copy_offset) AS last_offset,
    epoch_ms(window_from) AS from_ms, epoch_ms(window_to) AS to_ms,
    list(examples ORDER BY first_copy_offset)[:{EXAMPLES}] AS examples
FROM audit_duplicates AS copies SEMI JOIN due USING ({_KEY})
JOIN audit_ranges AS ranges USING (audit_id, cluster_id, topic, topic_id, "partition")
JOIN audit_runs AS runs USING (audit_id) WHERE runs.run_id = copies.run_id GROUP BY ALL
"""

Row = Mapping[str, Any]


@dataclass(slots=True)
class Counted:
    """What is known of one group: live over all covered ranges, by rate, its ranges one by one, and exact audits."""

    live: Row | None = None
    seen: dict[float, int] = field(default_factory=dict)
    ranges: list[Row] = field(default_factory=list)
    audits: list[Row] = field(default_factory=list)


def duplicate_groups(transaction: Transaction, since_ms: int, edge_s: Mapping[str, float]) -> list[DuplicateGroup]:
    """The groups that grew since a time. `edge_s`: how far back an audit of a pipeline seeks first copies."""
    found: dict[tuple[object, ...], Counted] = {}
    for row in transaction.query(_LIVE, [since_ms, since_ms]).to_pylist():
        found.setdefault(_key(row), Counted()).live = row
    for row in transaction.query(_RATES, [since_ms, since_ms]).to_pylist():
        found[_key(row)].seen[row["rate"]] = row["sampled"]
    for row in transaction.query(_RANGES, [since_ms, since_ms]).to_pylist():
        found[_key(row)].ranges.append(row)
    for row in transaction.query(_EXACT, [since_ms, since_ms]).to_pylist():
        found.setdefault(_key(row), Counted()).audits.append(row)
    return [duplicate_group(counted, edge_s) for counted in found.values()]


def duplicate_group(counted: Counted, edge_s: Mapping[str, float]) -> DuplicateGroup:
    """All that is known of one group as the rule's input."""
    audits = apart(counted.audits)
    rows = [row for row in (counted.live, *audits) if row is not None]
    examples = [example for row in rows for each in row["examples"] for example in json.loads(each)][:EXAMPLES]
    first = rows[0]
    is_exact = counted.live is None or _is_exact(counted, audits, edge_s)
    return DuplicateGroup(
        cluster_id=first["cluster_id"],
        topic=first["topic"],
        topic_id=first["topic_id"],
        partition=first["partition"],
        cause=DuplicateCause(first["cause"]),
        producer_id=_known(first["producer_id"]),
        producer_epoch=_known(first["producer_epoch"]),
        first_producer_ids=tuple(sorted({each for row in rows for each in row["first_producer_ids"] if each >= 0})),
        extra_copies=_bounds(counted, audits, is_exact),
        sampling_rate=1.0 if is_exact or counted.live is None else counted.live["sampling_rate"],
        horizon_s=_horizon_s(counted, edge_s),
        first_offset=min(row["first_offset"] for row in rows),
        last_offset=max(row["last_offset"] for row in rows),
        first_observed_at_ms=_first_observed(counted.live, audits),
        last_observed_at_ms=_last_observed(counted.live, audits),
        examples=tuple(
            DuplicateExample(each["message_id"], StoredCopy(**each["first"]), StoredCopy(**each["last"]))
            for each in examples
        ),
        audited=tuple(sorted((audit["first"], audit["following"]) for audit in audits)),
    )


def apart(audits: Iterable[Row], counted: str = "extra_copies") -> list[Row]:
    """Audits whose windows share no offset, those that counted most first: nothing is counted twice."""
    chosen: list[Row] = []
    for audit in sorted(audits, key=lambda audit: (-audit[counted], audit["first"])):
        if all(audit["following"] <= other["first"] or other["following"] <= audit["first"] for other in chosen):
            chosen.append(audit)
    return chosen


def _bounds(counted: Counted, audits: Sequence[Row], is_exact: bool) -> Bounds:
    """Exact inside the audited windows, estimated outside; copies of a range that lies across an edge may be in both.

    An audit seeks first copies as far back as its edge, a live round as far as its horizon: where that is farther, the
    exact count is the least there are.
    """
    live = counted.live
    exact = sum(audit["extra_copies"] for audit in audits)
    if live is None:
        return Bounds(exact, exact, exact, Unit.RECORDS)
    if not audits:
        return _all_of(counted)
    sampled: dict[str, Counter[float]] = {place: Counter() for place in ("inside", "across", "outside")}
    for row in counted.ranges:
        sampled[_place(row, audits)][row["rate"]] += row["sampled"]
    inside, beside = _part(sampled["inside"], counted), _part(sampled["outside"] + sampled["across"], counted)
    least = max(exact, sampled["inside"].total())
    return Bounds(
        least + _part(sampled["outside"], counted).lower,
        (least if is_exact else max(least, inside.estimate or 0)) + (beside.estimate or 0),
        (least if is_exact else max(least, inside.upper or 0)) + (beside.upper or 0),
        Unit.RECORDS,
    )


def _place(row: Row, audits: Iterable[Row]) -> str:
    """Where the copies of a covered range lie."""
    for audit in audits:
        if audit["first"] <= row["first"] and row["last"] < audit["following"]:
            return "inside"
        if audit["first"] <= row["last"] and row["first"] < audit["following"]:
            return "across"
    return "outside"


def _all_of(counted: Counted) -> Bounds:
    """The interval of a single range as it was computed; over several, one extra copy per id and range is assumed."""
    row = counted.live
    if row is not None and row["ranges"] == 1:
        return Bounds(row["lower"], row["estimate"], row["upper"], Unit.RECORDS)
    return _interval(counted.seen)


def _part(sampled: Counter[float], counted: Counted) -> Bounds:
    """So many of the sampled copies. Nothing where nothing was seen: what may have been there is not of the group."""
    if not sampled.total():
        return Bounds(0, 0, 0, Unit.RECORDS)
    return _all_of(counted) if sampled == counted.seen else _interval(sampled)


def _interval(seen: Mapping[float, int]) -> Bounds:
    interval = copies_at_rates(seen)
    return Bounds(interval.lower, interval.estimate, interval.upper, Unit.RECORDS)


def _is_exact(counted: Counted, audits: Sequence[Row], edge_s: Mapping[str, float]) -> bool:
    """All copies seen live lie in windows of audits that sought their first copies as far back."""
    horizon_s = counted.live["horizon_s"] if counted.live is not None else 0.0
    reach = [edge_s.get(audit["pipeline"], 0.0) for audit in audits]
    return bool(audits) and min(reach) >= horizon_s and all(_place(row, audits) == "inside" for row in counted.ranges)


def _horizon_s(counted: Counted, edge_s: Mapping[str, float]) -> float:
    if counted.live is not None:
        return float(counted.live["horizon_s"])
    return max(edge_s.get(audit["pipeline"], 0.0) for audit in counted.audits)


def _first_observed(live: Row | None, audits: Sequence[Row]) -> int:
    """An audit knows the time by its window."""
    earlier = [audit for audit in audits if live is None or audit["first_offset"] < live["first_offset"]]
    times = [audit["from_ms"] for audit in earlier] + ([] if live is None else [live["first_observed_at_ms"]])
    return int(min(times))


def _last_observed(live: Row | None, audits: Sequence[Row]) -> int:
    later = [audit for audit in audits if live is None or audit["last_offset"] > live["last_offset"]]
    times = [audit["to_ms"] for audit in later] + ([] if live is None else [live["last_observed_at_ms"]])
    return int(max(times))


def _key(row: Row) -> tuple[object, ...]:
    return tuple(row[name] for name in KEY)


def _known(value: int) -> int | None:
    return value if value >= 0 else None
