"""Batches that differ between copies, as exact audits left them in the metrics, as findings; and those that are over.

Contents are of a partition, whichever pipeline asked: batches that several audits found count once.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from guarantees.audited_content import DifferingBatch, DifferingCopy
from guarantees.findings import Finding, Kind
from guarantees.promises import Pipeline
from guarantees.rules.conflicting_offsets import conflict_findings
from spark_jobs.audits.content_reading import EARLIER
from store.metrics import Transaction

EQUAL = "an audit that was asked for later found every copy of these offsets equal"
_DIFFERING = """
SELECT cluster_id, topic, topic_id, "partition", audit_id, copy, base_offset, leader_epoch, crc, copy_leader_epoch,
    copy_crc, ranges.first_offset AS first, ranges.next_offset AS following, ranges.batches_differing,
    epoch_ms(window_from) AS from_ms, epoch_ms(batches.observed_at) AS decided_ms
FROM audit_content AS batches
JOIN audit_ranges AS ranges USING (audit_id, cluster_id, topic, topic_id, "partition")
JOIN audit_runs AS runs USING (audit_id) WHERE runs.run_id = batches.run_id
ORDER BY base_offset, batches.observed_at
"""
_DUE = "SELECT 1 FROM audit_content WHERE observed_at >= make_timestamptz(? * 1000) LIMIT 1"
# Every copy was read and none differs, of all offsets from the first differing batch to the last.
_EQUAL = """
SELECT epoch_ms(max(observed_at)) AS equal_ms FROM audit_ranges
WHERE cluster_id = ? AND topic_id = ? AND "partition" = ? AND first_offset <= ? AND next_offset > ?
    AND batches_differing = 0 AND copies_silent = 0 AND below_log_start = 0
    AND observed_at > make_timestamptz(? * 1000)
"""

Row = Mapping[str, Any]


def content_findings(
    transaction: Transaction, pipelines: Iterable[Pipeline], known: Iterable[Finding], since_ms: int
) -> list[Finding]:
    """All that differs where an audit found any since a time, and of `known` findings those that are over."""
    copies = differing_copies(transaction) if transaction.query(_DUE, [since_ms]).num_rows else []
    found = conflict_findings(copies, pipelines)
    told = {finding.finding_id for finding in found}
    open_before = (
        each for each in known
        if each.kind is Kind.CONFLICTING_OFFSET and each.closed_reason is None and each.finding_id not in told
    )  # fmt: skip
    return found + [over for each in open_before if (over := _over(transaction, each)) is not None]


def differing_copies(transaction: Transaction) -> list[DifferingCopy]:
    """By partition and copy."""
    rows = transaction.query(_DIFFERING).to_pylist()
    by_copy: dict[tuple[str, str, int, int], list[Row]] = {}
    for row in rows:
        by_copy.setdefault((row["cluster_id"], row["topic_id"], row["partition"], row["copy"]), []).append(row)
    listed = Counter(_of_audit(row) for row in rows)
    cut = {_of_audit(row) for row in rows if listed[_of_audit(row)] < (row["batches_differing"] or 0)}
    return [_copy(own, is_all=not any(_of_audit(row) in cut for row in own)) for _, own in sorted(by_copy.items())]


def _of_audit(row: Row) -> tuple[str, str, int]:
    return row["audit_id"], row["topic_id"], row["partition"]


def _copy(rows: Sequence[Row], *, is_all: bool) -> DifferingCopy:
    """The newest audit of a batch counts."""
    first = rows[0]
    batches = {
        row["base_offset"]: DifferingBatch(**{name: row[name] for name in DifferingBatch.__dataclass_fields__})
        for row in rows
    }
    return DifferingCopy(
        **{name: first[name] for name in ("cluster_id", "topic", "topic_id", "partition")},
        replica=None if first["copy"] == EARLIER else first["copy"],
        batches=tuple(batches[offset] for offset in sorted(batches)),
        is_all=is_all,
        written_from_ms=min(row["from_ms"] for row in rows),
        decided_at_ms=max(row["decided_ms"] for row in rows),
        audited=tuple(sorted({(row["first"], row["following"]) for row in rows})),
    )


def _over(transaction: Transaction, finding: Finding) -> Finding | None:
    """Closed where a later audit read every copy and none differs. What was read earlier stays as it was read."""
    place, evidence = finding.place, finding.evidence
    if evidence.get("replica") is None:
        return None
    about = [place.cluster_id, place.topic_id, place.partition, evidence["first_offset"], evidence["last_offset"]]
    (row,) = transaction.query(_EQUAL, [*about, finding.last_seen_at_ms]).to_pylist()
    if row["equal_ms"] is None:
        return None
    return replace(finding, last_seen_at_ms=row["equal_ms"], closed_reason=EQUAL)
