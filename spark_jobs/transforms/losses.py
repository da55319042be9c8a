"""Ids of a source partition that the sink has not shown: pure, one rule for frames of Spark and one for tables here.

Both find the same; the tests hold them to it, and to SQL and plain Python.
"""

from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from spark_jobs.id_hashes import Ints, counted, in_order


def judged_ids(source: DataFrame, sink: DataFrame, fan_out: int = 1) -> DataFrame:
    """Per source partition: how many ids were judged, which of them the sink never showed, and how many wait.

    The sink shows an id when it has `fan_out` records with it; `missing` of a lost one is how many it lacks.

    `source` has partition, offset, id_hash, message_id, observed_at and `is_due`: the commit has been past the record
    for the settle delay and the sink was read far enough. An id that the source holds twice on a partition is judged
    once, at its first offset; `sink` needs id_hash only.
    """
    record = sf.struct("partition", "offset", "is_due", "id_hash", "message_id", "observed_at")
    in_source = source.select("id_hash", record.alias("record"), sf.lit(False).alias("is_shown"))
    in_sink = sink.select("id_hash", sf.lit(True).alias("is_shown"))
    is_due = sf.col("record.is_due")
    is_missing = sf.col("missing") > 0
    return (
        in_source.unionByName(in_sink, allowMissingColumns=True)
        .groupBy("id_hash")
        .agg((fan_out - sf.count_if("is_shown")).alias("missing"), sf.collect_list("record").alias("records"))
        .select("id_hash", "missing", sf.explode("records").alias("record"))
        .groupBy("id_hash", "missing", sf.col("record.partition").alias("partition"))
        .agg(sf.min("record").alias("record"))
        .withColumn("record", sf.col("record").withField("missing", sf.col("missing")))
        .groupBy("partition")
        .agg(
            sf.count_if(is_due).alias("ids_judged"),
            sf.count_if(~is_due & is_missing).alias("ids_unseen"),
            sf.array_sort(sf.collect_list(sf.when(is_due & is_missing, sf.col("record")))).alias("lost"),
        )
        .select("partition", "ids_judged", "ids_unseen", "lost")
    )


def judged_here(source: pa.Table, shown: Ints, fan_out: int = 1) -> list[dict[str, Any]]:
    """The rows of `judged_ids` for a source that is held here; `shown` are the hashes of the sink's records."""
    partition, id_hash, offset = (source[name].to_numpy() for name in ("partition", "id_hash", "offset"))
    firsts = _first_of_each(partition, id_hash, offset)
    is_due = source["is_due"].to_numpy()[firsts]
    missing = fan_out - counted(id_hash[firsts], *np.unique(shown, return_counts=True))
    partitions, is_missing = partition[firsts], missing > 0
    lost = _records(source, firsts[is_due & is_missing], missing[is_due & is_missing])
    return [
        {
            "partition": number,
            "ids_judged": int((is_due & here).sum()),
            "ids_unseen": int((~is_due & is_missing & here).sum()),
            "lost": lost.get(number, []),
        }
        for number in np.unique(partitions).tolist()
        for here in [partitions == number]
    ]


def _first_of_each(partition: Ints, id_hash: Ints, offset: Ints) -> Ints:
    """Rows: of each id on each partition the one at the lowest offset."""
    order = in_order(id_hash, partition, offset)
    is_first = np.ones(len(order), dtype=np.bool_)
    is_first[1:] = (np.diff(id_hash[order]) != 0) | (np.diff(partition[order]) != 0)
    return order[is_first]


def _records(source: pa.Table, rows: Ints, missing: Ints) -> dict[int, list[dict[str, Any]]]:
    """By partition, in the order of offsets."""
    records = source.take(rows).append_column("missing", pa.array(missing))
    in_turn = records.sort_by([("partition", "ascending"), ("offset", "ascending")]).to_pylist()
    return {partition: list(found) for partition, found in groupby(in_turn, lambda each: each["partition"])}
