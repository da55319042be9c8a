"""What a round asks about the cluster itself and its share groups, and how it is kept, against a cluster in memory."""

from dataclasses import replace

import pytest

from collectors.features import broker_gone, feature_gone
from collectors.intervals import Interval
from guarantees.observations import Signal
from guarantees.unknown import Unknown
from kafka_reader.features import Broker, Described
from tests.collectors.fake_cluster import FakeCluster
from tests.collectors.test_round import coverage, one_round

GROUP = "queue"


def following(cluster, *rounds_before: int):
    """The round after so many others."""
    seen = one_round(cluster)
    for tick in range(1, sum(rounds_before) + 1):
        seen = one_round(cluster, seen.remembered, tick)
    return seen


def test_a_share_group_is_described_and_stands_somewhere_without_a_commit():
    seen = one_round(FakeCluster(shares={GROUP: {0: (5, 15), 1: (-1, -1)}}))

    started, waiting = seen.rows["share_offsets"]
    assert (started["start_offset"], started["lag"], started["lag_unknown"]) == (5, 15, None)
    assert (waiting["start_offset"], waiting["lag"]) == (None, None)
    assert waiting["lag_unknown"].startswith("not started")
    assert seen.round.groups[GROUP].group_type == "share"
    assert len(seen.rows["committed_offsets"]) == 0
    assert coverage(seen, Signal.SHARE_OFFSETS).is_complete


def test_a_share_group_whose_coordinator_is_silent_stands_nowhere_known():
    cluster = FakeCluster(shares={GROUP: {0: (5, 15)}})
    before = one_round(cluster)
    cluster.silent = {1}

    seen = one_round(cluster, before.remembered, tick=1)

    (row,) = seen.rows["share_offsets"]
    reason = "coordinator unavailable: broker 1 did not answer in time"
    assert (row["topic"], row["start_offset"], row["lag"], row["lag_unknown"]) == (None, None, None, reason)
    assert coverage(seen, Signal.SHARE_OFFSETS).failed == 1


def test_a_share_group_without_a_partition_in_the_answer_is_no_group_without_lag():
    (row,) = one_round(FakeCluster(shares={GROUP: {}})).rows["share_offsets"]

    assert (row["group_id"], row["topic"], row["lag"]) == (GROUP, None, None)
    assert row["lag_unknown"].startswith("no partition in the answer")


def test_log_directories_are_asked_for_in_the_first_round_and_in_every_twelfth():
    cluster = FakeCluster()
    first, second = following(cluster), following(cluster, 1)

    assert {(row["broker"], row["usable_bytes"], row["unreadable"]) for row in first.rows["log_dirs"]} == {
        (1, 4000, None),
        (2, 4000, None),
    }
    assert {(row["partition"], row["replica"], row["size_bytes"]) for row in first.rows["replica_sizes"]} == {
        (partition, broker, 1000) for partition in (0, 1) for broker in (1, 2)
    }
    assert second.rows["log_dirs"] == second.rows["replica_sizes"] == []
    assert Signal.LOG_DIRS not in {each.signal for each in second.round.coverage}
    assert following(cluster, 12).rows["log_dirs"] != []


def test_a_silent_broker_has_a_log_directory_that_is_unreadable_and_no_sizes():
    seen = one_round(FakeCluster(silent={2}))

    (silent,) = (row for row in seen.rows["log_dirs"] if row["broker"] == 2)
    assert (silent["log_dir"], silent["total_bytes"]) == (None, None)
    assert silent["unreadable"] == silent["total_bytes_unknown"] == "broker 2 did not answer in time"
    assert {row["replica"] for row in seen.rows["replica_sizes"]} == {1}


def test_the_leading_controller_is_an_interval_that_ends_with_its_term():
    cluster = FakeCluster()
    before = one_round(cluster)
    cluster.controller = 101

    seen = one_round(cluster, before.remembered, tick=1)

    old, new = seen.rows["controllers"]
    assert (old["controller"], old["ended_reason"]) == (100, "changed")
    assert (new["controller"], new["ended_before"]) == (101, None)
    (sample,) = seen.rows["controller_quorum"]
    assert (sample["replica"], sample["is_voter"], sample["log_end_offset"]) == (100, True, 50)


def test_brokers_versions_and_features_hold_until_they_are_read_again():
    cluster = FakeCluster()
    first = one_round(cluster)
    cluster.features = {"transaction.version": 1}
    second = one_round(cluster, first.remembered, tick=1)
    later = following(cluster, 12)

    assert {(row["broker"], row["rack"], row["is_fenced"]) for row in first.rows["brokers"]} == {
        (1, "a", False),
        (2, "a", False),
    }
    assert {row["api_versions"] for row in first.rows["broker_versions"]} == {'{"1": [4, 18]}'}
    assert [row["level"] for row in second.rows["cluster_features"]] == [2]
    assert [row["level"] for row in later.rows["cluster_features"]] == [1]


def test_a_feature_that_is_no_longer_in_force_ends():
    cluster = FakeCluster()
    remembered = following(cluster, 11).remembered
    cluster.features = {}

    (ended,) = one_round(cluster, remembered, tick=12).rows["cluster_features"]

    assert (ended["level"], ended["ended_reason"]) == (2, "no longer in force")


def test_what_could_not_be_read_of_a_broker_is_asked_again_in_the_next_round():
    cluster = FakeCluster(silent={2})
    first = one_round(cluster)
    cluster.silent = set()

    second = one_round(cluster, first.remembered, tick=1)

    assert {row["broker"] for row in first.rows["broker_versions"]} == {1}
    assert {row["broker"] for row in second.rows["broker_versions"]} == {1, 2}
    assert Signal.FEATURES not in {each.signal for each in one_round(cluster, second.remembered, 2).round.coverage}


def described(*brokers: Broker, refused: bool = False) -> Described:
    return Described(Unknown("no broker answers") if refused else brokers, {}, 0)


BROKER_1 = Broker(1, "a", 9092, None, is_fenced=False)
RUNNING = Interval((2,), {}, {}, 0, None, 0)


@pytest.mark.parametrize(
    ("known", "reason"),
    [
        (described(BROKER_1), "no longer registered"),
        (described(replace(BROKER_1, is_fenced=None)), "no longer in service"),
        (described(BROKER_1, replace(BROKER_1, broker=2, is_fenced=True)), None),
        (described(refused=True), None),
        (None, None),
    ],
)
def test_a_broker_is_gone_only_where_a_list_was_read_without_it(known, reason):
    assert broker_gone(known, RUNNING) == reason


def test_a_feature_is_not_gone_where_nobody_told_which_are_in_force():
    assert feature_gone(described(BROKER_1), RUNNING) is None
    assert feature_gone(None, RUNNING) is None
