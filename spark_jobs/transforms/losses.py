"""Ids of a source partition that the sink has not shown: pure DataFrame → DataFrame."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf


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
