import random
from dataclasses import replace

import pytest

from spark_jobs.ledger import COMPLETE, PURGED, Coverage, Sampled, extended, load_coverage, lowest_rates, unread_row
from spark_jobs.ranges import OffsetRange, Part, PartNow
from store.metrics import METRICS_FILE, MetricsWriter

PART = Part("c", "orders", "topic-1", 0)


def row(first, following, *, at_ms=1_000, rate=0.5, state=COMPLETE):
    now = PartNow(PART, 1, 0, 100, 100, 0, at_ms)
    return unread_row(OffsetRange(PART, 1, first, following), now, state, rate)


def test_coverage_after_a_commit_is_what_a_restart_loads(tmp_path):
    rows = [row(0, 10), row(10, 30, at_ms=5_000, rate=0.25), row(30, 40, at_ms=6_000, rate=0.1, state=PURGED)]

    with MetricsWriter(tmp_path / METRICS_FILE) as metrics, metrics.transaction() as transaction:
        transaction.replace("ledger", rows)
        loaded = load_coverage(transaction, recent_ms=0)

    assert loaded == extended({}, rows) == {PART: Coverage(40, 1_000, (Sampled(5_000, 30, 0.25),))}


def test_rate_of_long_ago_does_not_count(tmp_path):
    rows = [row(0, 10, rate=0.01), row(10, 30, at_ms=5_000, rate=0.25)]

    with MetricsWriter(tmp_path / METRICS_FILE) as metrics, metrics.transaction() as transaction:
        transaction.replace("ledger", rows)

        assert load_coverage(transaction, recent_ms=5_000)[PART].lowest_rate_since(0) == 0.25


RATES = [1.0, 0.5, 0.25, 1 / 8, 1 / 64]


@pytest.mark.parametrize("seed", range(30))
def test_the_lowest_rate_since_a_time_or_from_an_offset_is_that_of_the_ranges_themselves(tmp_path, seed):
    chance = random.Random(seed)
    rows = [row(10 * n, 10 * n + 10, at_ms=100 * n, rate=chance.choice(RATES)) for n in range(12)]

    with MetricsWriter(tmp_path / METRICS_FILE) as metrics, metrics.transaction() as transaction:
        transaction.replace("ledger", rows)
        loaded = load_coverage(transaction, recent_ms=0)

    assert loaded == extended(extended({}, rows[:5]), rows[5:])
    for n in range(12):
        lowest = min(each["sampling_rate"] for each in rows[n:])
        assert (loaded[PART].lowest_rate_since(100 * n), loaded[PART].lowest_rate_from(10 * n)) == (lowest, lowest)
    assert (loaded[PART].lowest_rate_since(1_200), loaded[PART].lowest_rate_from(120)) == (1.0, 1.0)
    assert loaded[PART].sampled[-1].rate == rows[-1]["sampling_rate"]


def test_a_clock_set_back_hides_no_lower_rate():
    rows = [row(0, 10, at_ms=9_000, rate=0.25), row(10, 20, at_ms=1_000, rate=0.25), row(20, 30, at_ms=2_000)]

    assert extended({}, rows)[PART].lowest_rate_since(5_000) == 0.25


def test_a_topics_rate_is_the_lowest_of_its_partitions_and_of_no_other_topic():
    parts = {name: Part("c", name, f"{name}-id", 0) for name in ("orders", "bills")}
    coverage = {
        parts["orders"]: Coverage(9, 0, (Sampled(5, 9, 0.5),)),
        replace(parts["orders"], partition=1): Coverage(9, 0, (Sampled(5, 9, 0.25),)),
        parts["bills"]: Coverage(9, 0, (Sampled(5, 9, 0.125),)),
    }

    since_ms = {"orders-id": 0, "bills-id": 6, "other-id": 0}
    assert lowest_rates(coverage, since_ms) == {"orders-id": 0.25, "bills-id": 1.0, "other-id": 1.0}


def test_anchor_of_a_new_history_gives_way_to_its_first_range(tmp_path):
    with MetricsWriter(tmp_path / METRICS_FILE) as metrics, metrics.transaction() as transaction:
        transaction.replace("ledger", [row(7, 7)])
        transaction.replace("ledger", [row(7, 20)])

        assert transaction.query("SELECT count(*) AS n FROM ledger").to_pylist() == [{"n": 1}]
        assert load_coverage(transaction, recent_ms=0)[PART].next_offset == 20
