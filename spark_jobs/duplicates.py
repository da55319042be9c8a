"""Job: extra copies among the ids of newly read ranges, compared with the samples of the topic's horizon."""

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as sf

from spark_jobs.ranges import OffsetRange
from spark_jobs.sampling import is_kept
from spark_jobs.statistics import ExtraCopies, extra_copies
from spark_jobs.stored_samples import Stored, as_frame, copies_of
from spark_jobs.transforms import duplicates as transforms
from spark_jobs.transforms.duplicates_here import duplicate_groups_here
from store.rows import Row

FEW_COPIES = 20_000  # of ids that have more than they should: below, Spark's start costs more than the work


def duplicate_rows(
    spark: SparkSession,
    earlier: Stored,
    new: pa.Table,
    *,
    ranges: Iterable[OffsetRange],
    rates: Mapping[str, float],
    meant: Mapping[str, int],
) -> list[dict[str, object]]:
    """Rows of the table `duplicates`, without run and horizon; `new` is rows of id_samples.

    By topic id: `rates`, the lowest at which any of its samples was taken, earlier or new, and how many copies of an id
    are `meant` to be there. Only ids kept at that rate are compared: all their copies are among the samples.

    Most ids have one copy, and most rounds no duplicate: the earlier copies of the new ids are asked for first, and
    what follows looks at the ids that have more copies than they should: here, or with Spark where there are many.
    """
    new = kept_everywhere(new, rates)
    if not new.num_rows:
        return []
    known = copies_of(new.select(transforms.ID_KEYS), earlier)
    known, repeated = with_too_many_copies(known, new, meant)
    first_offsets = {(r.part.topic_id, r.part.partition): r.first_offset for r in ranges}
    if known.num_rows + repeated.num_rows <= FEW_COPIES:
        groups = duplicate_groups_here(known.to_pylist(), repeated.to_pylist(), meant)
    else:
        groups = _groups_by_spark(spark, known, repeated, meant)
    return [
        duplicate_row(group, first_offsets[group["topic_id"], group["partition"]], rates[group["topic_id"]])
        for group in groups
    ]


def _groups_by_spark(
    spark: SparkSession, known: pa.Table, repeated: pa.Table, meant: Mapping[str, int]
) -> list[dict[str, Any]]:
    # Spark Connect makes no frame of an empty table.
    before = spark.createDataFrame(known) if known.num_rows else as_frame(spark, [])
    extra = transforms.extra_copies(before, spark.createDataFrame(repeated), meant_copies(meant))
    groups: list[dict[str, Any]] = transforms.duplicate_groups(extra).toArrow().to_pylist()
    return groups


def kept_everywhere(new: pa.Table, rates: Mapping[str, float]) -> pa.Table:
    """The samples whose ids are kept at their topic's rate."""
    kept = np.zeros(new.num_rows, dtype=np.bool_)
    id_hash = new["id_hash"].to_numpy()
    for topic_id, rate in rates.items():
        kept |= pc.equal(new["topic_id"], topic_id).to_numpy() & is_kept(id_hash, rate)
    return new.filter(pa.array(kept))


def with_too_many_copies(known: pa.Table, new: pa.Table, meant: Mapping[str, int]) -> tuple[pa.Table, pa.Table]:
    """Of both, the copies of ids of which there are more, taken together, than are meant to be there."""
    keys = list(transforms.ID_KEYS)
    copies = pa.concat_tables([new.select(keys), known.select(keys).cast(new.select(keys).schema)])
    counts = copies.group_by(keys).aggregate([([], "count_all")])
    too_many = pc.greater(counts["count_all"], 1)
    for topic_id, number in meant.items():
        is_fine = pc.and_(pc.equal(counts["topic_id"], topic_id), pc.less_equal(counts["count_all"], number))
        too_many = pc.and_(too_many, pc.invert(is_fine))
    ids = counts.filter(too_many).select(keys)
    return known.join(ids, keys, join_type="left semi"), new.join(ids, keys, join_type="left semi")


def meant_copies(by_topic: Mapping[str, int]) -> Column:
    """One where nothing else is said."""
    number = sf.lit(1)
    for topic_id, copies in by_topic.items():
        number = sf.when(sf.col("topic_id") == topic_id, copies).otherwise(number)
    return number


def duplicate_row(group: Mapping[str, Any], range_first_offset: int, rate: float) -> dict[str, object]:
    """One group of extra copies with its interval."""
    seen = ExtraCopies(group["sampled_extra_copies"], group["squares"], group["largest"])
    interval = extra_copies(seen, rate)
    return {
        **{key: group[key] for key in transforms.GROUP_KEYS},
        "first_offset": range_first_offset,
        "sampled_extra_copies": seen.total,
        "lower": interval.lower,
        "estimate": interval.estimate,
        "upper": interval.upper,
        "sampling_rate": rate,
        "first_copy_offset": group["first_copy_offset"],
        "last_copy_offset": group["last_copy_offset"],
        "examples": json.dumps([_example(example) for example in group["examples"]], sort_keys=True),
    }


def _example(example: Mapping[str, Any]) -> Row:
    first, last = example["first_copy"], example["later_copy"]
    return {"message_id": example["message_id"], "first": _copy(first), "last": _copy(last)}


def _copy(copy: Mapping[str, Any]) -> Row:
    """As guarantees.audits.StoredCopy; a record time no calendar can show gives way to when the copy was read."""
    return {
        "partition": copy["partition"],
        "offset": copy["offset"],
        "producer_id": copy["producer_id"],
        "producer_epoch": copy["producer_epoch"],
        "sequence": copy["sequence"],
        "timestamp_ms": _as_ms(copy["timestamp"] or copy["observed_at"]),
    }


def _as_ms(time: datetime) -> int:
    return round(time.timestamp() * 1000)
