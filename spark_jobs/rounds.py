"""A live round: plan, read, compare, commit, judge. What it learned is remembered only once it is committed.

Order, so that a death at any point costs nothing but the round: samples first, each segment named by its range; then
ledger, duplicates, losses, aborted reads and the run in one transaction; then the findings, which follow from what is
committed.
"""

import logging
import time
from collections.abc import Container, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from guarantees.findings import Finding
from kafka_reader.errors import CollectionError
from settings import Settings
from spark_jobs import ledger
from spark_jobs.clusters import AuditedCluster
from spark_jobs.duplicates import duplicate_rows
from spark_jobs.findings import RecordFindings
from spark_jobs.offsets import ClusterNow
from spark_jobs.pipeline_watches import Judgements, PipelineWatches
from spark_jobs.ranges import OffsetRange, Plan
from spark_jobs.runs import EXPIRED, IdleRows, run_row
from spark_jobs.samples import RangeRead, append_samples, new_samples, read_ranges
from spark_jobs.session import tasks_at_once
from spark_jobs.sources.kafka_ranges import RangeRequest
from spark_jobs.stored_samples import observed_since, sample_files, stored
from spark_jobs.unread import Unread, in_words, left_by
from store.errors import StoreBusyError
from store.log import SegmentLog
from store.metrics import MetricsWriter, Transaction
from store.reading import Window

logger = logging.getLogger(__name__)

# A finding of duplicates closes by time alone, and a page wants to see that the job lives: look that often when idle.
IDLE_LOOK_MS = 60_000
COMMIT_ATTEMPTS = 12  # each waits for the file's readers as long as the store allows, 5 s


@dataclass(frozen=True, slots=True)
class Looked:
    """What a round knows before it reads: each cluster's state and plan, the rates, and what it will leave unread."""

    clusters: Mapping[str, ClusterNow]
    plans: Mapping[str, Plan]
    rates: Mapping[str, float]  # by topic id
    unread: Sequence[Unread]

    @property
    def backlog(self) -> int:
        return sum(plan.backlog for plan in self.plans.values())


@dataclass(slots=True)
class RoundRows:
    """Rows a round is about to commit, by table."""

    ledger: list[dict[str, Any]] = field(default_factory=list)
    duplicates: list[dict[str, Any]] = field(default_factory=list)
    losses: list[dict[str, Any]] = field(default_factory=list)
    lost_ids: list[dict[str, Any]] = field(default_factory=list)
    aborted_at_sink: list[dict[str, Any]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return any(getattr(self, each.name) for each in fields(self))

    def commit(self, transaction: Transaction, run_id: str) -> None:
        for table in (each.name for each in fields(self)):
            rows = [{**row, "run_id": run_id} for row in getattr(self, table)]
            if rows:
                transaction.replace(table, rows)


class LiveRounds:
    """All rounds of one process. The writer and the log are its own; nobody else writes the metrics."""

    def __init__(
        self,
        spark: SparkSession,
        settings: Settings,
        clusters: Sequence[AuditedCluster],
        log: SegmentLog,
        metrics: MetricsWriter,
        now_ms: int,
    ) -> None:
        self._spark = spark
        self._clusters = {cluster.name: cluster for cluster in clusters}
        self._log = log
        self._metrics = metrics
        self._data_dir = Path(settings.store.data_dir)
        retention_ms = round(settings.store.raw_retention_h * 3_600_000)
        self._history_ms = round(settings.store.history_retention_d * 86_400_000)
        self._tasks = tasks_at_once(settings.spark)
        self._horizon_ms = round(1000 * max((p.horizon_s for p in settings.pipelines), default=0.0))
        self._findings = RecordFindings(self._data_dir, log, settings.pipelines)
        with metrics.transaction() as transaction:
            self._coverage = ledger.load_coverage(transaction, now_ms - retention_ms)
            self._watches = PipelineWatches(settings.pipelines, self._data_dir, transaction, retention_ms, now_ms)
            # Findings of a round whose process died between its commit and its findings.
            found = self._findings.judge(transaction, [p.name for p in settings.pipelines], since_ms=0, now_ms=now_ms)
        self._findings.append(found, now_ms)
        self._idle_since_ms = 0  # the first round says how far it has read, whatever it finds
        self._said, self._idle = "", IdleRows()

    @property
    def findings(self) -> RecordFindings:
        """For whoever else commits metrics in this process: what is told must be told in one place."""
        return self._findings

    def run_round(self, now_ms: int) -> bool:
        """One round; False where there was nothing new. Raises what no later round would mend."""
        looked = self._look(now_ms)
        rows = RoundRows()
        reads, failed = self._read(looked, rows, now_ms)
        unread = [*looked.unread, *failed]
        coverage = ledger.extended(self._coverage, rows.ledger)
        rates = ledger.compared_rates(reads, coverage, now_ms)
        rows.ledger = [{**row, "compared_rate": rates.get(row["topic_id"])} for row in rows.ledger]
        # Side by side: each is a few small queries, which leave one of two cores idle.
        with ThreadPoolExecutor(1, thread_name_prefix="duplicates") as beside:
            duplicates = beside.submit(self._duplicates, reads, rates, now_ms)
            found = self._watches.judge(self._spark, looked.clusters, coverage, reads, now_ms)
            rows.duplicates = duplicates.result()
        rows.losses, rows.lost_ids, rows.aborted_at_sink = found.loss_rows, found.lost_id_rows, found.aborted_rows
        if rows or self._is_worth_saying(unread, now_ms):
            self._commit(looked, unread, reads, rows, found, now_ms)
        self._coverage = coverage
        return bool(rows)

    def _look(self, now_ms: int) -> Looked:
        clusters: dict[str, ClusterNow] = {}
        plans: dict[str, Plan] = {}
        rates: dict[str, float] = {}
        unread: list[Unread] = []
        for name, cluster in self._clusters.items():
            now = cluster.look(self._coverage, now_ms)
            if isinstance(now, CollectionError):
                unread.append(Unread(name, None, f"cluster {name}", str(now)))
                continue
            clusters[name], plans[name] = now, cluster.plan(now, self._coverage, now_ms)
            rates |= cluster.rates(now, self._coverage)
            unread += left_by(name, now, plans[name])
        return Looked(clusters, plans, rates, unread)

    def _read(self, looked: Looked, rows: RoundRows, now_ms: int) -> tuple[list[RangeRead], list[Unread]]:
        """Read every planned range in one Spark job, append the samples, and note all in the ledger's rows.

        The complete ones, and those that failed.
        """
        requests = [self._request(name, r, looked) for name, plan in looked.plans.items() for r in plan.ranges]
        for name, plan in looked.plans.items():
            rows.ledger += ledger.unread_rows(looked.clusters[name].parts, plan, looked.rates)
        complete: list[RangeRead] = []
        failed: list[Unread] = []
        for read in read_ranges(self._spark, requests, self._tasks) if requests else []:
            cluster, part = self._cluster_of(looked, read), read.range.part
            cluster.note(read, now_ms)
            if read.account.error is None:
                rows.ledger.append(ledger.read_row(read, append_samples(self._log, read)))
                complete.append(read)
            else:
                failed.append(Unread(cluster.name, part.topic, str(part), read.account.error))
        return complete, failed

    def _request(self, name: str, planned: OffsetRange, looked: Looked) -> RangeRequest:
        awaited = self._watches.awaited(name, planned.part.topic)
        return self._clusters[name].request(planned, looked.rates[planned.part.topic_id], awaited)

    def _cluster_of(self, looked: Looked, read: RangeRead) -> AuditedCluster:
        cluster_id = read.range.part.cluster_id
        return next(self._clusters[name] for name, now in looked.clusters.items() if now.cluster_id == cluster_id)

    def _duplicates(self, reads: Sequence[RangeRead], rates: Mapping[str, float], now_ms: int) -> list[dict[str, Any]]:
        sampled = [read for read in reads if read.samples.num_rows]
        if not sampled:
            return []
        horizon_s = {read.range.part.topic_id: read.request.horizon_s for read in sampled}
        since_ms = {topic_id: max(0, now_ms - round(1000 * seconds)) for topic_id, seconds in horizon_s.items()}
        (earlier,) = stored(self._spark, self._earlier_files(horizon_s, min(since_ms.values()), now_ms))
        found = duplicate_rows(
            self._spark,
            observed_since(earlier, since_ms),
            new_samples(sampled),
            ranges=[read.range for read in sampled],
            rates=rates,
            meant={read.range.part.topic_id: read.request.copies for read in sampled},
        )
        return [{**row, "horizon_s": horizon_s[row["topic_id"]], "observed_at": now_ms} for row in found]

    def _earlier_files(self, topic_ids: Container[str], since_ms: int, now_ms: int) -> list[Path]:
        """Segments of these topics that were covered before this round."""
        covered_to = {part: c.next_offset for part, c in self._coverage.items() if part.topic_id in topic_ids}
        return sample_files(self._data_dir, covered_to, Window(since_ms, now_ms + 1))

    def _write(self, rows: RoundRows, run: dict[str, Any], changed: Sequence[str], now_ms: int) -> list[Finding]:
        """Commit, and say what the metrics now mean. A file that readers keep locked is tried again for a while."""
        attempt = 1
        while True:
            try:
                with self._metrics.transaction() as transaction:
                    rows.commit(transaction, str(run["run_id"]))
                    transaction.replace("job_runs", [run])
                    transaction.delete("job_runs", EXPIRED, [now_ms - self._history_ms])
                    since_ms = max(0, now_ms - 2 * self._horizon_ms - IDLE_LOOK_MS)
                    return self._findings.judge(transaction, changed, since_ms=since_ms, now_ms=now_ms)
            except StoreBusyError as exc:
                if attempt == COMMIT_ATTEMPTS:
                    raise
                logger.warning("the round waits to be committed: %s", exc)
                attempt += 1

    def _is_worth_saying(self, unread: Sequence[Unread], now_ms: int) -> bool:
        return in_words(unread) != self._said or now_ms - self._idle_since_ms >= IDLE_LOOK_MS

    def _commit(
        self,
        looked: Looked,
        unread: Sequence[Unread],
        reads: Sequence[RangeRead],
        rows: RoundRows,
        judged: Judgements,
        now_ms: int,
    ) -> None:
        ended_at_ms = time.time_ns() // 1_000_000
        row = run_row(
            started_at_ms=now_ms,
            ended_at_ms=ended_at_ms,
            idle_since_ms=None if rows else self._idle.since_ms(unread, ended_at_ms),
            ranges=len(rows.ledger),
            records=sum(read.account.records for read in reads),
            left=looked.backlog,
            unread=unread,
        )
        findings = self._write(rows, row, judged.pipelines_with_losses, now_ms)
        self._idle.note(unread, row)
        self._watches.accept(judged)
        self._findings.append(findings, now_ms)
        self._said, self._idle_since_ms = in_words(unread), now_ms
        if rows:
            logger.info(
                "%s: %s ranges, %s records, backlog %s", *(row[n] for n in ("run_id", "ranges", "records", "backlog"))
            )
