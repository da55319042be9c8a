"""Rounds that are stored and judged, over a restart, with a real store and a cluster in memory."""

import threading
from dataclasses import replace

import pytest

from collectors import stored
from collectors.replay import replayed_rounds
from collectors.runner import ClusterRounds, run, unopened_round
from guarantees.findings import Kind
from guarantees.observations import Round
from settings import ClusterSettings, Secret, Security, Settings, StoreSettings
from store.findings import load_events, load_findings
from store.log import SegmentLog
from store.reading import read
from store.rows import python_rows
from tests.collectors.fake_cluster import FakeCluster, FakeGroup


@pytest.fixture
def settings(tmp_path):
    cluster = ClusterSettings(name="fake", bootstrap_servers="fake:9092")
    return Settings(clusters=(cluster,), store=StoreSettings(data_dir=str(tmp_path)))


@pytest.fixture
def start(settings, tmp_path):
    """A collecting process; starting another one ends the one before, as a restart does."""
    logs: list[SegmentLog] = []

    def begin(cluster: FakeCluster) -> ClusterRounds:
        if logs:
            logs[-1].close()
        logs.append(SegmentLog(tmp_path, "host_collect"))
        return ClusterRounds(cluster.watched, settings, logs[-1])

    yield begin
    logs[-1].close()


def busy_cluster() -> FakeCluster:
    group = FakeGroup({0: 90}, owned={"a": [0], "b": [1]}, coordinator=1)
    return FakeCluster(
        log={0: (0, 95, 100), 1: (0, 50, 50)},
        epochs={0: 1},
        epoch_ends={(0, 0): (0, 80)},
        open_since={0: 95},
        groups={"g": group},
    )


def without_times_of_facts(observed: Round) -> Round:
    """Of facts kept as intervals a restart knows only that they held in the round."""
    return replace(
        observed,
        states={key: replace(state, observed_at_ms=0) for key, state in observed.states.items()},
        groups={key: replace(state, observed_at_ms=0) for key, state in observed.groups.items()},
        transactions=tuple(replace(each, observed_at_ms=0) for each in observed.transactions),
        producers={k: tuple(replace(e, observed_at_ms=0) for e in each) for k, each in observed.producers.items()},
        coverage=tuple(sorted(observed.coverage, key=lambda each: each.signal)),
    )


def test_a_round_comes_back_from_the_store_as_it_was_observed(start, tmp_path):
    cluster = busy_cluster()
    rounds = start(cluster)
    observed = [rounds.next_round() for _ in range(3)]

    replayed = list(replayed_rounds(stored.load(tmp_path, stored.last_round(tmp_path, "fake"))))

    assert list(map(without_times_of_facts, replayed)) == list(map(without_times_of_facts, observed))
    assert observed[0].transactions
    assert observed[0].producers
    assert observed[0].epoch_ends
    assert observed[0].topic_settings


def test_an_election_over_a_restart_is_asked_about_and_its_first_answer_is_confirmed(start):
    cluster = FakeCluster(epoch_ends={(0, 0): (0, 100)})
    start(cluster).next_round()
    cluster.epochs = {0: 1}
    asked = [list(start(cluster).next_round().epoch_ends) for _ in range(3)]

    assert asked == [[("orders", 0)], [("orders", 0)], []]


def test_ticks_continue_after_a_restart(start, tmp_path):
    for expected in (0, 1):
        assert start(FakeCluster()).next_round().tick == expected

    ticks = {row["tick"] for row in python_rows("rounds", read(tmp_path, "rounds"))}
    assert ticks == {0, 1}


def test_a_commit_that_falls_is_found_and_stored(start, tmp_path):
    cluster = FakeCluster(groups={"g": FakeGroup({0: 90})})
    rounds = start(cluster)
    rounds.next_round()
    cluster.groups["g"].commits = {0: 20}
    rounds.next_round()

    (found,) = (h.finding for h in load_findings(tmp_path).values() if h.finding.kind is Kind.REWIND)
    assert (found.place.group_id, found.place.topic, found.place.partition) == ("g", "orders", 0)


def test_a_restart_finds_nothing_new_in_what_was_already_judged(start, tmp_path):
    cluster = FakeCluster(groups={"g": FakeGroup({0: 90})})
    rounds = start(cluster)
    rounds.next_round()
    cluster.groups["g"].commits = {0: 20}
    rounds.next_round()
    events = load_events(tmp_path)

    start(cluster).next_round()

    assert load_events(tmp_path) == events


def test_a_commit_that_fell_while_nobody_looked_is_found_after_the_restart(start, tmp_path):
    cluster = FakeCluster(groups={"g": FakeGroup({0: 90})})
    start(cluster).next_round()
    cluster.groups["g"].commits = {0: 20}

    start(cluster).next_round()

    assert [h.finding.kind for h in load_findings(tmp_path).values()] == [Kind.REWIND]


def test_groups_are_remembered_over_a_restart(start):
    cluster = FakeCluster(groups={"g": FakeGroup({0: 90}, coordinator=2)})
    start(cluster).next_round()
    cluster.silent = {2}

    seen = start(cluster).next_round()

    assert "coordinator unavailable" in seen.groups["g"].reason
    assert [commit.committed_offset for commit in seen.commits.values()] == [seen.groups["g"]]


def test_a_quick_restart_continues_the_running_intervals(start, tmp_path):
    cluster = FakeCluster()
    first = start(cluster).next_round()
    start(cluster).next_round()

    (state,) = (
        row for row in python_rows("partition_state", read(tmp_path, "partition_state")) if row["partition"] == 0
    )
    assert state["started_at"] == first.states[min(first.states)].observed_at_ms
    assert state["ended_before"] is None


def test_another_cluster_behind_the_same_address_is_not_compared_with_the_old_one(start, tmp_path):
    old = FakeCluster(groups={"g": FakeGroup({0: 90})})
    rounds = start(old)
    rounds.next_round()
    new = FakeCluster(groups={"g": FakeGroup({0: 20})}, cluster_id="another-id")
    rounds = start(new)

    assert rounds.next_round().tick == 0
    assert load_findings(tmp_path) == {}


def test_a_cluster_out_of_reach_from_the_start_is_told_in_the_store(settings, tmp_path):
    unreachable = replace(settings, clusters=(ClusterSettings(name="gone", bootstrap_servers="127.0.0.1:1"),))

    (seen,) = run(unreachable, threading.Event(), once=True)

    assert seen.partitions == {}
    rows = python_rows("rounds", read(tmp_path, "rounds"))
    assert {row["cluster"] for row in rows} == {"gone"}
    assert {row["cluster_id"] for row in rows} == {None}
    assert all("cannot be reached" in row["error"] for row in rows)


def test_a_cluster_whose_secret_is_missing_is_told_in_the_store_and_the_others_go_on(settings, tmp_path):
    locked = Security(
        protocol="SASL_PLAINTEXT", sasl_mechanism="PLAIN", username="u", password=Secret(file=str(tmp_path / "none"))
    )
    names = {"locked": locked, "gone": Security()}
    clusters = tuple(
        ClusterSettings(name=name, bootstrap_servers="127.0.0.1:1", security=security)
        for name, security in names.items()
    )

    assert len(run(replace(settings, clusters=clusters), threading.Event(), once=True)) == 2

    errors = {row["cluster"]: row["error"] for row in python_rows("rounds", read(tmp_path, "rounds"))}
    assert "secret" in errors["locked"]
    assert "cannot be read" in errors["locked"]
    assert "cannot be reached" in errors["gone"]


def test_a_known_cluster_that_cannot_be_opened_goes_on_being_told_as_itself(start, settings, tmp_path):
    start(FakeCluster()).next_round()

    seen = unopened_round(settings.clusters[0], tmp_path, "security.ca_file ca.pem cannot be read")

    assert (seen.cluster_id, seen.tick) == ("fake-id", 1)
    assert {each.error for each in seen.coverage} == {"security.ca_file ca.pem cannot be read"}
