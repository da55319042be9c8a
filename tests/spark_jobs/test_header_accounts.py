"""Sequences and transactions from stored batch headers: Spark, DuckDB's SQL and plain Python count the same."""

import random
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from statistics import median

import duckdb
import pytest
from pyspark.sql import functions as sf

from spark_jobs.schemas import ddl
from spark_jobs.transforms.sequences import sequence_accounts
from spark_jobs.transforms.transactions import transaction_accounts
from store.rows import arrow_table

WRAP = 2**31
START = datetime(2026, 1, 1, tzinfo=UTC)
WINDOW_FROM_S = 60
spark_test = pytest.mark.spark


def batch(base_offset, records=1, *, sequence=None, pid=1, epoch=0, partition=0, at_s=100, marker=None, **changed):
    """A stored batch: data with a sequence, or a marker; `at_s`: when it was read, in the window from 60 s on."""
    known = {
        "cluster_id": "c", "topic": "orders", "topic_id": "orders-id", "partition": partition,
        "base_offset": base_offset, "last_offset": base_offset + records - 1, "records": records, "producer_id": pid,
        "producer_epoch": epoch, "base_sequence": sequence, "leader_epoch": 0, "is_transactional": marker is not None,
        "marker": marker, "coordinator_epoch": 0 if marker else None, "crc": 1, "body_hash": 1, "size_bytes": 100,
        "base_timestamp_ms": 1000 * base_offset, "max_timestamp_ms": 1000 * base_offset, "is_log_append_time": False,
        "observed_at": START + timedelta(seconds=at_s),
    }  # fmt: skip
    return {**known, **changed}


def frame(spark, rows):
    names = [column.split("`")[1] for column in ddl("batch_headers").split(", ")]
    return spark.createDataFrame([tuple(row[name] for name in names) for row in rows], ddl("batch_headers"))


def counted(spark, job, rows):
    in_window = sf.col("observed_at") >= sf.lit(START + timedelta(seconds=WINDOW_FROM_S))
    return [row.asDict() for row in job(frame(spark, rows), in_window).collect()]


def sequences(spark, rows):
    names = ("batches", "gaps", "sequences_passed_over", "sequences_repeated", "first_sequence", "highest_sequence")
    found = counted(spark, sequence_accounts, rows)
    return {(row["partition"], row["producer_id"], row["producer_epoch"]): tuple(map(row.get, names)) for row in found}


STORED = {
    "whole": ([(0, 5), (5, 5)], (2, 0, 0, 0, 0, 9)),
    "passed over": ([(0, 5), (7, 5)], (2, 1, 2, 0, 0, 11)),
    "resent": ([(0, 5), (5, 5), (0, 5), (10, 2)], (4, 0, 0, 5, 0, 11)),
    "resent in part": ([(0, 5), (5, 5), (3, 4)], (3, 0, 0, 4, 0, 9)),
    "begun in the middle": ([(10, 5), (5, 5)], (2, 0, 0, 0, 10, 14)),
    "wrapped": ([(WRAP - 3, 3), (0, 4)], (2, 0, 0, 0, WRAP - 3, 3)),
    "wrapped with a gap": ([(WRAP - 3, 2), (1, 4)], (2, 1, 2, 0, WRAP - 3, 4)),
}


@spark_test
def test_what_a_producer_passed_over_and_repeated_is_counted_modulo_the_sequence_space(spark):
    rows = [
        batch(100 * pid + 10 * place, records, sequence=base, pid=pid)
        for pid, (stored, _) in enumerate(STORED.values())
        for place, (base, records) in enumerate(stored)
    ]

    found = sequences(spark, rows)

    assert {name: found[0, pid, 0] for pid, name in enumerate(STORED)} == {
        name: expected for name, (_, expected) in STORED.items()
    }


@spark_test
def test_batches_before_the_window_are_expected_from_and_not_counted(spark):
    rows = [batch(0, 5, sequence=0, at_s=10), batch(5, 5, sequence=8)]

    assert sequences(spark, rows) == {(0, 1, 0): (1, 1, 3, 0, 8, 12)}


@spark_test
def test_a_batch_that_was_read_twice_counts_once_and_markers_and_plain_batches_carry_no_sequence(spark):
    rows = [
        batch(0, 5, sequence=0), batch(0, 5, sequence=0, at_s=110), batch(5, marker="commit"),
        batch(6, 3, pid=None, epoch=None),
    ]  # fmt: skip

    assert sequences(spark, rows) == {(0, 1, 0): (1, 0, 0, 0, 0, 4)}


OUTCOMES = ("committed", "aborted", "open", "without_data", "torn", "records_committed", "records_aborted",
            "records_open", "median_ms", "longest_ms")  # fmt: skip


def outcomes(spark, rows):
    found = counted(spark, transaction_accounts, rows)
    return {(row["partition"], row["producer_id"]): tuple(map(row.get, OUTCOMES)) for row in found}


def data(base_offset, records=1, **changed):
    return batch(base_offset, records, sequence=base_offset, is_transactional=True, **changed)


@spark_test
def test_transactions_end_as_their_markers_say_and_what_has_none_is_open(spark):
    rows = [
        data(0, 4), data(4, 2), batch(6, marker="commit"), data(7, 3), batch(10, marker="abort"),
        batch(11, marker="commit"), data(12, 9),
    ]  # fmt: skip

    assert outcomes(spark, rows) == {(0, 1): (1, 1, 1, 1, 0, 6, 3, 9, 4500.0, 6000)}


@spark_test
def test_a_transaction_counts_in_the_window_of_its_marker_and_an_open_one_at_the_end_of_each(spark):
    rows = [data(0, 4, at_s=10), batch(4, marker="commit", at_s=20), data(5, 3, at_s=30), batch(8, marker="abort"),
            data(9, 2, at_s=40, pid=2)]  # fmt: skip

    assert outcomes(spark, rows) == {
        (0, 1): (0, 1, 0, 0, 0, 0, 3, 0, 3000.0, 3000),
        (0, 2): (0, 0, 1, 0, 0, 0, 0, 2, None, None),
    }


@spark_test
@pytest.mark.parametrize(("marker_epoch", "torn"), [(1, 1), (0, 0)], ids=["an epoch of its own", "epochs that last"])
def test_an_abort_beside_a_commit_is_torn_only_where_equal_epochs_are_one_transaction(spark, marker_epoch, torn):
    rows = [data(0), batch(1, marker="abort", epoch=marker_epoch), data(0, partition=1),
            batch(1, marker="commit", epoch=marker_epoch, partition=1)]  # fmt: skip

    assert [outcomes(spark, rows)[partition, 1][4] for partition in (0, 1)] == [torn, 0]


def history(chance):
    """Few producers, some of them near the end of the sequence space; resends, gaps, markers, second readings."""
    rows = []
    for partition in range(2):
        following = {}
        offset = 0
        for _ in range(25):
            pid, epoch = chance.choice([1, 2]), chance.choice([0, 0, 0, 1])
            at_s = 10 + 3 * offset
            if chance.random() < 0.3:
                rows.append(batch(offset, pid=pid, epoch=chance.choice([1, epoch]), partition=partition, at_s=at_s,
                                  marker=chance.choice(["commit", "abort"])))  # fmt: skip
                offset += 1
                continue
            sequence = following.get((pid, epoch), chance.choice([0, WRAP - 4])) + chance.choice([0, 0, 0, 2, -3])
            records = chance.randrange(1, 5)
            following[pid, epoch] = (sequence + records) % WRAP
            rows.append(batch(offset, records, sequence=sequence % WRAP, pid=pid, epoch=epoch, partition=partition,
                              at_s=at_s, is_transactional=chance.random() < 0.7))  # fmt: skip
            offset += records
    return rows + [{**row, "observed_at": row["observed_at"] + timedelta(seconds=1)} for row in chance.sample(rows, 5)]


def read_once(rows):
    newest = {}
    for row in sorted(rows, key=lambda row: row["observed_at"]):
        newest[row["partition"], row["base_offset"]] = row
    return sorted(newest.values(), key=lambda row: (row["partition"], row["base_offset"]))


def is_in_window(row):
    return row["observed_at"] >= START + timedelta(seconds=WINDOW_FROM_S)


def ahead(sequence, of):
    return (sequence - of + WRAP // 2) % WRAP - WRAP // 2


def sequence_oracle(rows):
    """Plain Python: one producer after another, the numbers counted on without a wrap."""
    found, states = {}, {}
    for row in read_once(rows):
        if row["marker"] or row["base_sequence"] is None:
            continue
        key = row["partition"], row["producer_id"], row["producer_epoch"]
        last, start, lowest, furthest = states.get(key, (None, row["base_sequence"], None, None))
        start = start if last is None else start + ahead(row["base_sequence"], last)
        end = start + row["records"]
        passed = 0 if furthest is None else max(0, start - furthest)
        again = 0 if furthest is None else max(0, min(end, furthest) - max(start, lowest))
        states[key] = (
            row["base_sequence"], start, start if lowest is None else min(lowest, start), max(end, furthest or end)
        )  # fmt: skip
        if is_in_window(row):
            batches, gaps, over, repeated, first, highest = found.get(key, (0, 0, 0, 0, row["base_sequence"], end))
            highest = max(highest, end)
            found[key] = (batches + 1, gaps + (passed > 0), over + passed, repeated + again, first, highest)
    return {key: (*numbers, (highest - 1) % WRAP) for key, (*numbers, highest) in found.items()}


def transaction_oracle(rows):
    """Plain Python: what is open on a partition until its marker comes."""
    ends, opened = [], {}
    for row in read_once(rows):
        key = row["partition"], row["producer_id"]
        if row["marker"]:
            ends.append((key, row, opened.pop(key, [])))
        elif row["is_transactional"]:
            opened.setdefault(key, []).append(row)
    committed = {
        (*key, row["producer_epoch"]) for key, row, held in ends if row["marker"] == "commit" and is_own(row, held)
    }
    found, lasted = defaultdict(Counter), defaultdict(list)
    for key, row, held in ends:
        if not is_in_window(row):
            continue
        kind = {"commit": "committed", "abort": "aborted"}[row["marker"]]
        found[key][kind if held else "without_data"] += 1
        found[key][f"records_{kind}"] += sum(each["records"] for each in held)
        others = {(pid, epoch) for partition, pid, epoch in committed if partition != key[0]}
        is_torn = kind == "aborted" and is_own(row, held) and (key[1], row["producer_epoch"]) in others
        found[key]["torn"] += is_torn
        if held:
            lasted[key].append(row["max_timestamp_ms"] - held[0]["base_timestamp_ms"])
    for key, held in opened.items():
        found[key]["open"] += 1
        found[key]["records_open"] += sum(each["records"] for each in held)
    return {
        key: (*(numbers[name] for name in OUTCOMES[:-2]), median(lasted[key]) if lasted[key] else None,
              max(lasted[key], default=None))
        for key, numbers in found.items()
    }  # fmt: skip


def is_own(marker, held):
    return bool(held) and marker["producer_epoch"] == held[0]["producer_epoch"] + 1


ONCE = """
WITH once AS (
    SELECT *, observed_at >= $from AS here FROM batches
    QUALIFY row_number() OVER (PARTITION BY topic_id, "partition", base_offset ORDER BY observed_at DESC) = 1),
"""
SEQUENCES_SQL = (
    ONCE
    + """
steps AS (
    SELECT *, base_sequence - lag(base_sequence) OVER p AS step FROM once
    WHERE marker IS NULL AND producer_id IS NOT NULL AND base_sequence IS NOT NULL
    WINDOW p AS (PARTITION BY "partition", producer_id, producer_epoch ORDER BY base_offset)),
placed AS (
    SELECT *, first_value(base_sequence) OVER p + sum(coalesce(CASE WHEN step >= 1073741824 THEN step - 2147483648
        WHEN step < -1073741824 THEN step + 2147483648 ELSE step END, 0)) OVER p AS place FROM steps
    WINDOW p AS (PARTITION BY "partition", producer_id, producer_epoch ORDER BY base_offset)),
known AS (
    SELECT *, max(place + records) OVER p AS furthest, min(place) OVER p AS lowest FROM placed
    WINDOW p AS (PARTITION BY "partition", producer_id, producer_epoch ORDER BY base_offset
                 ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING))
SELECT "partition", producer_id, producer_epoch, count(*), count(*) FILTER (place > furthest),
    sum(greatest(0, coalesce(place - furthest, 0))),
    sum(CASE WHEN furthest IS NULL THEN 0
        ELSE greatest(0, least(place + records, furthest) - greatest(place, lowest)) END),
    arg_min(base_sequence, base_offset), (max(place + records) - 1) % 2147483648
FROM known WHERE here GROUP BY ALL
"""
)
TRANSACTIONS_SQL = (
    ONCE
    + """
ends AS (
    SELECT o.*, coalesce((SELECT max(e.base_offset) FROM once e WHERE e.marker IS NOT NULL
        AND e."partition" = o."partition" AND e.producer_id = o.producer_id AND e.base_offset < o.base_offset), -1)
        AS after FROM once o WHERE marker IS NOT NULL),
opened AS (
    SELECT "partition", producer_id, NULL AS marker, NULL AS producer_epoch, NULL AS max_timestamp_ms, true AS here,
        max(base_offset) + 1 AS base_offset, coalesce((SELECT max(e.base_offset) FROM once e WHERE e.marker IS NOT NULL
        AND e."partition" = o."partition" AND e.producer_id = o.producer_id), -1) AS after
    FROM once o WHERE is_transactional AND marker IS NULL GROUP BY "partition", producer_id),
spans AS (SELECT "partition", producer_id, marker, producer_epoch, max_timestamp_ms, here, base_offset, after FROM ends
    UNION ALL BY NAME SELECT * FROM opened),
held AS (
    SELECT s."partition", s.producer_id, s.marker, s.producer_epoch AS marker_epoch,
        s.max_timestamp_ms AS ended, s.here, count(d.base_offset) AS batches, coalesce(sum(d.records), 0) AS records,
        arg_min(d.producer_epoch, d.base_offset) AS epoch, arg_min(d.base_timestamp_ms, d.base_offset) AS begun
    FROM spans s LEFT JOIN once d ON d."partition" = s."partition" AND d.producer_id = s.producer_id
        AND d.marker IS NULL AND d.is_transactional AND d.base_offset > s.after AND d.base_offset < s.base_offset
    GROUP BY s."partition", s.producer_id, s.marker, s.producer_epoch, s.max_timestamp_ms, s.here, s.base_offset),
own AS (SELECT *, batches > 0 AND marker_epoch = epoch + 1 AS is_own FROM held WHERE marker IS NOT NULL OR batches > 0)
SELECT "partition", producer_id, count(*) FILTER (marker = 'commit' AND batches > 0),
    count(*) FILTER (marker = 'abort' AND batches > 0), count(*) FILTER (marker IS NULL),
    count(*) FILTER (marker IS NOT NULL AND batches = 0),
    count(*) FILTER (marker = 'abort' AND is_own AND EXISTS (FROM own c WHERE c.marker = 'commit' AND c.is_own
        AND c.producer_id = own.producer_id AND c.marker_epoch = own.marker_epoch
        AND c."partition" <> own."partition")),
    coalesce(sum(records) FILTER (marker = 'commit'), 0), coalesce(sum(records) FILTER (marker = 'abort'), 0),
    coalesce(sum(records) FILTER (marker IS NULL), 0),
    median(ended - begun) FILTER (marker IS NOT NULL AND batches > 0),
    max(ended - begun) FILTER (marker IS NOT NULL AND batches > 0)
FROM own WHERE here GROUP BY ALL
"""
)


def by_duckdb(sql, rows, keys):
    with duckdb.connect(":memory:") as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register("batches", arrow_table("batch_headers", rows))
        found = connection.execute(sql, {"from": START + timedelta(seconds=WINDOW_FROM_S)}).fetchall()
    return {row[:keys]: row[keys:] for row in found}


@spark_test
@pytest.mark.parametrize("seed", range(4))
def test_spark_duckdb_and_plain_python_count_the_same_sequences_and_transactions(spark, seed):
    rows = history(random.Random(seed))

    assert sequences(spark, rows) == sequence_oracle(rows) == by_duckdb(SEQUENCES_SQL, rows, 3)
    assert outcomes(spark, rows) == transaction_oracle(rows) == by_duckdb(TRANSACTIONS_SQL, rows, 2)


def test_random_histories_hold_gaps_repeats_wraps_torn_open_and_empty_transactions():
    rows = [history(random.Random(seed)) for seed in range(4)]
    found = [numbers for each in rows for numbers in sequence_oracle(each).values()]
    ended = [numbers for each in rows for numbers in transaction_oracle(each).values()]

    assert all(any(numbers[place] for numbers in found) for place in (1, 2, 3))
    assert any(first > highest for *_, first, highest in found)
    assert all(any(numbers[place] for numbers in ended) for place in range(8))
