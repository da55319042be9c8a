"""Transactions on single partitions, from their batches and markers: pure DataFrame → DataFrame."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from guarantees.batches import Marker
from spark_jobs.transforms.batches import LOG, read_once

PRODUCER = (*LOG, "producer_id")


def transactions(batches: DataFrame) -> DataFrame:
    """One row for each transaction of a producer on a partition: its data, and the marker that ended it, if any.

    `batches` are rows of batch_headers. A marker without data before it is a transaction without records here: the
    partition was added and not written to, or its data was read before the first of the batches. `observed_at` is
    when the marker was read.
    """
    before = Window.partitionBy(*PRODUCER).orderBy("base_offset").rowsBetween(Window.unboundedPreceding, -1)
    is_data, is_marker = sf.col("marker").isNull(), sf.col("marker").isNotNull()
    return (
        read_once(batches)
        .where(sf.col("producer_id").isNotNull() & (sf.col("is_transactional") | is_marker))
        .withColumn("number", sf.coalesce(sf.count_if(is_marker).over(before), sf.lit(0)))
        .groupBy(*PRODUCER, "number")
        .agg(
            sf.sum(sf.when(is_data, sf.col("records")).otherwise(0)).alias("records"),
            sf.count_if(is_data).alias("batches"),
            sf.min_by(sf.when(is_data, sf.col("producer_epoch")), sf.when(is_data, sf.col("base_offset"))).alias(
                "epoch"
            ),
            sf.min_by(sf.when(is_data, sf.col("base_timestamp_ms")), sf.when(is_data, sf.col("base_offset"))).alias(
                "begun_ms"
            ),
            sf.max("marker").alias("marker"),
            sf.max(sf.when(is_marker, sf.col("producer_epoch"))).alias("marker_epoch"),
            sf.max(sf.when(is_marker, sf.col("max_timestamp_ms"))).alias("ended_ms"),
            sf.max(sf.when(is_marker, sf.col("observed_at"))).alias("observed_at"),
        )
    )


def transaction_accounts(batches: DataFrame, is_in_window: Column) -> DataFrame:
    """Rows of `transaction_accounts` without window and run: per producer and partition, how its transactions ended.

    Those count whose marker was read in the window, and those that are open at its end.
    """
    ended = sf.col("marker").isNotNull()
    has_data = sf.col("batches") > 0
    committed, aborted = sf.col("marker") == Marker.COMMIT.value, sf.col("marker") == Marker.ABORT.value
    lasted = sf.when(ended & has_data, sf.col("ended_ms") - sf.col("begun_ms"))
    counted = _with_torn(transactions(batches)).where((ended & is_in_window) | (~ended & has_data))
    return counted.groupBy(*PRODUCER).agg(
        sf.count_if(has_data & committed).alias("committed"),
        sf.count_if(has_data & aborted).alias("aborted"),
        sf.count_if(~ended).alias("open"),
        sf.count_if(ended & ~has_data).alias("without_data"),
        sf.count_if("is_torn").alias("torn"),
        _records(committed).alias("records_committed"),
        _records(aborted).alias("records_aborted"),
        _records(~ended).alias("records_open"),
        sf.percentile(lasted, 0.5).alias("median_ms"),
        sf.max(lasted).alias("longest_ms"),
    )


def _with_torn(found: DataFrame) -> DataFrame:
    """`is_torn`: aborted here and committed on another partition.

    Told only where a transaction has an epoch of its own (its markers carry the epoch after its data's, KIP-890): equal
    epochs are one transaction then. Where epochs last longer, markers alone do not say which belong together.
    """
    of_one = ("cluster_id", "producer_id", "marker_epoch")
    has_own_epoch = (sf.col("batches") > 0) & (sf.col("marker_epoch") == sf.col("epoch") + 1)
    commits = sf.count_if(has_own_epoch & (sf.col("marker") == Marker.COMMIT.value))
    elsewhere = commits.over(Window.partitionBy(*of_one)) > commits.over(Window.partitionBy(*of_one, *LOG[1:]))
    is_torn = has_own_epoch & (sf.col("marker") == Marker.ABORT.value) & elsewhere
    return found.withColumn("is_torn", sf.coalesce(is_torn, sf.lit(False)))


def _records(of: Column) -> Column:
    return sf.sum(sf.when(of, sf.col("records")).otherwise(0))
