"""The samples of a source and its sink that a judgement compares, and who compares them: this process, or Spark."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from spark_jobs.id_hashes import Ints
from spark_jobs.loss_steps import Step
from spark_jobs.sampling import is_kept, is_kept_column
from spark_jobs.stored_samples import Stored
from spark_jobs.transforms.losses import judged_here, judged_ids

Rows = list[dict[str, Any]]


def judged_rows(source: Stored, sink: Stored, steps: Mapping[int, Step], rate: float, fan_out: int) -> Rows:
    """The rows of `judged_ids` for what the steps, by partition, cover. Ids that are not kept at the rate are left out.

    Both sides are read by Spark, or both here.
    """
    judged = _by_spark if isinstance(source, DataFrame) else _here
    return judged(source, sink, steps, rate, fan_out)


def _by_spark(source: DataFrame, sink: DataFrame, steps: Mapping[int, Step], rate: float, fan_out: int) -> Rows:
    kept = is_kept_column(sf.col("id_hash"), rate)
    candidates = source.where(kept & _between(steps)).withColumn("is_due", _is_due(steps))
    rows: Rows = judged_ids(candidates, sink.where(kept), fan_out).toArrow().to_pylist()
    return rows


def _here(source: ds.Dataset, sink: ds.Dataset, steps: Mapping[int, Step], rate: float, fan_out: int) -> Rows:
    records = source.to_table(columns=["partition", "offset", "id_hash", "message_id", "observed_at"])
    partition, offset, id_hash = (records[name].to_numpy() for name in ("partition", "offset", "id_hash"))
    first, due_to, seen_to = _ends(steps, int(partition.max(initial=0)))[:, partition]
    is_candidate = (offset >= first) & (offset < seen_to) & is_kept(id_hash, rate)
    candidates = records.append_column("is_due", pa.array(offset < due_to)).filter(pa.array(is_candidate))
    shown = sink.to_table(columns=["id_hash"])["id_hash"].to_numpy()
    return judged_here(candidates, shown[is_kept(shown, rate)], fan_out)


def _ends(steps: Mapping[int, Step], last_partition: int) -> Ints:
    """By partition: from where on ids are judged, up to where they are due, and up to where they are looked at."""
    ends = np.zeros((3, 1 + max(last_partition, *steps)), dtype=np.int64)
    for partition, step in steps.items():
        ends[:, partition] = step.before.judged_to, step.due_to, step.seen_to
    return ends


def _between(steps: Mapping[int, Step]) -> Column:
    condition = sf.lit(False)
    for partition, step in steps.items():
        offset = sf.col("offset")
        condition |= (sf.col("partition") == partition) & (offset >= step.before.judged_to) & (offset < step.seen_to)
    return condition


def _is_due(steps: Mapping[int, Step]) -> Column:
    condition = sf.lit(False)
    for partition, step in steps.items():
        condition |= (sf.col("partition") == partition) & (sf.col("offset") < step.due_to)
    return condition
