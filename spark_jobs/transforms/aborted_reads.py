"""Ids the sink shows of records that were aborted in the source: pure DataFrame → DataFrame."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf


def shown_although_aborted(aborted: DataFrame, sink: DataFrame) -> DataFrame:
    """One row per id that stands in both, with its first aborted record and the sink record that was read first.

    Both are rows of sampled ids. A retried transaction may have left an id aborted more than once, and a sink may hold
    it more than once: each id counts once.
    """
    written = sf.struct("topic_id", "partition", "offset", "message_id", "producer_id", "producer_epoch")
    read = sf.struct("observed_at", "topic", "partition", "offset")
    first_written = aborted.groupBy("id_hash").agg(sf.min_by(written, sf.struct("partition", "offset")).alias("first"))
    first_shown = sink.groupBy("id_hash").agg(sf.min(read).alias("shown"))
    return first_written.join(first_shown, "id_hash").select("id_hash", "first.*", "shown")


def committed_among(committed: DataFrame, ids: DataFrame) -> DataFrame:
    """Those ids of which the source holds a committed record: the sink may have them from there."""
    return committed.join(sf.broadcast(ids.select("id_hash")), "id_hash", "left_semi").select("id_hash").distinct()
