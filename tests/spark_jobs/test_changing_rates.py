"""Ids sampled at rates that change from range to range: what is compared is what all ranges have in common."""

import random
from dataclasses import dataclass

import pyarrow.dataset as ds
import pytest

from spark_jobs.duplicates import duplicate_rows
from spark_jobs.ledger import COMPLETE, extended, lowest_rates, unread_row
from spark_jobs.ranges import OffsetRange, Part, PartNow
from store.message_ids import is_kept
from store.rows import arrow_table
from tests.spark_jobs.sampled import frame, sample

pytestmark = pytest.mark.spark

PART = Part("c", "orders", "orders-id", 0)


@dataclass(frozen=True)
class Range:
    """A range as it was read: at which rate, and the ids of all its records."""

    first: int
    rate: float
    hashes: list[int]

    @property
    def following(self):
        return self.first + len(self.hashes)

    @property
    def sampled(self):
        rows = enumerate(self.hashes, self.first)
        return [sample(hashed, offset, at_s=self.first) for offset, hashed in rows if is_kept(hashed, self.rate)]

    @property
    def ledger_row(self):
        """Read at the time that is its first offset."""
        now = PartNow(PART, 1, 0, self.following, self.following, 0, self.first)
        return unread_row(OffsetRange(PART, 1, self.first, self.following), now, COMPLETE, self.rate)


def some_hashes(chance, number):
    return [chance.randrange(-(2**63), 2**63) for _ in range(number)]


def ranges(rates, hashes):
    """One range for each rate; `hashes` are those of each."""
    found, first = [], 0
    for rate, own in zip(rates, hashes, strict=True):
        found.append(Range(first, rate, own))
        first += len(own)
    return found


def counted(spark, known, horizon=0):
    """What a live round says of the extra copies in the newest range; older ones from `horizon` on are compared."""
    *earlier, newest = known
    coverage = extended({}, [each.ledger_row for each in known])
    before = [row for each in earlier[horizon:] for row in each.sampled]
    by_spark, here = (
        duplicate_rows(
            spark,
            samples,
            arrow_table("id_samples", newest.sampled),
            ranges=[OffsetRange(PART, 1, newest.first, newest.following)],
            rates=lowest_rates(coverage, {"orders-id": known[horizon].first}),
            meant={"orders-id": 1},
        )
        for samples in (frame(spark, before), ds.dataset(arrow_table("id_samples", before)))
    )
    assert by_spark == here
    return here


def truth(known):
    """Extra copies in the newest range."""
    *earlier, newest = known
    seen = {hashed for each in earlier for hashed in each.hashes}
    return len(newest.hashes) - len(set(newest.hashes) - seen)


@pytest.mark.parametrize("rates", [(1 / 8, 1.0), (1.0, 1 / 8), (1 / 4, 1.0, 1 / 2), (1.0, 1 / 8, 1 / 2)])
def test_an_estimate_is_not_biased_where_the_rate_changes(spark, rates):
    chance = random.Random(sum(rates))
    again = some_hashes(chance, 4_000)
    known = ranges(rates, [again, *(some_hashes(chance, 500) for _ in rates[2:]), again])

    (row,) = counted(spark, known)

    spread = (4_000 * (1 / min(rates) - 1)) ** 0.5
    assert row["estimate"] == pytest.approx(4_000, abs=4 * spread)
    assert row["sampling_rate"] == min(rates)


@pytest.mark.parametrize("seed", range(6))
def test_a_random_history_at_changing_rates_is_told_within_its_interval_and_at_rate_1_exactly(spark, seed):
    chance = random.Random(seed)
    rates = [chance.choice([1.0, 0.5, 0.25, 1 / 8]) for _ in range(chance.randrange(2, 5))] if seed else [1.0] * 3
    pool = some_hashes(chance, 800)
    known = ranges(rates, [chance.choices(pool, k=600) for _ in rates])

    (row,) = counted(spark, known)

    assert row["lower"] <= truth(known) <= row["upper"]
    if min(rates) == 1:
        assert row["lower"] == row["upper"] == truth(known)


def test_a_low_rate_that_left_the_horizon_lowers_nothing(spark):
    again = some_hashes(random.Random(9), 50)
    known = ranges((1 / 64, 1.0, 1.0), [again, again, again])

    (row,) = counted(spark, known, horizon=1)

    assert (row["sampling_rate"], row["estimate"]) == (1.0, 50)
