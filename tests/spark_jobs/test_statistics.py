from functools import cache

import numpy as np
import pytest

from spark_jobs.statistics import (
    ExtraCopies,
    Interval,
    copies_at_rates,
    extra_copies,
    id_count_interval,
    ids,
    ids_at_rates,
)

DRAWS = 600
LEAST_COVERAGE = 0.923  # 95 % less three standard errors of 600 draws


@pytest.mark.parametrize(
    ("seen", "probability", "expected"),
    [(743, 1 / 64, (44220, 51069)), (0, 1 / 64, (0, 234)), (7, 1.0, (7, 7)), (0, 1.0, (0, 0))],
)
def test_interval_of_ids_is_the_exact_binomial_one(seen, probability, expected):
    assert id_count_interval(seen, probability) == expected


def test_estimate_lies_within_its_interval():
    assert ids(743, 1 / 64) == Interval(44220, 47552, 51069)


@pytest.mark.parametrize("total", [0, 1, 5])
def test_complete_sample_gives_the_count_itself(total):
    assert extra_copies(ExtraCopies(total, total, 1), 1.0) == Interval(total, total, total)


def test_nothing_seen_is_not_nothing():
    assert extra_copies(ExtraCopies(0, 0, 0), 1 / 64).upper > 200


def test_many_copies_of_one_id_are_less_certain_than_one_copy_of_many_ids():
    many_ids = extra_copies(ExtraCopies(total=60, squares=60, largest=1), 1 / 64)
    one_id = extra_copies(ExtraCopies(total=60, squares=3600, largest=60), 1 / 64)

    assert one_id.lower < many_ids.lower
    assert one_id.upper > many_ids.upper


@pytest.mark.parametrize("fold", [4, 16, 64, 256])
@pytest.mark.parametrize("ids_there", [20, 200, 2_000, 20_000])
def test_intervals_cover_the_truth_as_often_as_they_say(ids_there, fold):
    chance = np.random.default_rng(ids_there * fold)
    by_copies = (ids_there - ids_there // 4, ids_there // 4)  # ids with one extra copy, and with two
    drawn = [chance.binomial(there, 1 / fold, DRAWS) for there in by_copies]
    truth = by_copies[0] + 2 * by_copies[1]

    id_interval = cache(id_count_interval)
    copies_covered = ids_covered = 0
    for (ones, twos), draws in _distinct(drawn):
        largest = 2 if twos else min(1, ones)
        copies = extra_copies(ExtraCopies(ones + 2 * twos, ones + 4 * twos, largest), 1 / fold)
        low, high = id_interval(ones + twos, 1 / fold)
        copies_covered += draws * (copies.lower <= truth <= copies.upper)
        ids_covered += draws * (low <= ids_there <= high)

    assert ids_covered / DRAWS >= LEAST_COVERAGE
    assert copies_covered / DRAWS >= LEAST_COVERAGE


@pytest.mark.parametrize("seen", [0, 1, 7, 743])
def test_what_was_seen_at_one_rate_has_the_interval_of_that_rate(seen):
    assert ids_at_rates({1 / 64: seen}) == ids(seen, 1 / 64)
    assert copies_at_rates({1 / 64: seen}) == extra_copies(ExtraCopies(seen, seen, 1), 1 / 64)


def test_what_was_counted_exactly_is_added_to_what_is_estimated():
    beside = ids(7, 1 / 64)

    assert ids_at_rates({1.0: 9, 1 / 64: 7}) == Interval(9 + beside.lower, 9 + beside.estimate, 9 + beside.upper)
    assert ids_at_rates({1.0: 9}) == copies_at_rates({1.0: 9}) == Interval(9, 9, 9)


def test_a_rate_at_which_nothing_was_seen_leaves_an_upper_bound():
    assert ids_at_rates({0.5: 6, 1 / 64: 0}).upper > ids_at_rates({0.5: 6}).upper + 64


@pytest.mark.parametrize("interval", [ids_at_rates, copies_at_rates])
@pytest.mark.parametrize("there", [{1 / 4: 400, 1 / 64: 200}, {1 / 2: 30, 1 / 16: 30}, {1 / 8: 2_000, 1 / 64: 5_000}])
def test_intervals_over_several_rates_cover_the_truth_as_often_as_they_say(interval, there):
    chance = np.random.default_rng(sum(there.values()))
    drawn = [chance.binomial(count, rate, DRAWS) for rate, count in there.items()]

    covered, estimates = 0, []
    for pair, draws in _distinct(drawn):
        found = interval(dict(zip(there, pair, strict=True)))
        covered += draws * (found.lower <= sum(there.values()) <= found.upper)
        estimates += [found.estimate] * draws

    assert covered / DRAWS >= LEAST_COVERAGE
    spread = sum(count * (1 - rate) / rate for rate, count in there.items()) ** 0.5
    assert np.mean(estimates) == pytest.approx(sum(there.values()), abs=4 * spread / DRAWS**0.5)


def _distinct(drawn):
    pairs, draws = np.unique(np.stack(drawn), axis=1, return_counts=True)
    return zip(pairs.T.tolist(), draws.tolist(), strict=True)
