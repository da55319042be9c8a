import random
from collections import Counter, defaultdict

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import functions as sf

from spark_jobs.transforms.losses import judged_here, judged_ids
from store.rows import arrow_table
from tests.spark_jobs.sampled import frame, sample

pytestmark = pytest.mark.spark

DUE_TO = 10  # records below this offset are due


def judged(spark, source, sink, fan_out=1):
    """What Spark finds, which must be what is found here."""
    with_due = frame(spark, source).withColumn("is_due", sf.col("offset") < DUE_TO)
    rows = [row.asDict(recursive=True) for row in judged_ids(with_due, frame(spark, sink), fan_out).collect()]
    here = found_here(source, sink, fan_out)
    assert in_order(here) == in_order(rows)
    return {
        row["partition"]: (
            row["ids_judged"], row["ids_unseen"], [(lost["offset"], lost["id_hash"]) for lost in row["lost"]],
        )
        for row in here
    }  # fmt: skip


def found_here(source, sink, fan_out=1):
    records = arrow_table("id_samples", source)
    is_due = pa.array([row["offset"] < DUE_TO for row in source], pa.bool_())
    shown = np.array([row["id_hash"] for row in sink], dtype=np.int64)
    return judged_here(records.append_column("is_due", is_due), shown, fan_out)


def in_order(rows):
    """Of lost records what a judgement keeps."""
    kept = ("partition", "offset", "id_hash", "message_id", "missing")
    lost = [{**row, "lost": [[one[name] for name in kept] for one in row["lost"]]} for row in rows]
    return sorted(lost, key=lambda row: row["partition"])


def test_due_id_that_the_sink_never_showed_is_lost(spark):
    source = [sample(1, 1), sample(2, 2), sample(3, 3)]

    assert judged(spark, source, [sample(2, 70, topic="sink")]) == {0: (3, 0, [(1, 1), (3, 3)])}


def test_id_that_is_not_due_is_unseen_and_not_lost(spark):
    source = [sample(1, 9), sample(2, 10), sample(3, 11)]

    assert judged(spark, source, [sample(3, 1)]) == {0: (1, 1, [(9, 1)])}


def test_id_shown_twice_is_shown(spark):
    assert judged(spark, [sample(1, 1)], [sample(1, 5), sample(1, 6)]) == {0: (1, 0, [])}


def test_an_id_with_fewer_records_than_the_fan_out_is_lost_and_says_how_many_are_missing(spark):
    source = frame(spark, [sample(1, 1), sample(2, 2), sample(3, 3)]).withColumn("is_due", sf.lit(True))
    sink = frame(spark, [sample(i, o, topic="sink") for i, o in ((1, 5), (1, 6), (1, 7), (2, 8))])

    (row,) = judged_ids(source, sink, fan_out=3).collect()

    assert [(lost.id_hash, lost.missing) for lost in row.lost] == [(2, 2), (3, 3)]


def test_id_stored_twice_in_the_source_is_judged_once_at_its_first_offset(spark):
    assert judged(spark, [sample(1, 4), sample(1, 3)], []) == {0: (1, 0, [(3, 1)])}


def test_lost_record_keeps_what_a_person_needs(spark):
    source = frame(spark, [sample(1, 1, at_s=30)]).withColumn("is_due", sf.lit(True))

    (row,) = judged_ids(source, frame(spark, [])).collect()

    assert (row.lost[0].message_id, row.lost[0].observed_at.second) == ("m1", 30)


def random_history(chance):
    source = [
        sample(chance.randrange(12), DUE_TO - 3 + step, partition=partition)
        for partition in range(3)
        for step in range(6)
        if chance.random() < 0.8
    ]
    return source, [sample(chance.randrange(12), step, topic="sink") for step in range(chance.randrange(8))]


def oracle(source, sink, fan_out):
    shown = {id_hash for id_hash, copies in Counter(row["id_hash"] for row in sink).items() if copies >= fan_out}
    firsts = {}
    for row in sorted(source, key=lambda row: row["offset"]):
        firsts.setdefault((row["partition"], row["id_hash"]), row)
    found = defaultdict(lambda: [0, 0, []])
    for (partition, id_hash), row in firsts.items():
        is_due = row["offset"] < DUE_TO
        found[partition][0] += is_due
        if id_hash not in shown:
            if is_due:
                found[partition][2].append((row["offset"], id_hash))
            else:
                found[partition][1] += 1
    return {partition: (ids, unseen, sorted(lost)) for partition, (ids, unseen, lost) in found.items()}


SQL = f"""
WITH shown AS (SELECT id_hash FROM sink GROUP BY id_hash HAVING count(*) >= $fan_out),
ids AS (SELECT "partition", id_hash, min("offset") AS "offset" FROM source GROUP BY ALL),
judged AS (SELECT *, "offset" < {DUE_TO} AS is_due, id_hash IN (FROM shown) AS is_shown FROM ids)
SELECT "partition", count(*) FILTER (is_due), count(*) FILTER (NOT is_due AND NOT is_shown),
    list(("offset", id_hash) ORDER BY "offset") FILTER (is_due AND NOT is_shown)
FROM judged GROUP BY "partition"
"""


def duckdb_judged(source, sink, fan_out):
    schema = pa.schema([("partition", pa.int64()), ("offset", pa.int64()), ("id_hash", pa.int64())])
    with duckdb.connect(":memory:") as connection:
        connection.register("source", pa.Table.from_pylist(source, schema=schema))
        connection.register("sink", pa.Table.from_pylist(sink, schema=schema))
        rows = connection.execute(SQL, {"fan_out": fan_out}).fetchall()
    return {partition: (due, unseen, [tuple(pair) for pair in lost or []]) for partition, due, unseen, lost in rows}


@pytest.mark.parametrize(("seed", "fan_out"), [(0, 1), (1, 1), (2, 1), (3, 2), (4, 2), (5, 3)])
def test_spark_duckdb_plain_python_and_what_is_done_here_judge_alike(spark, seed, fan_out):
    source, sink = random_history(random.Random(seed))

    found = judged(spark, source, sink, fan_out)

    assert found == oracle(source, sink, fan_out)
    assert found == duckdb_judged(source, sink, fan_out)
    assert any(lost for _, _, lost in found.values()), "a history without a loss proves nothing"
