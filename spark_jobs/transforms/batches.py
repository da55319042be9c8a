"""Stored batch headers as the jobs over them read them: pure DataFrame → DataFrame."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as sf

LOG = ("cluster_id", "topic", "topic_id", "partition")  # one partition of one history of a topic


def read_once(batches: DataFrame) -> DataFrame:
    """Each batch as it was read last: offsets are read again where a log was cut, or a reading was not written down."""
    newest = Window.partitionBy(*LOG, "base_offset").orderBy(sf.desc("observed_at"))
    return batches.withColumn("reading", sf.row_number().over(newest)).where(sf.col("reading") == 1).drop("reading")
