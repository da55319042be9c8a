"""What one worker does of a slice, and the Spark data source that hands it out: one Spark partition for each lane.

A task leaves its outcome in the audit's folder and answers with sums: nothing else crosses to the driver.
"""

import base64
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from guarantees.audits import Job
from settings import RecordOrder
from spark_jobs.audits.plans import AuditRange
from spark_jobs.sources.kafka_ranges import RangeRequest

FORMAT = "audit_tasks"
SCHEMA = "done bigint, offsets bigint, compared bigint, cpu_s double, error string"


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
class OrderTask(ReadTask):
    """Keep the key of every record of the range and its place in the key's order instead."""

    order: RecordOrder


@dataclass(frozen=True, slots=True)
class ContentTask(ReadTask):
    """Compare the batches of the range with those of other `replicas`, and with those that collectors read earlier.

    `earlier`: segments of batch_headers, oldest first, that may hold them.
    """

    replicas: tuple[int, ...]
    earlier: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class CompareTask:
    """Compare one bucket of all that was read."""

    job: Job
    ranges: tuple[AuditRange, ...]
    folder: Path
    bucket: int
    fan_out: int


@dataclass(frozen=True, slots=True)
class OrderCompareTask:
    """Compare one bucket of keys; `is_numbered`: places are numbers, and no times."""

    folder: Path
    bucket: int
    is_numbered: bool


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


Task = ReadTask | CompareTask | OrderCompareTask | SearchTask | NameTask


@dataclass(frozen=True, slots=True)
class Lane:
    """What one worker does of a slice, one task after another while there is time; the first one in any case."""

    tasks: tuple[Task, ...]
    until_ms: int


def in_lanes(tasks: Sequence[Task], lanes: int, until_ms: int) -> list[Lane]:
    """The tasks, dealt out in their order."""
    return [Lane(tuple(tasks[number::lanes]), until_ms) for number in range(min(lanes, len(tasks)))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Of a lane: tasks `done` without an error, offsets read, ids `compared`; `error` is the first one of a task."""

    done: int = 0
    offsets: int = 0
    compared: int = 0
    cpu_s: float = 0.0
    error: str | None = None

    def plus(self, other: "Outcome") -> "Outcome":
        return Outcome(
            done=self.done + other.done,
            offsets=self.offsets + other.offsets,
            compared=self.compared + other.compared,
            cpu_s=self.cpu_s + other.cpu_s,
            error=self.error or other.error,
        )


def run_lanes(spark: SparkSession, lanes: Sequence[Lane]) -> list[Outcome]:
    """All lanes in one Spark job."""
    packed = base64.b64encode(pickle.dumps(list(lanes))).decode()
    rows = spark.read.format(FORMAT).option("lanes", packed).load().toArrow().to_pylist()
    return [Outcome(**{name: row[name] for name in Outcome.__dataclass_fields__}) for row in rows]


class AuditTasks(DataSource):
    """Tasks travel as an option, made by the driver for its own workers; secrets in them are references."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        return SCHEMA

    def reader(self, schema: Any) -> "AuditTasksReader":
        return AuditTasksReader(self.options["lanes"])


class AuditTasksReader(DataSourceReader):
    """Runs in the workers; Kafka is imported only there."""

    def __init__(self, packed: str) -> None:
        self._packed = packed

    def partitions(self) -> list[InputPartition]:
        return [InputPartition(number) for number in range(len(self._lanes()))]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if partition.value is None:  # Spark runs one task even where there is nothing to do
            return
        from spark_jobs.audits.working import work_lane  # imports Kafka: only where it is used

        done = asdict(work_lane(self._lanes()[partition.value]))
        kinds = (pa.int64(), pa.int64(), pa.int64(), pa.float64(), pa.string())
        arrays = [pa.array([value], kind) for value, kind in zip(done.values(), kinds, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, names=list(done))

    def _lanes(self) -> list[Lane]:
        lanes: list[Lane] = pickle.loads(base64.b64decode(self._packed))
        return lanes
