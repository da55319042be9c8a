"""What a judgement covers, by offsets and rate: the same whoever compares, this process or Spark."""

import random

import pyarrow.dataset as ds
import pytest

from spark_jobs.loss_comparison import judged_rows
from spark_jobs.loss_steps import Judged, Step
from spark_jobs.ranges import Part
from store.message_ids import is_kept
from store.rows import arrow_table
from tests.spark_jobs.sampled import frame, sample

pytestmark = pytest.mark.spark

ENDS = {0: (5, 12, 20), 1: (0, 0, 9), 3: (2, 30, 30)}  # judged to, due to, seen to; nothing of partition 2
STEPS = {
    number: Step(Part("c", "orders", "orders-id", number), Judged(0, begin), due_to=due, seen_to=seen)
    for number, (begin, due, seen) in ENDS.items()
}


def random_history(chance):
    def hashed():
        return chance.choice([1, -1]) * chance.randrange(8) * 2**60

    source = [sample(hashed(), o, partition=p) for p in range(4) for o in range(30) if chance.random() < 0.4]
    sink = [sample(hashed(), o, topic="bills", partition=chance.randrange(9)) for o in range(chance.randrange(12))]
    return source, sink


def oracle(source, sink, rate, fan_out):
    shown = [row["id_hash"] for row in sink if is_kept(row["id_hash"], rate)]
    found = {}
    for row in sorted(source, key=lambda row: row["offset"]):
        begin, _, seen = ENDS.get(row["partition"], (0, 0, 0))
        if begin <= row["offset"] < seen and is_kept(row["id_hash"], rate):
            found.setdefault(row["partition"], {}).setdefault(row["id_hash"], row["offset"])
    due = {p: {h: o for h, o in firsts.items() if o < ENDS[p][1]} for p, firsts in found.items()}
    return {
        p: (
            len(due[p]),
            sum(h not in due[p] and shown.count(h) < fan_out for h in firsts),
            sorted((o, h, fan_out - shown.count(h)) for h, o in due[p].items() if shown.count(h) < fan_out),
        )
        for p, firsts in found.items()
    }


def told(rows):
    return {
        row["partition"]: (
            row["ids_judged"], row["ids_unseen"],
            [(lost["offset"], lost["id_hash"], lost["missing"]) for lost in row["lost"]],
        )
        for row in rows
    }  # fmt: skip


@pytest.mark.parametrize(("seed", "rate", "fan_out"), [(0, 1.0, 1), (1, 0.5, 1), (2, 0.75, 2), (3, 1.0, 3)])
def test_a_judgement_covers_what_is_due_and_seen_of_the_ids_that_are_kept(spark, seed, rate, fan_out):
    source, sink = random_history(random.Random(seed))
    by_spark = judged_rows(frame(spark, source), frame(spark, sink), STEPS, rate, fan_out)
    here = judged_rows(*(ds.dataset(arrow_table("id_samples", side)) for side in (source, sink)), STEPS, rate, fan_out)

    assert told(here) == told(by_spark) == oracle(source, sink, rate, fan_out)
    assert any(lost for _, _, lost in told(here).values()), "a history without a loss proves nothing"


def test_without_a_sample_nothing_is_judged(spark):
    nothing = ds.dataset(arrow_table("id_samples", []))

    assert judged_rows(nothing, nothing, STEPS, 1.0, 1) == []
