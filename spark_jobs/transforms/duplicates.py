"""Copies of message ids beyond the first, and how each came to be: pure DataFrame → DataFrame.

Kafka's broker drops a producer's own retries only while it knows the producer; whatever passes has one of six causes,
read from the producer identity of the first and the later copy.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from guarantees.audits import DuplicateCause

EXAMPLES = 5
ID_KEYS = ("cluster_id", "topic_id", "id_hash")
GROUP_KEYS = (
    "cluster_id",
    "topic",
    "topic_id",
    "partition",
    "cause",
    "first_producer_id",
    "producer_id",
    "producer_epoch",
)
_COPY = (
    "partition",
    "offset",
    "producer_id",
    "producer_epoch",
    "sequence",
    "is_transactional",
    "timestamp",
    "message_id",
    "observed_at",
)


def of_new_ids(earlier: DataFrame, new: DataFrame) -> DataFrame:
    """The earlier copies of ids that are among the new ones."""
    return earlier.join(new.select(*ID_KEYS), on=list(ID_KEYS), how="left_semi")


def extra_copies(earlier: DataFrame, new: DataFrame, meant: Column | None = None) -> DataFrame:
    """Copies among `new` rows of id_samples of an id that has a first copy, in `earlier` or in `new`, with that copy.

    The first copy of an id is one read earlier; among those, and among new ones only, the one at the lowest offset,
    whatever its partition. So many as are `meant` to be there (by topic_id; one unless said) are none too many, in the
    same order; every other new copy is an extra one and counts on its own partition.
    """
    meant = sf.lit(1) if meant is None else meant
    read_earlier = of_new_ids(earlier, new).withColumn("is_new", sf.lit(False))
    copies = read_earlier.unionByName(new.withColumn("is_new", sf.lit(True)))
    by_offset = sf.struct("offset", *_without_offset())
    later = sf.collect_list(sf.when(sf.col("is_new"), by_offset))  # no more rows than one round has read
    is_another_copy = (sf.col("later_copy.partition") != sf.col("first_copy.partition")) | (
        sf.col("later_copy.offset") != sf.col("first_copy.offset")
    )
    return (
        copies.groupBy("topic", *ID_KEYS)
        .agg(
            sf.count("*").alias("copies"),
            sf.count_if(~sf.col("is_new")).alias("earlier_copies"),
            sf.min(sf.struct("is_new", "offset", *_without_offset())).alias("first_copy"),
            sf.array_sort(later).alias("later_copies"),
        )
        .where(sf.col("copies") > meant)
        .select("*", sf.posexplode("later_copies").alias("place", "later_copy"))
        .where((sf.col("earlier_copies") + sf.col("place") >= meant) & is_another_copy)
        .withColumn("cause", duplicate_cause(sf.col("first_copy"), sf.col("later_copy")))
        .select("topic", *ID_KEYS, "first_copy", "later_copy", "cause")
    )


def duplicate_cause(first: Column, later: Column) -> Column:
    """The first that holds; a producer id of null means that the batch has none.

    Sequences are counted per partition: equal ones on two partitions say nothing, the application sent twice.
    """
    not_idempotent = first["producer_id"].isNull() | later["producer_id"].isNull()
    other_producer_id = first["producer_id"] != later["producer_id"]
    other_epoch = first["producer_epoch"] != later["producer_epoch"]
    other_sequence = ~first["sequence"].eqNullSafe(later["sequence"])
    other_partition = first["partition"] != later["partition"]
    return (
        sf.when(not_idempotent, DuplicateCause.NOT_IDEMPOTENT.value)
        .when(other_producer_id, DuplicateCause.OTHER_PRODUCER_ID.value)
        .when(other_epoch & later["is_transactional"], DuplicateCause.OTHER_TRANSACTION.value)
        .when(other_epoch, DuplicateCause.OTHER_EPOCH.value)
        .when(other_sequence | other_partition, DuplicateCause.SENT_TWICE.value)
        .otherwise(DuplicateCause.SAME_SEQUENCE.value)
    )


def duplicate_groups(extra: DataFrame) -> DataFrame:
    """Extra copies by partition, cause and producers: how many, how they spread over ids, where, and examples.

    `squares` and `largest` are of the extra copies per id: what an interval for their number needs.
    """
    return (
        _extra_copies_per_id(extra)
        .groupBy(*GROUP_KEYS)
        .agg(
            sf.sum("extra").alias("sampled_extra_copies"),
            sf.sum(sf.col("extra") * sf.col("extra")).alias("squares"),
            sf.max("extra").alias("largest"),
            sf.min("lowest").alias("first_copy_offset"),
            sf.max("highest").alias("last_copy_offset"),
            sf.slice(sf.array_sort(sf.collect_list("example")), 1, EXAMPLES).alias("examples"),
        )
        .select(
            *GROUP_KEYS,
            "sampled_extra_copies",
            "squares",
            "largest",
            "first_copy_offset",
            "last_copy_offset",
            "examples",
        )
    )


def _extra_copies_per_id(extra: DataFrame) -> DataFrame:
    first, later = sf.col("first_copy"), sf.col("later_copy")
    example = sf.struct(later["offset"].alias("offset"), later["message_id"].alias("message_id"), first, later)
    return (
        extra.withColumns(
            {
                "partition": later["partition"],
                "first_producer_id": sf.coalesce(first["producer_id"], sf.lit(-1)),
                "producer_id": sf.coalesce(later["producer_id"], sf.lit(-1)),
                "producer_epoch": sf.coalesce(later["producer_epoch"], sf.lit(-1)),
                "example": example,
            }
        )
        .groupBy(*GROUP_KEYS, "id_hash")
        .agg(
            sf.count("*").alias("extra"),
            sf.min("example").alias("example"),
            sf.min("example.offset").alias("lowest"),
            sf.max("example.offset").alias("highest"),
        )
    )


def _without_offset() -> list[str]:
    return [name for name in _COPY if name != "offset"]
