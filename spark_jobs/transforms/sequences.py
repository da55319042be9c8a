"""Sequence numbers of identified producers, as stored: pure DataFrame → DataFrame.

A broker that knows the producer takes only the number that follows, so what is passed over or repeated between stored
batches says that it did not know it, or that something was removed since: neither is a loss or a duplicate by itself.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from guarantees.batches import SEQUENCES
from spark_jobs.transforms.batches import LOG, read_once

PRODUCER = (*LOG, "producer_id", "producer_epoch")


def sequence_accounts(batches: DataFrame, is_in_window: Column) -> DataFrame:
    """Rows of `sequence_accounts` without window and run: per producer id and epoch, what its batches hold.

    `batches` are rows of batch_headers; those before the window say only which number is expected in it. Numbers are
    counted on from the producer's first batch given, so that 2147483647 is followed by 0.
    """
    number = sf.col("start") + (sf.col("last_offset") - sf.col("base_offset") + 1)
    before = Window.partitionBy(*PRODUCER).orderBy("base_offset").rowsBetween(Window.unboundedPreceding, -1)
    counted = (
        _from_the_first(batches)
        .withColumn("following", number)
        .withColumn("furthest", sf.max("following").over(before))
        .withColumn("lowest", sf.min("start").over(before))
        .where(is_in_window)
        .withColumn("passed", _at_least_none(sf.col("start") - sf.col("furthest")))
        .withColumn("again", _at_least_none(_overlap()))
    )
    return counted.groupBy(*PRODUCER).agg(
        sf.count("*").alias("batches"),
        sf.sum("records").alias("records"),
        sf.min("base_offset").alias("first_offset"),
        sf.max("last_offset").alias("last_offset"),
        sf.min_by("base_sequence", "base_offset").alias("first_sequence"),
        sf.pmod(sf.max("following") - 1 + sf.min("shift"), sf.lit(SEQUENCES)).alias("highest_sequence"),
        sf.count_if(sf.col("passed") > 0).alias("gaps"),
        sf.sum("passed").alias("sequences_passed_over"),
        sf.sum("again").alias("sequences_repeated"),
        sf.bool_or("is_transactional").alias("is_transactional"),
    )


def _from_the_first(batches: DataFrame) -> DataFrame:
    """With `start`: the base sequence counted on from the first one, which is `shift`."""
    order = Window.partitionBy(*PRODUCER).orderBy("base_offset")
    half = SEQUENCES // 2
    ahead = sf.pmod(sf.col("base_sequence") - sf.lag("base_sequence").over(order), sf.lit(SEQUENCES))
    return (
        read_once(batches)
        .where(sf.col("marker").isNull() & sf.col("producer_id").isNotNull() & sf.col("base_sequence").isNotNull())
        .withColumn("ahead", sf.coalesce(sf.when(ahead < half, ahead).otherwise(ahead - SEQUENCES), sf.lit(0)))
        .withColumn("start", sf.sum("ahead").over(order.rowsBetween(Window.unboundedPreceding, Window.currentRow)))
        .withColumn("shift", sf.first("base_sequence").over(order))
    )


def _overlap() -> Column:
    """None for the first batch, of which there is nothing to repeat: least and greatest would pass over the nulls."""
    shared = sf.least("following", "furthest") - sf.greatest("start", "lowest")
    return sf.when(sf.col("furthest").isNotNull(), shared)


def _at_least_none(number: Column) -> Column:
    return sf.greatest(sf.coalesce(number, sf.lit(0)), sf.lit(0))
