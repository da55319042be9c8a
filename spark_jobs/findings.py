"""From metrics to findings: rows of the metrics as the record rules' inputs, and the rules' answers as events.

Everything is derived from committed rows, so evaluating again gives the same findings: a crash between a commit and
its findings costs nothing but the evaluation at the next start.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from guarantees.findings import Finding, Kind
from guarantees.kept_identities import with_kept_identities
from guarantees.lifecycle import FindingHistory, changes, fold
from guarantees.promises import Pipeline
from guarantees.rules.duplicates import duplicate_findings
from guarantees.rules.losses import loss_findings
from guarantees.rules.out_of_order import order_findings
from settings import PipelineSettings
from spark_jobs.aborted_findings import aborted_findings
from spark_jobs.content_findings import content_findings
from spark_jobs.duplicate_counts import duplicate_groups
from spark_jobs.order_groups import order_groups
from spark_jobs.pipeline_episodes import pipeline_episodes
from store.findings import append_events, load_findings
from store.log import SegmentLog
from store.metrics import Transaction

JOBS = "jobs"  # the role under which they are appended; who holds the metrics is the only one
RECORD_KINDS = (
    Kind.DUPLICATE_WRITE,
    Kind.LOST_WRITE,
    Kind.ABORTED_AT_SINK,
    Kind.OUT_OF_ORDER,
    Kind.CONFLICTING_OFFSET,
)


class RecordFindings:
    """The findings of the record rules as the store knows them, kept up to date."""

    def __init__(self, data_dir: Path, log: SegmentLog, pipelines: Iterable[PipelineSettings]) -> None:
        self._log = log
        self._pipelines = {pipeline.name: pipeline for pipeline in pipelines}
        stored = load_findings(data_dir)
        self._known = {key: each for key, each in stored.items() if each.finding.kind in RECORD_KINDS}

    def judge(self, transaction: Transaction, pipelines: Iterable[str], *, since_ms: int, now_ms: int) -> list[Finding]:
        """What live rounds and exact audits say: duplicates, aborted reads, disorder and differing contents that grew
        since a time, and the losses of the named pipelines.
        """
        found = self._duplicates(transaction, since_ms, now_ms)
        found += aborted_findings(transaction, self._pipelines, since_ms, now_ms)
        found += order_findings(order_groups(transaction, self._pipelines, since_ms), now_ms)
        found += self._contents(transaction, since_ms)
        for name in pipelines:
            found += loss_findings(pipeline_episodes(transaction, self._pipelines[name]))
        return [finding for finding in with_kept_identities(found, self._known) if self._is_told(finding)]

    def append(self, found: list[Finding], now_ms: int) -> None:
        """Write what changed; only after the metrics it rests on are committed."""
        events = changes(self._known, found, now_ms)
        append_events(self._log, events)
        self._known: Mapping[str, FindingHistory] = fold(events, self._known)

    def _duplicates(self, transaction: Transaction, since_ms: int, now_ms: int) -> list[Finding]:
        edge_s = {name: pipeline.settle_s for name, pipeline in self._pipelines.items()}
        return duplicate_findings(duplicate_groups(transaction, since_ms, edge_s), self._declared, now_ms)

    def _contents(self, transaction: Transaction, since_ms: int) -> list[Finding]:
        known = (each.finding for each in self._known.values())
        return content_findings(transaction, self._declared, known, since_ms)

    @property
    def _declared(self) -> list[Pipeline]:
        return [pipeline.pipeline for pipeline in self._pipelines.values()]

    def _is_told(self, finding: Finding) -> bool:
        """What had come late before anybody called it lost is nothing to tell."""
        came_late = finding.kind is Kind.LOST_WRITE and not finding.evidence["sampled_lost"]
        return not came_late or finding.finding_id in self._known
