"""Records of a key that are stored behind one that should follow them: pure DataFrame → DataFrame.

A record's `place` is the number, or the time, that is declared to rise from record to record of its key. Offsets of
two partitions say nothing of each other: a key is compared on each of its partitions alone.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

EXAMPLES = 5
RECORDS = (
    "`side` string, `partition` int, `key_hash` bigint, `offset` bigint, `place` bigint, `timestamp_ms` bigint, "
    "`producer_id` bigint, `producer_epoch` int, `sequence` int, `in_window` boolean, `bucket` bigint"
)
PLACE = ("side", "partition")
KEY = (*PLACE, "key_hash")
GROUP_KEYS = (*PLACE, "first_producer_id", "producer_id", "producer_epoch")
_RECORD = ("place", "offset", "timestamp_ms", "producer_id", "producer_epoch", "sequence")


def compared(records: DataFrame, is_in_window: Column, *, is_numbered: bool) -> DataFrame:
    """Each record with what is known of it beside the others of its key; `records` as RECORDS, each offset once.

    `highest`: the record with the highest place before it. `is_repeat`: its place stood there before, which makes it a
    copy and no violation. `is_out_of_order`: a higher place stood before, and its own did not. `missing`: numbers
    between its own and the next lower one that no record read has; none are counted of a key that lies on several
    partitions (`is_elsewhere`), where they may be; null where times are compared. Equal times say nothing: only a time
    that goes back is judged. Records outside the window are compared with, and not judged.
    """
    by_place = Window.partitionBy(*KEY).orderBy("place", "offset")
    before = Window.partitionBy(*KEY).orderBy("offset").rowsBetween(Window.unboundedPreceding, -1)
    everywhere = Window.partitionBy("side", "key_hash")
    lower = sf.lag("place").over(by_place)
    is_behind = sf.coalesce(sf.col("highest.place") > sf.col("place"), sf.lit(False))
    return (
        records.withColumn("in_window", is_in_window)
        .withColumn("is_elsewhere", sf.min("partition").over(everywhere) < sf.max("partition").over(everywhere))
        .withColumn("lower", lower)
        .withColumn("is_first", sf.col("lower").isNull() | (sf.col("lower") < sf.col("place")))
        .withColumn("highest", sf.max(sf.when(sf.col("is_first"), sf.struct(*_RECORD))).over(before))
        .withColumn("is_first_of_key", sf.count_if("in_window").over(before) == 0)
        .withColumn("is_out_of_order", sf.col("is_first") & is_behind)
        .withColumn("is_repeat", ~sf.col("is_first") & (sf.lit(is_numbered) | is_behind))
        .withColumn("missing", _missing() if is_numbered else sf.lit(None).cast("bigint"))
        .where("in_window")
    )


def order_accounts(found: DataFrame) -> DataFrame:
    """Of the rows of `compared`, by partition: how many were judged, and as what; keys by where they lie."""
    is_counted = sf.col("is_first_of_key")
    return found.groupBy(*PLACE).agg(
        sf.count("*").alias("ordered"),
        sf.count_if(is_counted).alias("keys"),
        sf.count_if(is_counted & sf.col("is_elsewhere")).alias("keys_elsewhere"),
        sf.count_if("is_out_of_order").alias("out_of_order"),
        sf.count_if("is_repeat").alias("repeated"),
        sf.try_sum("missing").alias("numbers_missing"),
    )


def violation_groups(found: DataFrame) -> DataFrame:
    """Records out of order by the producers of both: how many, of how many keys, how far behind, and examples."""
    earlier, later = sf.col("earlier"), sf.col("later")
    apart = later["offset"] - earlier["offset"]
    example = sf.struct(later["offset"].alias("at"), "key_hash", "earlier", "later")
    lowest = Window.partitionBy(*GROUP_KEYS).orderBy(later["offset"])
    return (
        found.where("is_out_of_order")
        .select(
            *KEY,
            sf.col("highest").alias("earlier"),
            sf.struct(*_RECORD).alias("later"),
            sf.coalesce("highest.producer_id", sf.lit(-1)).alias("first_producer_id"),
            sf.coalesce("producer_id", sf.lit(-1)).alias("producer_id"),
            sf.coalesce("producer_epoch", sf.lit(-1)).alias("producer_epoch"),
        )
        .withColumn("example", sf.when(sf.row_number().over(lowest) <= EXAMPLES, example))
        .groupBy(*GROUP_KEYS)
        .agg(
            sf.count("*").alias("out_of_order"),
            sf.count_distinct("key_hash").alias("keys"),
            sf.min(later["offset"]).alias("first_offset"),
            sf.max(later["offset"]).alias("last_offset"),
            sf.min(apart).alias("nearest_offsets"),
            sf.max(apart).alias("farthest_offsets"),
            sf.array_sort(sf.collect_list("example")).alias("examples"),
        )
    )


def _missing() -> Column:
    follows = sf.col("is_first") & ~sf.col("is_elsewhere") & sf.col("lower").isNotNull()
    return sf.when(follows, sf.col("place") - sf.col("lower") - 1).otherwise(0)
