import random
from collections import Counter

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from spark_jobs import duplicates
from spark_jobs.duplicates import duplicate_rows, meant_copies, with_too_many_copies
from spark_jobs.ranges import OffsetRange, Part
from spark_jobs.transforms.duplicates import GROUP_KEYS, duplicate_groups, extra_copies
from spark_jobs.transforms.duplicates_here import duplicate_groups_here
from store.rows import arrow_table
from tests.spark_jobs.sampled import frame, sample

pytestmark = pytest.mark.spark


def causes(spark, earlier, new):
    extra = extra_copies(frame(spark, earlier), frame(spark, new))
    return Counter((row.later_copy.partition, row.later_copy.offset, row.cause) for row in extra.collect())


CAUSES = {
    "not_idempotent": ({"pid": None}, {"pid": None}),
    "other_producer_id": ({"pid": 1}, {"pid": 2}),
    "other_epoch": ({"epoch": 0}, {"epoch": 1}),
    "other_transaction": ({"epoch": 0, "transactional": True}, {"epoch": 1, "transactional": True}),
    "sent_twice": ({"seq": 4}, {"seq": 5}),
    "same_sequence": ({"seq": 4}, {"seq": 4}),
}


def test_each_pair_of_producers_has_its_cause(spark):
    pairs = list(enumerate(CAUSES.values()))
    earlier = [sample(number, number, **first) for number, (first, _) in pairs]
    new = [sample(number, 100 + number, **later) for number, (_, later) in pairs]

    assert causes(spark, earlier, new) == Counter((0, 100 + number, cause) for number, cause in enumerate(CAUSES))
    assert sorted(group["cause"] for group in groups_here(earlier, new)) == sorted(CAUSES)


def test_only_one_side_idempotent_is_not_idempotent(spark):
    new = [sample(1, 5, pid=None), sample(1, 6, pid=3)]

    assert causes(spark, [], new) == {(0, 6, "not_idempotent"): 1}


def test_equal_sequences_on_two_partitions_are_two_sends(spark):
    new = [sample(1, 5, seq=4), sample(1, 7, seq=4, partition=2)]

    assert causes(spark, [], new) == {(2, 7, "sent_twice"): 1}


def test_copy_on_another_partition_counts_where_it_was_read_later(spark):
    assert causes(spark, [sample(1, 50, partition=3)], [sample(1, 2, partition=0)]) == {(0, 2, "sent_twice"): 1}


def test_copy_read_earlier_is_first_and_never_counted_again(spark):
    earlier = [sample(1, 5), sample(1, 6, pid=2)]

    assert causes(spark, earlier, [sample(1, 9, pid=3), sample(2, 10)]) == {(0, 9, "other_producer_id"): 1}


def test_every_later_copy_is_compared_with_the_first(spark):
    new = [sample(1, 1, pid=1), sample(1, 2, pid=2), sample(1, 3, pid=2)]

    assert causes(spark, [], new) == {(0, 2, "other_producer_id"): 1, (0, 3, "other_producer_id"): 1}


def test_only_copies_beyond_the_fan_out_are_extra_wherever_the_first_ones_were_read(spark):
    meant = meant_copies({"orders-id": 3})
    earlier = frame(spark, [sample(1, 1), sample(2, 2)])
    new = frame(spark, [sample(1, 11), sample(1, 12), sample(1, 13), sample(2, 14), sample(1, 15, topic="bills")])

    extra = extra_copies(earlier, new, meant).collect()

    assert [(row.later_copy.offset, row.first_copy.offset) for row in extra] == [(13, 1)]


def test_same_id_in_two_topics_is_no_duplicate(spark):
    assert causes(spark, [sample(1, 1, topic="orders")], [sample(1, 1, topic="bills")]) == {}


def test_groups_say_how_many_how_spread_and_where(spark):
    new = [sample(1, 1), sample(2, 2)] + [sample(i, o, pid=9, epoch=4) for i, o in ((1, 10), (1, 11), (1, 12), (2, 20))]

    (group,) = duplicate_groups(extra_copies(frame(spark, []), frame(spark, new))).collect()

    assert (group.cause, group.first_producer_id, group.producer_id, group.producer_epoch) == (
        "other_producer_id", 1, 9, 4,
    )  # fmt: skip
    assert (group.sampled_extra_copies, group.squares, group.largest) == (4, 10, 3)
    assert (group.first_copy_offset, group.last_copy_offset) == (10, 20)
    assert [(e.message_id, e.first_copy.offset, e.later_copy.offset) for e in group.examples] == [
        ("m1", 1, 10), ("m2", 2, 20),
    ]  # fmt: skip


def test_five_examples_are_enough(spark):
    new = [sample(i, i) for i in range(9)] + [sample(i, 100 + i) for i in range(9)]

    (group,) = duplicate_groups(extra_copies(frame(spark, []), frame(spark, new))).collect()

    assert [e.message_id for e in group.examples] == ["m0", "m1", "m2", "m3", "m4"]


def random_history(chance):
    """Few ids, offsets and producers, so that every boundary is met; offsets grow from round to round."""
    earlier, new = [], []
    for rows, base in ((earlier, 0), (new, 1000)):
        for partition in range(2):
            for step in range(chance.randrange(8)):
                row = sample(
                    chance.randrange(4),
                    base + 2 * step + chance.randrange(2),
                    partition=partition,
                    pid=chance.choice([None, 1, 2]),
                    epoch=chance.randrange(2),
                    seq=chance.randrange(2),
                    transactional=chance.random() < 0.5,
                    topic=chance.choice(["orders", "bills"]),
                )
                rows.append(row)
    return earlier, new


def cause_of(first, later):
    if first["producer_id"] is None or later["producer_id"] is None:
        return "not_idempotent"
    if first["producer_id"] != later["producer_id"]:
        return "other_producer_id"
    if first["producer_epoch"] != later["producer_epoch"]:
        return "other_transaction" if later["is_transactional"] else "other_epoch"
    same_place = first["partition"] == later["partition"]
    return "same_sequence" if same_place and first["sequence"] == later["sequence"] else "sent_twice"


def oracle(earlier, new, meant=1):
    """Plain Python: copies of an id in reading order; beyond those that are meant to be there new ones are extra."""
    found = Counter()
    seen = Counter()
    copies = [(False, row) for row in earlier] + [(True, row) for row in new]
    copies.sort(key=lambda copy: (copy[0], copy[1]["offset"], copy[1]["partition"]))
    firsts = {}
    for is_new, row in copies:
        first = firsts.setdefault((row["topic"], row["id_hash"]), row)
        seen[row["topic"], row["id_hash"]] += 1
        if is_new and seen[row["topic"], row["id_hash"]] > meant:
            key = (
                row["cluster_id"],
                row["topic"],
                row["topic_id"],
                row["partition"],
                cause_of(first, row),
                -1 if first["producer_id"] is None else first["producer_id"],
                -1 if row["producer_id"] is None else row["producer_id"],
                -1 if row["producer_epoch"] is None else row["producer_epoch"],
            )
            found[key] += 1
    return found


SQL = """
WITH copies AS (SELECT *, false AS is_new FROM earlier UNION ALL BY NAME SELECT *, true AS is_new FROM new),
ranked AS (
    SELECT *, row_number() OVER id AS place, first_value(producer_id) OVER id AS first_pid,
        first_value(producer_epoch) OVER id AS first_epoch, first_value("sequence") OVER id AS first_sequence,
        first_value("partition") OVER id AS first_partition
    FROM copies
    WINDOW id AS (PARTITION BY cluster_id, topic_id, id_hash ORDER BY is_new, "offset", "partition")
)
SELECT cluster_id, topic, topic_id, "partition",
    CASE
        WHEN first_pid IS NULL OR producer_id IS NULL THEN 'not_idempotent'
        WHEN first_pid <> producer_id THEN 'other_producer_id'
        WHEN first_epoch <> producer_epoch AND is_transactional THEN 'other_transaction'
        WHEN first_epoch <> producer_epoch THEN 'other_epoch'
        WHEN first_sequence <> "sequence" OR first_partition <> "partition" THEN 'sent_twice'
        ELSE 'same_sequence'
    END AS cause,
    coalesce(first_pid, -1), coalesce(producer_id, -1), coalesce(producer_epoch, -1), count(*)
FROM ranked WHERE place > $meant AND is_new GROUP BY ALL
"""


def duckdb_groups(earlier, new, meant):
    schema = pa.schema(
        [(name, pa.bool_() if name.startswith("is_") else pa.int64()) for name in sample(1, 1) if name not in TEXT]
        + [(name, pa.string()) for name in TEXT]
    )

    def arrow(rows):
        plain = [{**row, "timestamp": None, "observed_at": None} for row in rows]
        return pa.Table.from_pylist(plain, schema=schema)

    with duckdb.connect(":memory:") as connection:
        connection.register("earlier", arrow(earlier))
        connection.register("new", arrow(new))
        return Counter({tuple(row[:-1]): row[-1] for row in connection.execute(SQL, {"meant": meant}).fetchall()})


TEXT = ("cluster_id", "topic", "topic_id", "message_id")


def groups_here(earlier, new, meant=1):
    return duplicate_groups_here(earlier, new, {"orders-id": meant, "bills-id": meant})


def in_order(groups):
    """Of an example what a row of the metrics shows."""
    found = [
        {**group, "examples": [(each["message_id"], each["first_copy"]["offset"], each["later_copy"]["offset"])
                               for each in group["examples"]]}
        for group in groups
    ]  # fmt: skip
    return sorted(found, key=lambda group: [str(group[key]) for key in GROUP_KEYS])


@pytest.mark.parametrize(("seed", "meant"), [*((seed, 1) for seed in range(8)), (8, 2), (9, 2), (10, 3), (11, 3)])
def test_spark_duckdb_and_plain_python_find_the_same_duplicates_as_what_is_looked_at_here(spark, seed, meant):
    earlier, new = random_history(random.Random(seed))

    extra = extra_copies(
        frame(spark, earlier), frame(spark, new), meant_copies({"orders-id": meant, "bills-id": meant})
    )
    groups = duplicate_groups(extra).collect()
    found = Counter({tuple(row[key] for key in GROUP_KEYS): row.sampled_extra_copies for row in groups})

    assert found == oracle(earlier, new, meant)
    assert found == duckdb_groups(earlier, new, meant)
    assert in_order(groups_here(earlier, new, meant)) == in_order(group.asDict(recursive=True) for group in groups)


def test_random_histories_show_every_cause():
    found = sum((oracle(*random_history(random.Random(seed))) for seed in range(12)), Counter())

    assert {key[4] for key in found} == set(CAUSES)


WHERE = pytest.mark.parametrize("where", ["here", "spark"])


def known_there(spark, rows, where):
    return frame(spark, rows) if where == "spark" else ds.dataset(arrow_table("id_samples", rows))


@WHERE
@pytest.mark.parametrize(("earlier", "new", "expected"), [
    ([], [sample(1, 1), sample(2, 2)], []),
    ([sample(3, 1)], [sample(1, 11), sample(2, 12)], []),
    ([], [sample(1, 10), sample(1, 12)], [12]),
    ([sample(1, 1)], [sample(1, 10), sample(2, 12)], [10]),
    ([sample(1, 1, topic="bills")], [sample(1, 10)], []),
], ids=["nothing earlier", "other ids", "twice in the round", "read earlier", "another topic"])  # fmt: skip
def test_job_finds_duplicates_wherever_the_first_copy_was_read_and_whoever_looks(
    spark, monkeypatch, where, earlier, new, expected
):
    monkeypatch.setattr(duplicates, "FEW_COPIES", 0 if where == "spark" else 100)

    rows = found_by_the_job(spark, known_there(spark, earlier, where), new)

    assert [row["first_copy_offset"] for row in rows] == expected
    assert all((row["first_offset"], row["lower"], row["upper"]) == (10, 1, 1) for row in rows)


@pytest.mark.parametrize("seed", range(6))
def test_the_job_says_the_same_here_and_with_spark(spark, monkeypatch, seed):
    earlier, new = ([row for row in rows if row["topic"] == "orders"] for rows in random_history(random.Random(seed)))

    monkeypatch.setattr(duplicates, "FEW_COPIES", 0)
    by_spark = found_by_the_job(spark, known_there(spark, earlier, "spark"), new)
    monkeypatch.setattr(duplicates, "FEW_COPIES", 100)
    here = found_by_the_job(None, known_there(spark, earlier, "here"), new)

    assert sorted(here, key=str) == sorted(by_spark, key=str)


@pytest.mark.parametrize(("meant", "looked_at"), [(1, [1, 2]), (2, [2]), (3, [])])
def test_only_ids_with_more_copies_than_are_meant_are_looked_at(meant, looked_at):
    """One copy of the first id is known, two of the second; each has one more, a third one has just that."""
    known = arrow_table("id_samples", [sample(1, 1), sample(2, 2), sample(2, 3)])
    new = arrow_table("id_samples", [sample(1, 11), sample(2, 12), sample(3, 13)])

    found = with_too_many_copies(known, new, {"orders-id": meant})

    assert [sorted(set(side["id_hash"].to_pylist())) for side in found] == [looked_at, looked_at]


def found_by_the_job(spark, earlier, new):
    parts = [OffsetRange(Part("c", "orders", "orders-id", number), 1, 10, 20) for number in range(2)]
    rows = arrow_table("id_samples", new)
    return duplicate_rows(spark, earlier, rows, ranges=parts, rates={"orders-id": 1.0}, meant={"orders-id": 1})
