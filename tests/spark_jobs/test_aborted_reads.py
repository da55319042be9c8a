"""Ids at the sink whose source records were aborted: Spark, DuckDB and plain Python on the same histories."""

import random

import duckdb
import pyarrow as pa
import pytest

from spark_jobs.aborted_reads import aborted_reads
from tests.spark_jobs.sampled import START, frame, sample

pytestmark = pytest.mark.spark


def told(spark, aborted, sink, committed=()):
    found = aborted_reads(frame(spark, aborted), frame(spark, sink), frame(spark, list(committed)))
    return sorted(
        (row["id_hash"], row["partition"], row["offset"], row["shown"]["partition"], row["shown"]["offset"])
        for row in found
    )


def at_sink(id_hash, offset, **place):
    return sample(id_hash, offset, topic="sink", **place)


def test_an_aborted_id_that_the_sink_shows_is_found_where_it_was_aborted_and_where_it_stands(spark):
    assert told(spark, [sample(1, 40), sample(2, 41)], [at_sink(2, 7, partition=1), at_sink(3, 8)]) == [
        (2, 0, 41, 1, 7)
    ]


def test_an_id_that_was_committed_too_may_come_from_there(spark):
    assert told(spark, [sample(1, 40), sample(2, 41)], [at_sink(1, 7), at_sink(2, 8)], [sample(1, 50)]) == [
        (2, 0, 41, 0, 8)
    ]


def test_an_id_aborted_twice_and_shown_twice_counts_once_by_its_firsts(spark):
    twice = [sample(1, 40, partition=1), sample(1, 90)]

    assert told(spark, twice, [at_sink(1, 3, at_s=9), at_sink(1, 8, at_s=5)]) == [(1, 0, 90, 0, 8)]


def test_who_wrote_it_and_when_it_was_seen_is_kept(spark):
    (row,) = aborted_reads(
        frame(spark, [sample(1, 40, pid=77, epoch=3)]), frame(spark, [at_sink(1, 7, at_s=30)]), frame(spark, [])
    )

    assert (row["message_id"], row["producer_id"], row["producer_epoch"], row["topic_id"]) == ("m1", 77, 3, "orders-id")
    assert (row["shown"]["topic"], (row["shown"]["observed_at"] - START).total_seconds()) == ("sink", 30)


def random_history(chance):
    def rows(count, **place):
        return [
            sample(chance.randrange(12), step, partition=chance.randrange(3), at_s=chance.randrange(4), **place)
            for step in range(count)
        ]

    return rows(8), rows(10, topic="sink"), rows(chance.randrange(6))


def oracle(aborted, sink, committed):
    excused = {row["id_hash"] for row in committed}
    found = []
    for id_hash in {row["id_hash"] for row in aborted} & {row["id_hash"] for row in sink} - excused:
        first = min((row["partition"], row["offset"]) for row in aborted if row["id_hash"] == id_hash)
        shown = min((row["observed_at"], row["partition"], row["offset"]) for row in sink if row["id_hash"] == id_hash)
        found.append((id_hash, *first, *shown[1:]))
    return sorted(found)


SQL = """
WITH shown AS (
    SELECT id_hash, min(row(observed_at, "partition", "offset")) AS at FROM sink GROUP BY id_hash
), first AS (SELECT id_hash, min(row("partition", "offset")) AS at FROM aborted GROUP BY id_hash)
SELECT id_hash, first.at, shown.at FROM first JOIN shown USING (id_hash)
WHERE id_hash NOT IN (SELECT id_hash FROM committed) ORDER BY id_hash
"""


def duckdb_told(**tables):
    schema = pa.schema(
        [
            ("partition", pa.int64()),
            ("offset", pa.int64()),
            ("id_hash", pa.int64()),
            ("observed_at", pa.timestamp("ms", tz="UTC")),
        ]
    )
    with duckdb.connect(":memory:") as connection:
        for name, rows in tables.items():
            connection.register(name, pa.Table.from_pylist(rows, schema=schema))
        return [(id_hash, *first, *shown[1:]) for id_hash, first, shown in connection.execute(SQL).fetchall()]


@pytest.mark.parametrize("seed", range(5))
def test_spark_duckdb_and_plain_python_tell_the_same(spark, seed):
    aborted, sink, committed = random_history(random.Random(seed))

    found = told(spark, aborted, sink, committed)

    assert found == oracle(aborted, sink, committed)
    assert found == duckdb_told(aborted=aborted, sink=sink, committed=committed)
    assert found, "a history without an aborted read proves nothing"
