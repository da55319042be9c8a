"""Samples that earlier rounds stored: which files hold them, and who reads those, this process or Spark.

Few are read here: to plan, compile and hand out a query costs Spark more than it takes to read some megabytes. Many are
read by Spark, by as many tasks as it has. A rule over stored samples takes either, and finds the same.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from spark_jobs.ranges import Part
from spark_jobs.schemas import ID_SAMPLES
from spark_jobs.transforms.duplicates import ID_KEYS, of_new_ids
from store.reading import Window, segments
from store.rows import contract
from store.segments import SegmentName, range_producer
from store.types import arrow_schema

FEW_BYTES = 32 * 1024 * 1024  # of files: about a million ids

# Rows of id_samples or aborted_ids that nobody has read yet.
Stored = DataFrame | ds.Dataset


def sample_files(
    data_dir: Path, covered_to: Mapping[Part, int], window: Window | None, table: str = "id_samples"
) -> list[Path]:
    """The segments of these partitions that may hold samples of the window.

    One that begins where the coverage ends was left by a process that died before its ledger entry: it does not count,
    its range is read again.
    """
    covered = {range_producer(UUID(part.topic_id).hex, part.partition): to for part, to in covered_to.items()}
    found = []
    for path in segments(data_dir, table, window):
        name = SegmentName.parse(path.name)
        if name is not None and name.first < covered.get(name.producer, 0):
            found.append(path)
    return found


def overlapping(files: Iterable[Path], ranges: Mapping[Part, tuple[int, int]]) -> list[Path]:
    """Those segments that hold offsets of a partition's range (first, next)."""
    wanted = {range_producer(UUID(part.topic_id).hex, part.partition): ends for part, ends in ranges.items()}
    names = [(path, SegmentName.parse(path.name)) for path in files]
    return [
        path
        for path, name in names
        if name is not None
        and name.producer in wanted
        and name.first < wanted[name.producer][1]
        and name.last >= wanted[name.producer][0]
    ]


def stored(spark: SparkSession, *files: Sequence[Path]) -> list[Stored]:
    """The rows of each list of files: all of them to be read here, or all of them by Spark."""
    if sum(path.stat().st_size for each in files for path in each) <= FEW_BYTES:
        return [_here(each) for each in files]
    return [as_frame(spark, each) for each in files]


def as_frame(spark: SparkSession, files: Iterable[Path]) -> DataFrame:
    """id_samples, or aborted_ids, from exactly these files, read by Spark itself."""
    paths = [str(path.absolute()) for path in files]  # whoever reads them has a working directory of its own
    return spark.read.schema(ID_SAMPLES).parquet(*paths) if paths else spark.createDataFrame([], ID_SAMPLES)


def observed_since(samples: Stored, since_ms: Mapping[str, int]) -> Stored:
    """Of each topic, by its id, what was observed since a time of its own."""
    if isinstance(samples, DataFrame):
        return samples.where(_since(since_ms, sf.col, lambda at_ms: sf.timestamp_millis(sf.lit(at_ms))))
    kind = samples.schema.field("observed_at").type
    return samples.filter(_since(since_ms, pc.field, lambda at_ms: pa.scalar(at_ms, kind)))


def _since(since_ms: Mapping[str, int], column: Callable[[str], Any], time: Callable[[int], Any]) -> Any:
    each = [(column("topic_id") == topic_id) & (column("observed_at") >= time(at)) for topic_id, at in since_ms.items()]
    return reduce(or_, each)


def copies_of(ids: pa.Table, samples: Stored) -> pa.Table:
    """The stored copies of ids, which are rows of ID_KEYS. Most have none: here their hashes alone are read first."""
    if isinstance(samples, DataFrame):
        return of_new_ids(samples, samples.sparkSession.createDataFrame(ids)).toArrow()
    hashes = samples.to_table(columns=["id_hash"])["id_hash"].to_numpy()
    known = pa.array(np.intersect1d(hashes, ids["id_hash"].to_numpy()))
    found = samples.to_table(filter=pc.field("id_hash").isin(known)) if len(known) else samples.schema.empty_table()
    return found.join(ids, list(ID_KEYS), join_type="left semi")


def _here(files: Iterable[Path]) -> ds.Dataset:
    return ds.dataset([str(path) for path in files], schema=arrow_schema(contract("id_samples")), format="parquet")
