"""Ids of a source partition that the sink has not shown: pure DataFrame → DataFrame."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf


def judged_ids(source: DataFrame, sink: DataFrame) -> DataFrame:
    """Per source partition: how many ids were judged, which of them the sink never showed, and how many wait.

    `source` has partition, offset, id_hash, message_id, observed_at and `is_due`: the commit has been past the record
    for the settle delay and the sink was read far enough. An id that the source holds twice on a partition is judged
    once, at its first offset; `sink` needs id_hash only.
    """
    shown = sink.select("id_hash", sf.lit(True).alias("is_shown")).distinct()
    record = sf.struct("offset", "is_due", "id_hash", "message_id", "observed_at")
    ids = source.groupBy("partition", "id_hash").agg(sf.min(record).alias("record"))
    is_missing = sf.col("is_shown").isNull()
    is_due = sf.col("record.is_due")
    return (
        ids.join(shown, on="id_hash", how="left")
        .groupBy("partition")
        .agg(
            sf.count_if(is_due).alias("ids_judged"),
            sf.count_if(~is_due & is_missing).alias("ids_unseen"),
            sf.array_sort(sf.collect_list(sf.when(is_due & is_missing, sf.col("record")))).alias("lost"),
        )
        .select("partition", "ids_judged", "ids_unseen", "lost")
    )
