"""Takes the requests for exact audits: sees them within a second, runs them one after another, slice by slice.

The holder of the metrics has one. A thread of its own looks for new requests and cancellations, also while a live round
goes on; the slices are run by whoever calls `step`, between two rounds.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pyspark.sql import SparkSession

from guarantees.audits import Job
from settings import Settings
from spark_jobs.audits import folders
from spark_jobs.audits.content import ContentAudit
from spark_jobs.audits.exact import AuditFailedError, ExactAudit, Progress
from spark_jobs.audits.order import OrderAudit
from spark_jobs.audits.planning import fetch_plan
from spark_jobs.audits.plans import AuditPlan
from spark_jobs.audits.rows import Run, replace_results
from spark_jobs.findings import RecordFindings
from store.audit_requests import AuditRequest, Cancellation, RunState, load_requests, requests_version
from store.errors import StoreBusyError, StoreError
from store.metrics import MetricsWriter
from store.rows import python_rows

logger = logging.getLogger(__name__)

KINDS = {Job.ORDER: OrderAudit, Job.CONTENT: ContentAudit}
LOOK_EVERY_S = 0.4
WAITS = "another audit runs first"
REASON_LIMIT = 500  # characters

MakePlan = Callable[..., AuditPlan]


class AuditDesk:
    """Every request that is not over, oldest first. `only`: run this one alone, as a command does for itself."""

    def __init__(
        self,
        spark: SparkSession,
        settings: Settings,
        metrics: MetricsWriter,
        *,
        lanes: int,
        only: str | None = None,
        findings: RecordFindings,
        make_plan: MakePlan = fetch_plan,
    ) -> None:
        self._spark = spark
        self._metrics = metrics
        self._data_dir = Path(settings.store.data_dir)
        self._pipelines = {pipeline.name: pipeline for pipeline in settings.pipelines}
        self._clusters = {cluster.name: cluster for cluster in settings.clusters}
        self._lanes = lanes
        self._only = only
        self._findings = findings
        self._make_plan = make_plan
        self._known = threading.Lock()
        self._seen = ""
        self._runs: dict[str, Run] = {}
        self._cancelled: Mapping[str, Cancellation] = {}
        self._over: set[str] = set()
        self._ended: dict[str, Run] = {}
        self._current: tuple[Run, ExactAudit] | None = None
        self._stop = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="audit-requests", daemon=True)
        self._load()

    def __enter__(self) -> Self:
        self._watcher.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._watcher.join()

    def run(self, run_id: str) -> Run | None:
        """What this process knows of a run; None where it has none of that name."""
        return self._runs.get(run_id) or self._ended.get(run_id)

    def look(self) -> None:
        """Take up what has been asked for or cancelled since, and say in the metrics that it waits."""
        version = requests_version(self._data_dir)
        if version == self._seen:
            return
        found = load_requests(self._data_dir)
        with self._known:
            self._cancelled = found.cancelled
            new = [Run(request) for request in found.requests if self._is_new(request)]
            for run in new:
                run.reason = WAITS if self._runs or run is not new[0] else None
            if new:
                self._write(*new)
            self._runs |= {run.request.run_id: run for run in new}
        self._seen = version

    def step(self) -> bool:
        """One slice of the oldest open run, at most five seconds; False where there is nothing to do."""
        run = self._next()
        if run is None:
            return False
        try:
            if cancelled := self._cancelled.get(run.request.run_id):
                self._end(run, RunState.CANCELLED, f"cancelled by {cancelled.who}")
            else:
                self._work(run)
        except AuditFailedError as exc:
            self._end(run, RunState.FAILED, str(exc))
        except StoreBusyError as exc:  # what was done stands in its files; the next step says so
            logger.warning("an audit cannot say how far it is: %s", exc)
        except Exception as exc:  # a boundary: what breaks an audit must not end the live rounds beside it
            logger.exception("audit %s broke", run.request.run_id)
            self._end(run, RunState.FAILED, f"{type(exc).__name__}: {exc}".splitlines()[0][:REASON_LIMIT])
        return True

    def _work(self, run: Run) -> None:
        audit = self._audit(run)
        if audit.next_slice():
            took_s = audit.progress.busy_s - run.progress.busy_s
            logger.info("audit %s: %s, a slice of %.1f s", run.request.run_id, audit.progress.step, took_s)
            run.progress, run.reason = audit.progress, audit.waits
            with self._known:
                self._write(run)
            return
        found, now_ms = audit.result(), _now_ms()
        done = replace(run, state=RunState.DONE, reason=None, ended_at_ms=now_ms, is_whole=found.is_whole)
        with self._known, self._metrics.transaction() as transaction:
            replace_results(transaction, done, self._pipelines[run.request.pipeline], found, now_ms)
            transaction.replace("audit_runs", [done.row(now_ms)])
            told = self._findings.judge(transaction, [run.request.pipeline], since_ms=0, now_ms=now_ms)
        self._findings.append(told, now_ms)
        self._forget(done)

    def _audit(self, run: Run) -> ExactAudit:
        """Begun now, or gone on with where an earlier process left it."""
        if self._current is not None and self._current[0] is run:
            return self._current[1]
        pipeline = self._pipelines.get(run.request.pipeline)
        if pipeline is None:
            raise AuditFailedError("no pipeline of that name is declared in the settings")
        cluster = self._clusters[pipeline.cluster]
        if run.plan is None:
            run.started_at_ms = _now_ms()
            run.plan = self._make_plan(cluster, pipeline, run.request, self._data_dir, run.started_at_ms)
        run.state, run.reason = RunState.RUNNING, None
        folder = folders.run_folder(self._data_dir, run.request.run_id)
        kind = KINDS.get(run.plan.job, ExactAudit)
        audit = kind(self._spark, run.plan, folder, pipeline, cluster, lanes=self._lanes, progress=run.progress)
        run.progress = audit.progress
        self._current = run, audit
        with self._known:
            self._write(run)
        return audit

    def _next(self) -> Run | None:
        with self._known:
            open_runs = [run for run in self._runs.values() if self._only in (None, run.request.run_id)]
        return min(open_runs, key=lambda run: (run.request.at_ms, run.request.run_id), default=None)

    def _end(self, run: Run, state: RunState, reason: str) -> None:
        logger.info("audit %s of %s: %s, %s", run.request.run_id, run.request.pipeline, state, reason)
        ended = replace(run, state=state, reason=reason, ended_at_ms=_now_ms())
        with self._known:
            self._write(ended)
        self._forget(ended)

    def _forget(self, run: Run) -> None:
        """Over, and said so: its files are no longer needed."""
        with self._known:
            self._over.add(run.request.run_id)
            self._runs.pop(run.request.run_id)
            self._ended[run.request.run_id] = run
        self._current = None
        folders.remove(folders.run_folder(self._data_dir, run.request.run_id))

    def _write(self, *runs: Run) -> None:
        now_ms = _now_ms()
        with self._metrics.transaction() as transaction:
            transaction.replace("audit_runs", [run.row(now_ms) for run in runs])

    def _is_new(self, request: AuditRequest) -> bool:
        return request.run_id not in self._runs and request.run_id not in self._over

    def _load(self) -> None:
        """What the metrics say of earlier runs: those that are over, and those an earlier process had begun."""
        with self._metrics.transaction() as transaction:
            rows = python_rows("audit_runs", transaction.query("SELECT * FROM audit_runs"))
        self._over = {str(row["run_id"]) for row in rows if RunState(str(row["state"])).is_over}
        found = load_requests(self._data_dir)
        begun = {str(row["run_id"]): row for row in rows}
        for request in found.requests:
            if request.run_id in begun and request.run_id not in self._over:
                self._runs[request.run_id] = resumed(request, begun[request.run_id])
        folders.remove_others(self._data_dir, self._runs)

    def _watch(self) -> None:
        while not self._stop.wait(LOOK_EVERY_S):
            try:
                self.look()
            except (StoreBusyError, StoreError, OSError):
                logger.warning("requests for audits cannot be read now", exc_info=True)


def resumed(request: AuditRequest, row: Mapping[str, Any]) -> Run:
    """A run as an earlier process left it."""
    progress = Progress(
        row["step"],
        *(row[name] or 0 for name in ("slices_done", "slices_planned", "offsets_read", "offsets_planned", "records")),
        *(row[name] or 0.0 for name in ("busy_s", "cpu_s")),
    )
    return Run(
        request=request,
        state=RunState(row["state"]),
        reason=row["reason"],
        started_at_ms=row["started_at"],
        plan=AuditPlan.from_json(row["plan"]) if row["plan"] else None,
        progress=progress,
    )


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
