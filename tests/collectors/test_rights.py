"""What a missing right hides is "not permitted to see", never gone and never none."""

from fnmatch import fnmatchcase

import pytest

from collectors.rights import LEFT_OUT, NOBODYS, Rights, collect, name_like, named, values
from collectors.round import Collected, collect_round, fetch_cluster
from collectors.signals import Signals
from collectors.watched import Remembered
from guarantees.observations import Coverage, Signal
from guarantees.unknown import Unknown
from kafka_reader.rights import DESCRIBE
from settings import ClusterSettings, PipelineSettings
from tests.collectors.fake_cluster import FakeCluster, FakeGroup
from tests.collectors.fake_rights import FakeRights

PIPELINE = PipelineSettings(name="p", cluster="c", source="orders", group="payers", sink="payments")


def one_round(cluster: FakeCluster, remembered: Remembered | None = None, tick: int = 0) -> Collected:
    signals = Signals()
    known = remembered or Remembered()
    topology = fetch_cluster(cluster.watched, signals, known)
    assert topology is not None
    return collect_round(cluster.watched, signals, topology, known, tick)


def coverage(seen: Collected, signal: Signal) -> Coverage:
    return next(each for each in seen.round.coverage if each.signal == signal)


def settings(**patterns: tuple[str, ...]) -> ClusterSettings:
    return ClusterSettings(name="c", bootstrap_servers="fake:9092", **patterns)


def asked(cluster: FakeCluster, chosen: ClusterSettings, *pipelines: PipelineSettings) -> Rights:
    return collect(cluster, *named(chosen, pipelines))  # type: ignore[arg-type]


def unknowns(rights: Rights) -> list[str]:
    return [value.reason for value in values(rights) if isinstance(value, Unknown)]


@pytest.mark.parametrize("pattern", ["*", "orders*", "*-dlq", "a?c", "[ab]-*", "[!x]*", "orders"])
def test_a_name_made_for_a_pattern_matches_it(pattern):
    assert fnmatchcase(name_like(pattern), pattern)


def test_a_name_without_wildcards_stands_for_itself():
    assert (name_like("orders"), name_like("*")) == ("orders", NOBODYS)


def test_who_may_describe_everything_is_refused_nothing():
    assert unknowns(asked(FakeCluster(), settings(), PIPELINE)) == []


def test_a_pattern_wider_than_the_right_says_that_none_seen_is_not_none():
    cluster = FakeCluster(rights=FakeRights(describable={"orders*", "payers"}))

    assert unknowns(asked(cluster, settings())) == [
        f"not permitted: DESCRIBE on every topic: {LEFT_OUT}",
        f"not permitted: DESCRIBE on every group: {LEFT_OUT}",
        f"not permitted: DESCRIBE on every transactional id: {LEFT_OUT}",
    ]


def test_settings_that_name_no_more_than_the_right_covers_are_complete():
    cluster = FakeCluster(rights=FakeRights(describable={"orders*", "payers", NOBODYS}))

    assert unknowns(asked(cluster, settings(include_topics=("orders-*",), include_groups=("payers",)))) == []


def test_topics_and_groups_of_pipelines_are_asked_for_by_name():
    cluster = FakeCluster(rights=FakeRights(describable={"orders", NOBODYS}))

    assert unknowns(asked(cluster, settings(), PIPELINE)) == [
        "not permitted: DESCRIBE on topic payments",
        "not permitted: DESCRIBE on group payers",
    ]


def test_who_may_describe_the_cluster_is_shown_every_group():
    cluster = FakeCluster(rights=FakeRights(describable=set(), of_cluster={DESCRIBE}))

    assert [reason.split(":")[1] for reason in unknowns(asked(cluster, settings()))] == [
        " DESCRIBE on every topic",
        " DESCRIBE on every transactional id",
    ]


def test_rights_nobody_could_be_asked_about_are_unknown_and_not_refused():
    cluster = FakeCluster(is_reachable=False)

    assert set(unknowns(asked(cluster, settings()))) == {"no broker answers"}


def test_a_topic_that_may_no_longer_be_described_has_not_ended():
    cluster = FakeCluster()
    before = one_round(cluster)
    cluster.rights.describable = {"tx"}

    after = one_round(cluster, before.remembered, tick=1)

    assert len(after.rows["partition_state"]) == 0
    assert coverage(after, Signal.PARTITION_STATES).refused == 1
    assert coverage(after, Signal.PARTITION_STATES).error == "not permitted: TOPIC_AUTHORIZATION_FAILED (1)"
    later = one_round(cluster, after.remembered, tick=2)
    assert coverage(later, Signal.PARTITION_STATES).refused == 1


def test_a_group_that_may_no_longer_be_described_has_not_ended():
    cluster = FakeCluster(groups={"g": FakeGroup({0: 5}, owned={"m": [0]})})
    before = one_round(cluster)
    cluster.rights.describable = {"orders"}

    after = one_round(cluster, before.remembered, tick=1)

    reason = Unknown("not permitted: GROUP_AUTHORIZATION_FAILED")
    assert after.round.groups == {"g": reason}
    assert {commit.committed_offset for commit in after.round.commits.values()} == {reason}
    assert len(after.rows["group_members"]) == 0
    (unknown,) = after.rows["group_state"]
    assert (unknown["state"], unknown["state_unknown"], unknown["ended_reason"]) == (None, reason.reason, None)


def test_a_transaction_that_may_no_longer_be_described_has_not_ended():
    cluster = FakeCluster(log={0: (0, 90, 100), 1: (0, 50, 50)}, open_since={0: 90})
    before = one_round(cluster)
    cluster.rights.describable = {"orders"}

    due = Remembered(intervals=before.remembered.intervals)
    after = one_round(cluster, due, tick=1)

    assert len(after.rows["open_transactions"]) == 0
    assert coverage(after, Signal.TRANSACTIONS).refused == 3, "one a coordinator, and its own"
    assert LEFT_OUT in (coverage(after, Signal.TRANSACTIONS).error or "")


def test_the_rights_are_asked_for_in_every_nth_round_and_remembered_in_between():
    cluster = FakeCluster(rights=FakeRights(describable={"orders"}))
    first = one_round(cluster)
    asked_once = cluster.asked.count("topic rights")

    second = one_round(cluster, first.remembered, tick=1)

    assert coverage(first, Signal.RIGHTS).refused == 3
    assert cluster.asked.count("topic rights") == asked_once == 1
    assert coverage(second, Signal.TRANSACTIONS).refused == 2


def test_a_topic_that_only_a_visible_groups_members_name_is_said_to_be_hidden():
    cluster = FakeCluster(
        groups={"g": FakeGroup({0: 5}, owned={"m": [0]})}, rights=FakeRights(describable={"g", NOBODYS})
    )

    seen = one_round(cluster)

    assert coverage(seen, Signal.RIGHTS).error == "not permitted: DESCRIBE on topic orders (1)"


def test_nobody_is_asked_by_name_while_nothing_is_missing():
    cluster = FakeCluster(groups={"g": FakeGroup({0: 5})})
    first = one_round(cluster)
    cluster.asked.clear()

    one_round(cluster, first.remembered, tick=1)

    assert not [name for name in cluster.asked if name.endswith("rights")]
