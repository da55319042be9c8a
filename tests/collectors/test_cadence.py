"""Metadata and log starts of a large cluster are asked less often, and keep the time at which they were observed."""

from collections import Counter

import pytest

from collectors.cadence import LOG_START_ROUNDS, METADATA_ROUNDS
from collectors.watched import Remembered
from guarantees.cadence import FEW_PARTITIONS
from guarantees.observations import Signal
from guarantees.places import TopicPartition
from tests.collectors.fake_cluster import FakeCluster, FakeGroup
from tests.collectors.test_round import one_round

FIRST = TopicPartition("orders", 0)


def large(**changed: object) -> FakeCluster:
    """One partition more than few."""
    numbers = range(FEW_PARTITIONS + 1)
    log, leaders = dict.fromkeys(numbers, (0, 10, 10)), {number: 1 + number % 2 for number in numbers}
    return FakeCluster(**{"log": log, "leaders": leaders, **changed})


def rounds(cluster: FakeCluster, number: int):
    remembered, seen = Remembered(), []
    for tick in range(number):
        seen.append(one_round(cluster, remembered, tick))
        remembered = seen[-1].remembered
    return seen


def test_offsets_are_asked_in_every_round_metadata_and_log_starts_less_often():
    cluster = large()

    rounds(cluster, METADATA_ROUNDS * LOG_START_ROUNDS)

    asked = Counter(cluster.asked)
    assert asked["high watermark"] == 2 * METADATA_ROUNDS * LOG_START_ROUNDS  # of two brokers
    assert asked["log start"] == 2 * METADATA_ROUNDS
    assert asked["metadata"] == LOG_START_ROUNDS


def test_a_small_cluster_is_asked_everything_in_every_round():
    cluster = FakeCluster()

    rounds(cluster, 6)

    asked = Counter(cluster.asked)
    assert (asked["metadata"], asked["log start"], asked["high watermark"]) == (6, 12, 12)


def test_what_was_not_asked_keeps_its_time_and_has_no_coverage():
    first, second = (collected.round for collected in rounds(large(), 2))

    assert second.partitions[FIRST].log_start_observed_at_ms == first.partitions[FIRST].log_start_observed_at_ms
    assert second.states[FIRST].observed_at_ms == first.states[FIRST].observed_at_ms
    assert second.partitions[FIRST].observed_at_ms >= first.partitions[FIRST].observed_at_ms
    assert {Signal.LOG_START, Signal.PARTITION_STATES}.isdisjoint(each.signal for each in second.coverage)


def test_a_log_start_of_a_round_before_was_still_read_before_the_commits():
    cluster = large(groups={"g": FakeGroup({0: 5})})

    _, second = (collected.round for collected in rounds(cluster, 2))

    (commit,) = (commit for key, commit in second.commits.items() if key.partition == 0)
    assert second.partitions[FIRST].log_start_observed_at_ms <= commit.observed_at_ms


def test_intervals_of_partitions_are_not_stated_again_from_metadata_that_was_not_asked():
    first, second, third = rounds(large(), 3)

    stated = [len(collected.rows["partition_state"]) for collected in (first, second, third)]
    assert stated == [FEW_PARTITIONS + 1, 0, FEW_PARTITIONS + 1]


@pytest.mark.parametrize(
    "trouble",
    [
        lambda cluster: cluster.silent.add(2),
        lambda cluster: cluster.leaders.update({7: 0}),
        lambda cluster: cluster.epochs.update({7: 1}),
    ],
    ids=["a broker is silent", "a partition has no leader", "a leader has changed"],
)
def test_after_a_round_in_which_something_moved_or_failed_metadata_is_asked_at_once(trouble):
    cluster = large()
    before = rounds(cluster, METADATA_ROUNDS)[-1]
    trouble(cluster)
    asked = one_round(cluster, before.remembered, METADATA_ROUNDS)
    cluster.asked.clear()

    one_round(cluster, asked.remembered, METADATA_ROUNDS + 1)

    if cluster.epochs:  # by then metadata and the leaders say the same
        assert asked.round.states[TopicPartition("orders", 7)].leader_epoch == 1
    else:
        assert "metadata" in cluster.asked


def test_a_leader_newer_than_the_metadata_is_no_calm():
    cluster = large()
    before = rounds(cluster, 1)[-1]
    cluster.epochs[7] = 1

    moved = one_round(cluster, before.remembered, 1)

    assert before.remembered.is_calm
    assert not moved.remembered.is_calm
    cluster.asked.clear()
    assert one_round(cluster, moved.remembered, 2).remembered.is_calm
    assert "metadata" in cluster.asked


def test_log_starts_are_asked_again_as_soon_as_one_is_unknown_or_the_leaders_change():
    cluster = large()
    before = rounds(cluster, 1)[-1]
    cluster.silent.add(2)
    unknown = one_round(cluster, one_round(cluster, before.remembered, 1).remembered, 2)
    cluster.silent.clear()
    cluster.asked.clear()

    one_round(cluster, unknown.remembered, 3)

    assert "log start" in cluster.asked
