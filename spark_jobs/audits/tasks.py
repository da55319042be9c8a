"""What one worker does of a slice, and the Spark data source that hands it out: one Spark partition for each task.

A task leaves its outcome in the audit's folder and answers with sums: nothing else crosses to the driver.
"""

import base64
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from spark_jobs.audits.plans import AuditRange
from spark_jobs.sources.kafka_ranges import RangeRequest
from store.audit_requests import Job

FORMAT = "audit_tasks"
SCHEMA = "task int, offsets bigint, compared bigint, cpu_s double, error string"


@dataclass(frozen=True, slots=True)
class ReadTask:
    """Keep every id of the request's range, as far as there is time; `until_ms` is when the slice ends."""

    request: RangeRequest
    name: str
    window: tuple[int, int]
    folder: Path
    buckets: int
    until_ms: int


@dataclass(frozen=True, slots=True)
class CompareTask:
    """Compare one bucket of all that was read."""

    job: Job
    ranges: tuple[AuditRange, ...]
    folder: Path
    bucket: int


@dataclass(frozen=True, slots=True)
class SearchTask:
    """Look for the missing ids in the request's range of the sink, as far as there is time."""

    request: RangeRequest
    name: str
    folder: Path
    buckets: int
    until_ms: int


@dataclass(frozen=True, slots=True)
class NameTask:
    """Read single records again for the text of their ids. The request's range holds all the offsets."""

    request: RangeRequest
    offsets: tuple[int, ...]
    path: Path


Task = ReadTask | CompareTask | SearchTask | NameTask


@dataclass(frozen=True, slots=True)
class Outcome:
    """`offsets` were read to their end, `compared` ids kept; `error` says why a task stopped before its time."""

    offsets: int = 0
    compared: int = 0
    cpu_s: float = 0.0
    error: str | None = None


def run_tasks(spark: SparkSession, tasks: Sequence[Task]) -> list[Outcome]:
    """All tasks in one Spark job."""
    packed = base64.b64encode(pickle.dumps(list(tasks))).decode()
    rows = spark.read.format(FORMAT).option("tasks", packed).load().toArrow().to_pylist()
    return [Outcome(r["offsets"], r["compared"], r["cpu_s"], r["error"]) for r in sorted(rows, key=lambda r: r["task"])]


class AuditTasks(DataSource):
    """Tasks travel as an option, made by the driver for its own workers; secrets in them are references."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        return SCHEMA

    def reader(self, schema: Any) -> "AuditTasksReader":
        return AuditTasksReader(self.options["tasks"])


class AuditTasksReader(DataSourceReader):
    """Runs in the workers; Kafka is imported only there."""

    def __init__(self, packed: str) -> None:
        self._packed = packed

    def partitions(self) -> list[InputPartition]:
        return [InputPartition(number) for number in range(len(self._tasks()))]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if partition.value is None:  # Spark runs one task even where there is nothing to do
            return
        from spark_jobs.audits.working import work  # imports Kafka: only where it is used

        done = work(self._tasks()[partition.value])
        columns = [[partition.value], [done.offsets], [done.compared], [done.cpu_s], [done.error]]
        kinds = [pa.int32(), pa.int64(), pa.int64(), pa.float64(), pa.string()]
        arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, names=["task", "offsets", "compared", "cpu_s", "error"])

    def _tasks(self) -> list[Task]:
        tasks: list[Task] = pickle.loads(base64.b64decode(self._packed))
        return tasks
