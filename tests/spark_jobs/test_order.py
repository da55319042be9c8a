"""The order of records within their keys: a worker's numpy, Spark, DuckDB's SQL and plain Python count the same."""

import json
import random
from dataclasses import replace
from functools import partial

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guarantees.audits import Job
from kafka_reader.ordered_records import decode_ordered
from settings import ClusterSettings, PipelineSettings, RecordOrder
from spark_jobs.audits import blocks, folders, order, order_comparing, order_files
from spark_jobs.audits.blocks import Account
from spark_jobs.audits.order import OrderAudit
from spark_jobs.transforms.order import EXAMPLES, RECORDS
from tests.kafka_reader.built_batches import Sent, batch
from tests.spark_jobs.histories import plan
from tests.spark_jobs.ordered import Placed, oracle

pytestmark = pytest.mark.spark

PIPELINE = PipelineSettings(
    name="p", cluster="c", source="orders", group="g", sink="bills", store_ids=False, order=RecordOrder(header="n")
)
CLUSTER = ClusterSettings(name="c", bootstrap_servers="nobody:1")


compare = order.compare


def by_spark(spark, records, *, is_numbered=True):
    rows = spark.createDataFrame([tuple(one.row.values()) for one in records], RECORDS)
    return by_place(order.compare(rows, is_numbered=is_numbered))


def by_a_worker(_spark, records, *, is_numbered=True):
    return by_place(order_comparing.compare(stored(records), is_numbered=is_numbered))


def by_place(found):
    return {(row.pop("side"), row.pop("partition")): row for row in found["accounts"]}, found["groups"]


def stored(records):
    """As workers leave them in files."""
    return pa.Table.from_pylist([one.row for one in records], order_files.SCHEMA)


@pytest.fixture(params=[by_spark, by_a_worker], ids=["Spark", "a worker"])
def counted_by(request, spark):
    return partial(request.param, spark)


SQL = """
WITH judged AS (
    SELECT *, lag(place) OVER (PARTITION BY side, "partition", key_hash ORDER BY place, "offset") AS lower,
        count(DISTINCT "partition") OVER (PARTITION BY side, key_hash) AS lies,
        max(place) OVER before AS highest, count(*) FILTER (in_window) OVER before AS earlier
    FROM records
    WINDOW before AS (PARTITION BY side, "partition", key_hash ORDER BY "offset"
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING))
SELECT side, "partition", count(*), count(*) FILTER (earlier = 0), count(*) FILTER (earlier = 0 AND lies > 1),
    count(*) FILTER (highest > place AND (lower IS NULL OR lower < place)),
    count(*) FILTER (lower = place AND ($is_numbered OR highest > place)),
    CASE WHEN $is_numbered
        THEN coalesce(sum(place - lower - 1) FILTER (lower < place AND lies = 1), 0)::BIGINT END
FROM judged WHERE in_window GROUP BY ALL
"""
COLUMNS = ("ordered", "keys", "keys_elsewhere", "out_of_order", "repeated", "numbers_missing")


def by_duckdb(records, *, is_numbered=True):
    with duckdb.connect(":memory:") as connection:
        connection.register("records", pa.Table.from_pylist([one.row for one in records]))
        rows = connection.execute(SQL, {"is_numbered": is_numbered}).fetchall()
    return {row[:2]: dict(zip(COLUMNS, row[2:], strict=True)) for row in rows}


def drawn(chance, side="source"):
    """Few keys and places, so that every boundary is met; some topics have one partition."""
    partitions = chance.choice([1, 1, 2])
    return [
        Placed(chance.randrange(4), offset, chance.randrange(9) ** 2, chance.randrange(partitions), side,
               chance.choice([None, 1, 2]))
        for offset in range(chance.randrange(1, 60))
    ]  # fmt: skip


@given(st.randoms(use_true_random=False), st.booleans())
def test_a_worker_duckdb_and_plain_python_count_the_same(chance, is_numbered):
    records = drawn(chance)

    expected, violations = oracle(records, is_numbered=is_numbered)
    accounts, groups = by_a_worker(None, records, is_numbered=is_numbered)
    assert by_duckdb(records, is_numbered=is_numbered) == expected == accounts
    assert sum(group["out_of_order"] for group in groups) == len(violations)


def in_order(groups):
    return sorted(groups, key=lambda group: json.dumps(group, sort_keys=True))


@pytest.mark.parametrize("is_numbered", [True, False])
def test_spark_counts_as_they_do_and_names_the_violations(spark, is_numbered):
    """A hundred histories in one query, each under a side of its own."""
    records = [one for seed in range(100) for one in drawn(random.Random(seed), f"side {seed}")]
    accounts, groups = by_spark(spark, records, is_numbered=is_numbered)
    expected, violations = oracle(records, is_numbered=is_numbered)

    assert accounts == expected == by_duckdb(records, is_numbered=is_numbered)
    here, those = by_a_worker(spark, records, is_numbered=is_numbered)
    assert (accounts, in_order(groups)) == (here, in_order(those))
    assert sum(group["out_of_order"] for group in groups) == len(violations) > 400
    examples = {(group["side"], group["partition"], example["later"]["offset"], example["earlier"]["offset"])
                for group in groups for example in group["examples"]}  # fmt: skip
    assert examples <= violations
    assert len(examples) == sum(min(EXAMPLES, group["out_of_order"]) for group in groups)


def history(*places, first=10, **about):
    return [Placed(7, first + number, place, **about) for number, place in enumerate(places)]


STORED = {  # out of order, repeated, missing
    "in order": (history(1, 2, 3), (0, 0, 0)),
    "one late": (history(1, 3, 2, 4), (1, 0, 0)),
    "one sent again at once": (history(1, 1, 2), (0, 1, 0)),
    "a run sent again is repeats": (history(1, 2, 3, 1, 2, 3, 4), (0, 3, 0)),
    "a late one sent again": (history(1, 3, 2, 2), (1, 1, 0)),
    "missing, which is not disorder": (history(1, 2, 6), (0, 0, 3)),
    "the first copy lies before the window": (history(1, 2, 3, 2, first=8), (0, 1, 0)),
    "overtaken before the window": (history(5, 3, first=9), (1, 0, 0)),
    "late, behind the window": (history(2, 1, first=29), (0, 0, 0)),
    "filled by one that is late behind the window": (history(1, 3, 2, first=28), (0, 0, 0)),
    "as far apart as numbers go": (history(-(10**18) + 1, 10**18 - 1), (0, 0, 2 * 10**18 - 3)),
}


@pytest.mark.parametrize("case", STORED)
def test_gaps_repeats_and_disorder_are_told_apart(counted_by, case):
    records, expected = STORED[case]
    accounts, _ = counted_by(records)
    names = ("out_of_order", "repeated", "numbers_missing")

    assert tuple(accounts["source", 0][name] for name in names) == expected


def test_missing_numbers_that_do_not_fit_are_unknown(counted_by):
    records = [
        replace(one, key=key) for key in range(6) for one in history(-(10**18) + 1, 10**18 - 1, first=10 + 2 * key)
    ]

    assert counted_by(records)[0]["source", 0]["numbers_missing"] is None


def test_a_key_on_two_partitions_is_compared_on_each_alone_and_counted(counted_by):
    accounts, groups = counted_by([*history(1, 2, 5), *history(3, 4, first=20, partition=1)])

    assert groups == []
    assert [account["keys_elsewhere"] for account in accounts.values()] == [1, 1]
    assert [account["numbers_missing"] for account in accounts.values()] == [0, 0]


def test_equal_times_are_in_order_and_only_a_time_that_goes_back_is_judged(counted_by):
    accounts, _ = counted_by(history(5, 5, 5, 7, 5, 6), is_numbered=False)

    assert accounts["source", 0] == {
        "ordered": 6, "keys": 1, "keys_elsewhere": 0, "out_of_order": 1, "repeated": 1, "numbers_missing": None,
    }  # fmt: skip


def test_a_violation_names_both_records_their_producers_and_their_distance(counted_by):
    records = [Placed(7, 10, 9, pid=1), *(Placed(8, 11 + n, n) for n in range(5)), Placed(7, 16, 3, pid=None)]
    _, (group,) = counted_by(records)

    assert (group["first_producer_id"], group["producer_id"], group["producer_epoch"]) == (1, -1, -1)
    assert (group["out_of_order"], group["keys"], group["nearest_offsets"], group["farthest_offsets"]) == (1, 1, 6, 6)
    (example,) = group["examples"]
    assert (example["earlier"]["offset"], example["earlier"]["place"]) == (10, 9)
    assert (example["later"]["offset"], example["later"]["place"], example["later"]["producer_id"]) == (16, 3, None)


def sent(key, place):
    return Sent(key=b"k%d" % key, headers=(("n", b"%d" % place),))


def spool(folder, buckets):
    """Files as workers leave them, of one key out of order in each of 20; one block whose worker died."""
    records = [sent(key, place) for place in (0, 2, 1, 3) for key in range(20)]
    for side in ("source", "sink"):
        found = decode_ordered(batch(records, base_offset=0, producer_id=4), (), RecordOrder(header="n"))
        for first, following in ((0, 33), (33, 80)):
            rows = order_files.rows_of(found, np.arange(first, following), f"{side}-0", (10, 70), buckets)
            account = Account(visible=len(rows), compared=len(rows))
            order_files.write(folder, f"{side}-0", first, following, [rows], account)
            died = folder / f"{side}-0.{first}-{following + 1}.parquet"
            died.write_bytes((folder / f"{side}-0.{first}-{following}.parquet").read_bytes())


def audited(spark, folder, buckets, pipeline=PIPELINE):
    ranges = {"read_next": 80, "window_next": 70}
    planned = plan(partitions=1, job=Job.ORDER, source=ranges, sink=ranges)
    assert planned.buckets == buckets
    audit = OrderAudit(spark, planned, folder, pipeline, CLUSTER, lanes=2)
    while audit.next_slice():
        pass
    return audit.result()


@pytest.mark.parametrize(("most", "by_spark"), [(order.MOST_IN_MEMORY, 0), (40, 2), (0, 4)])
def test_an_audit_compares_bucket_by_bucket_and_leaves_to_spark_what_no_worker_may_hold(
    spark, tmp_path, monkeypatch, most, by_spark
):
    """Of four buckets; one block's worker had died, and it is not read."""
    asked = []
    monkeypatch.setattr(order, "compare", lambda *frame, **how: asked.append(how) or compare(*frame, **how))
    monkeypatch.setattr(order, "MOST_IN_MEMORY", most)
    monkeypatch.setattr("spark_jobs.audits.plans.ORDERED_AT_ONCE", 40)
    folder = folders.run_folder(tmp_path, "r")
    spool(folder / folders.READ, 4)
    found = audited(spark, folder, 4)

    counts = found.order["source", 0]
    assert counts == {"ordered": 60, "keys": 20, "keys_elsewhere": 0, "out_of_order": 20, "repeated": 0,
                      "numbers_missing": 0}  # fmt: skip
    assert found.order["sink", 0] == counts
    (group, _) = sorted(found.order_groups, key=lambda group: group["side"], reverse=True)
    assert (group["out_of_order"], group["keys"], group["first_offset"], group["last_offset"]) == (20, 20, 40, 59)
    assert [example["at"] for example in group["examples"]] == [40, 41, 42, 43, 44]
    assert {example["key"] for example in group["examples"]} == {None}, "only hashes may be stored"
    assert len(asked) == by_spark


def test_an_audit_begun_anew_goes_on_with_the_buckets_that_are_left(spark, tmp_path, monkeypatch):
    monkeypatch.setattr("spark_jobs.audits.plans.ORDERED_AT_ONCE", 80)
    folder = folders.run_folder(tmp_path, "r")
    spool(folder / folders.READ, 2)
    whole = audited(spark, folder, 2)
    folders.compared_path(folder, 1).unlink()
    done = json.loads(folders.compared_path(folder, 0).read_text())
    blocks.write_json(folders.compared_path(folder, 0), {**done, "groups": []})

    again = audited(spark, folder, 2)

    assert again.order == whole.order
    assert sum(g["out_of_order"] for g in again.order_groups) < sum(g["out_of_order"] for g in whole.order_groups)
