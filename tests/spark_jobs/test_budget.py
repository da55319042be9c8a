"""The rate a topic is sampled at so that its kept records stay within a budget a second."""

import random
from dataclasses import replace

import pytest

from guarantees.unknown import Unknown
from spark_jobs.budget import (
    Mark,
    Sampling,
    chosen_rate,
    first_guesses,
    marked,
    newest_rates,
    speeds,
    topic_rate,
)
from spark_jobs.ledger import Coverage, Sampled
from spark_jobs.ranges import Part, PartNow

PART = Part("c", "orders", "orders-id", 0)
OTHER_PART = replace(PART, partition=1)
OTHER_TOPIC = Part("c", "bills", "bills-id", 0)


def now(part=PART, high=1_000, at_ms=0, start=0):
    return PartNow(part, 1, 0, high, high, start, at_ms)


@pytest.mark.parametrize(("speed", "declared", "expected"), [
    (50, 1.0, 1.0), (100, 1.0, 1.0), (101, 1.0, 0.5), (200, 1.0, 0.5), (201, 1.0, 0.25), (100_000, 1.0, 2**-10),
    (100, 0.3, 0.3), (333, 0.3, 0.3), (334, 0.3, 0.25), (401, 0.3, 0.125), (0, 0.3, 0.3),
])  # fmt: skip
def test_it_is_the_declared_rate_or_the_highest_power_of_two_within_the_budget(speed, declared, expected):
    assert chosen_rate(Sampling(declared, 100), speed, None) == expected


def test_without_a_budget_it_is_the_declared_rate():
    assert chosen_rate(Sampling(0.3), 1e9, 1 / 64) == 0.3


def test_a_rate_is_kept_while_the_speed_is_not_known():
    assert chosen_rate(Sampling(1.0, 100), None, 0.25) == 0.25
    assert chosen_rate(Sampling(0.5, 100), None, 1.0) == 0.5, "what is declared may have been lowered since"
    assert chosen_rate(Sampling(0.5, 100), None, None) == 0.5


def test_a_speed_about_a_limit_does_not_make_the_rate_flap():
    rate, rates = None, []
    for speed in [99, 101, 98, 102, 97, 103, 80, 101, 71, 101]:
        rate = chosen_rate(Sampling(1.0, 100), speed, rate)
        rates.append(rate)

    assert rates == [1.0, *[0.5] * 9]
    assert chosen_rate(Sampling(1.0, 100), 70, 0.5) == 1.0


def test_a_rate_that_was_declared_once_gives_way_to_one_that_is_allowed_now():
    assert chosen_rate(Sampling(1.0, 100), 250, 0.3) == 0.25
    assert chosen_rate(Sampling(1.0, 100), 150, 0.3) == 0.5


@pytest.mark.parametrize("seed", range(20))
def test_whatever_the_load_the_budget_is_kept_and_the_rate_is_one_of_few(seed):
    chance, rate = random.Random(seed), None
    sampling = Sampling(chance.choice([1.0, 0.7, 0.25, 1 / 64]), chance.choice([0.5, 100, 5_000]))
    for _ in range(200):
        speed = 10 ** chance.uniform(-2, 7)
        rate = chosen_rate(sampling, speed, rate)
        assert rate * speed <= sampling.records_per_s
        assert rate == sampling.rate or (rate < sampling.rate and rate in {2.0**-k for k in range(40)})
        twice = min(2 * rate, sampling.rate)
        assert rate == sampling.rate or twice * speed > 0.7 * sampling.records_per_s, "no lower than it has to be"


def test_pipelines_that_share_a_topic_get_the_finest_sample_one_of_them_may_have():
    samplings = [Sampling(1 / 64), Sampling(1.0, 100)]

    assert topic_rate(samplings, 100, None) == 1.0
    assert topic_rate(samplings, 800, None) == 1 / 8
    assert topic_rate(samplings, 1e9, None) == 1 / 64


def test_a_topic_grows_by_the_high_watermarks_of_its_partitions():
    looks = [[now(at_ms=t, high=t // 10), now(OTHER_PART, at_ms=t, high=500), now(OTHER_TOPIC, at_ms=t, high=9 * t)]
             for t in (1_000, 6_000, 11_000)]  # fmt: skip
    marks = {}
    for look in looks:
        marks = marked(marks, look)

    assert speeds(marks).get("orders-id") == 100
    assert speeds(marks)["bills-id"] == 9_000


def test_a_topic_looked_at_once_has_no_speed():
    assert speeds(marked({}, [now()])).get("orders-id") is None


def test_the_speed_is_that_of_the_last_minute_and_of_two_looks_at_least():
    marks = {}
    for at_ms, high in ((0, 0), (10_000, 90_000), (70_000, 90_060), (80_000, 90_070)):
        marks = marked(marks, [now(at_ms=at_ms, high=high)])
    assert marks[PART][0] == Mark(10_000, 90_000)
    assert speeds(marks).get("orders-id") == 1

    marks = marked(marks, [now(at_ms=900_000, high=90_070 + 8_200)])
    assert speeds(marks).get("orders-id") == 10


def test_an_unknown_end_and_a_log_that_was_cut_tell_no_speed_below_0():
    marks = marked({}, [now(at_ms=0, high=1_000)])
    marks = marked(marks, [replace(now(at_ms=5_000), high_watermark=Unknown("no answer"))])
    assert speeds(marks).get("orders-id") is None

    assert speeds(marked(marks, [now(at_ms=10_000, high=400)])).get("orders-id") == 0


def test_a_topic_seen_first_is_guessed_by_what_it_got_in_a_horizon():
    parts = [now(high=7_200), now(OTHER_PART, high=9_000, start=5_400), now(OTHER_TOPIC, high=10**9)]

    assert first_guesses(parts, {"orders": 3_600, "bills": 1_000}) == {"orders-id": 3, "bills-id": 10**6}
    assert first_guesses([now(start=Unknown("no answer"))], {"orders": 3_600}) == {}


def test_the_newest_range_of_a_topic_says_what_it_is_sampled_at():
    coverage = {
        PART: Coverage(9, 0, (Sampled(5, 9, 0.25), Sampled(7, 9, 0.5))),
        OTHER_PART: Coverage(9, 0, (Sampled(6, 9, 0.125),)),
        OTHER_TOPIC: Coverage(9, 0),
    }

    assert newest_rates(coverage) == {"orders-id": 0.5}
