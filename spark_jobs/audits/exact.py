"""One exact audit, slice by slice: read, compare, search on for what is missing, name what was found.

Everything it knows stands in its plan and its folder, so it may be killed between any two lines and goes on, in another
process, to the same result. A slice takes about SLICE_MS: live rounds go on between two of them.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from settings import ClusterSettings, PipelineSettings
from spark_jobs.audits import blocks, folders
from spark_jobs.audits.plans import SINK, AuditPlan, AuditRange, remaining, shared_out
from spark_jobs.audits.tallies import Tally, tally
from spark_jobs.audits.tasks import CompareTask, NameTask, Outcome, ReadTask, SearchTask, in_lanes, run_lanes
from spark_jobs.ranges import OffsetRange
from spark_jobs.sources.kafka_ranges import RangeRequest

SLICE_MS = 4_000  # for reading; Spark's own start and the last answer need the rest of five seconds
TASKS_AT_ONCE = 100  # for a worker in one slice: more would not be reached in its time
NAMES_AT_ONCE = 50  # records read again by one task
FRUITLESS = 5  # slices in a row that came no further: what stops them will not mend itself
PAUSE_S = 1.0

READING, COMPARING, SEARCHING, NAMING = "reading", "comparing", "searching", "naming"


# Each step with what is left of it, in their order.
Steps = tuple[tuple[str, Callable[[], Sequence[Any]]], ...]


class AuditFailedError(Exception):
    """The audit cannot be finished; the message says why in one sentence."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an audit has come. Planned numbers are what is known now: a search adds to them."""

    step: str | None
    slices_done: int = 0
    slices_planned: int = 0
    offsets_read: int = 0
    offsets_planned: int = 0
    records: int = 0
    busy_s: float = 0.0
    cpu_s: float = 0.0


class ExactAudit:
    """`next_slice` until it returns False; then `result`."""

    def __init__(
        self,
        spark: SparkSession,
        plan: AuditPlan,
        folder: Path,
        pipeline: PipelineSettings,
        cluster: ClusterSettings,
        *,
        lanes: int,
        progress: Progress | None = None,
    ) -> None:
        """`lanes` workers run side by side; `progress` is what an earlier process had said of this run."""
        self._spark = spark
        self.plan = plan
        self._folder = folder
        self._pipeline = pipeline
        self._cluster = cluster
        self._lanes = lanes
        self._fruitless = 0
        self.waits: str | None = None  # why a part of the last slice's work could not be done; it is tried again
        before = progress or Progress(None)
        self.progress = replace(before, step=before.step or READING, offsets_planned=plan.offsets)

    def next_slice(self) -> bool:
        """Work for at most five seconds; False where nothing was left to do. Raises AuditFailedError."""
        started = time.monotonic()
        until_ms = _now_ms() + SLICE_MS
        step, tasks = self._due(until_ms)
        if not tasks:
            return False
        self._note(step, self._outcomes(tasks, until_ms), time.monotonic() - started)
        return True

    def result(self) -> Tally:
        """What was found. Only after `next_slice` has returned False."""
        return tally(self.plan, self._folder).named(self._folder)

    def _due(self, until_ms: int) -> tuple[str, Sequence[Any]]:
        """What is left of the next step, nothing where all is done. What has been done is what files are there."""
        for step, tasks in self._steps(until_ms):
            if due := tasks():
                return step, due
        return NAMING, ()

    def _steps(self, until_ms: int) -> Steps:
        return (
            (READING, lambda: self._to_read(until_ms)),
            (COMPARING, self._to_compare),
            (SEARCHING, lambda: self._to_search(until_ms)),
            (NAMING, self._to_name),
        )

    def _outcomes(self, tasks: Sequence[Any], until_ms: int) -> list[Outcome]:
        lanes = in_lanes(tasks[: TASKS_AT_ONCE * self._lanes], self._lanes, until_ms)
        return run_lanes(self._spark, lanes)

    def _to_read(self, until_ms: int) -> list[ReadTask]:
        done = blocks.covered(self._folder / folders.READ)
        left = [
            (each, first, following)
            for each in self.plan.ranges
            for first, following in remaining(each.read_first, each.read_next, done.get(each.name, ()))
        ]
        return [
            self._reading(
                ReadTask(
                    request=self._request(each, first, following),
                    name=each.name,
                    window=(each.window_first, each.window_next),
                    folder=self._folder,
                    buckets=self.plan.buckets,
                    until_ms=until_ms,
                )
            )
            for each, first, following in shared_out(left, self._lanes)
        ]

    def _reading(self, task: ReadTask) -> ReadTask:
        """What is kept of the records that are read: their ids."""
        return task

    def _to_compare(self) -> list[CompareTask]:
        left = [
            bucket for bucket in range(self.plan.buckets) if not folders.compared_path(self._folder, bucket).exists()
        ]
        plan = self.plan
        return [CompareTask(plan.job, plan.ranges, self._folder, bucket, plan.fan_out) for bucket in left]

    def _to_search(self, until_ms: int) -> list[SearchTask]:
        """The sink behind the edge of the window, where ids are missing."""
        if not self.plan.job.counts_losses or not any_missing(self._folder, self.plan.buckets):
            return []
        return [
            SearchTask(
                request=self._request(each, first, following),
                name=each.name,
                folder=self._folder,
                buckets=self.plan.buckets,
                until_ms=until_ms,
            )
            for each, first, following in shared_out(self._unsearched(), self._lanes)
        ]

    def _unsearched(self) -> list[tuple[AuditRange, int, int]]:
        done = blocks.covered(self._folder / folders.FOUND)
        return [
            (each, first, following)
            for each in self.plan.side(SINK)
            for first, following in remaining(each.read_next, each.search_next, done.get(each.name, ()))
        ]

    def _to_name(self) -> list[NameTask]:
        """Texts of the ids that are listed; where only hashes may be stored there are none."""
        if not self._pipeline.store_ids:
            return []
        tasks: list[NameTask] = []
        for each, offsets in tally(self.plan, self._folder).listed_offsets().items():
            for number, start in enumerate(range(0, len(offsets), NAMES_AT_ONCE)):
                path = folders.named_path(self._folder, each.name, number)
                if not path.exists():
                    request = self._request(each, each.read_first, each.search_next)
                    tasks.append(NameTask(request, tuple(offsets[start : start + NAMES_AT_ONCE]), path))
        return tasks

    def _request(self, each: AuditRange, first: int, following: int) -> RangeRequest:
        return RangeRequest(
            range=OffsetRange(each.part, each.leader, first, following),
            bootstrap_servers=self._cluster.bootstrap_servers,
            security=self._cluster.security,
            message_id=self._pipeline.id,
            rate=1.0,
            horizon_s=self._pipeline.horizon_s,
            store_ids=self._pipeline.store_ids,
            bytes_per_s=self._cluster.max_bytes_per_s / self._lanes,
        )

    def _note(self, step: str, outcomes: Sequence[Outcome], took_s: float) -> None:
        errors = [outcome.error for outcome in outcomes if outcome.error is not None]
        self.waits = errors[0] if errors else None
        came_further = any(outcome.done or outcome.offsets for outcome in outcomes)
        self._fruitless = 0 if came_further else self._fruitless + 1
        if self._fruitless == FRUITLESS:
            raise AuditFailedError(errors[0])
        if errors and step in (READING, SEARCHING):
            time.sleep(PAUSE_S)
        before = self.progress
        offsets_read = self._offsets_read()
        self.progress = replace(
            before,
            step=step,
            slices_done=before.slices_done + 1,
            offsets_read=offsets_read,
            offsets_planned=max(self.plan.offsets + self._to_be_searched(step), offsets_read),
            records=before.records + (sum(outcome.compared for outcome in outcomes) if step == READING else 0),
            busy_s=before.busy_s + took_s,
            cpu_s=before.cpu_s + sum(outcome.cpu_s for outcome in outcomes),
        )
        self.progress = replace(self.progress, slices_planned=self._slices_planned(step))

    def _offsets_read(self) -> int:
        parts = (blocks.covered(self._folder / kind) for kind in (folders.READ, folders.FOUND))
        return sum(following - first for part in parts for ranges in part.values() for first, following in ranges)

    def _to_be_searched(self, step: str) -> int:
        if step not in (SEARCHING, NAMING) or not any_missing(self._folder, self.plan.buckets):
            return 0
        return sum(each.search_next - each.read_next for each in self.plan.side(SINK))

    def _slices_planned(self, step: str) -> int:
        """At the pace so far; one more for the names."""
        now = self.progress
        per_slice = max(1, now.offsets_read // max(1, now.slices_done))
        left = -(-(now.offsets_planned - now.offsets_read) // per_slice)
        compares = -(-self.plan.buckets // self._lanes) if step == READING else 0
        return now.slices_done + left + compares + (step != NAMING)


def any_missing(folder: Path, buckets: int) -> bool:
    """Whether an id of the source was not among those read of the sink."""
    return any(
        len(blocks.read_copies(path))
        for path in (folders.missing_path(folder, bucket) for bucket in range(buckets))
        if path.exists()
    )


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
