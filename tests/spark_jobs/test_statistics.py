from functools import cache

import numpy as np
import pytest

from spark_jobs.statistics import ExtraCopies, Interval, extra_copies, id_count_interval, ids

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


def _distinct(drawn):
    pairs, draws = np.unique(np.stack(drawn), axis=1, return_counts=True)
    return zip(pairs.T.tolist(), draws.tolist(), strict=True)
