"""The SQL of the Replication page over small stores."""

import itertools
from pathlib import Path

import pytest

from dashboard import low_isr, queries, replication
from dashboard import replication_questions as asked
from dashboard.replication import Risk
from guarantees import isr
from store.log import SegmentLog
from store.segments import producer_name
from store.tables.intervals import NOT_OBSERVED

AT_MS = 1_764_000_000_000
FROM_MS, TO_MS = AT_MS - 60_000, AT_MS + 60_000
EVERYTHING = {"cluster_id": "c", "search": "", "also": [], "partitions": [], "topic_id": "t-id",
              "partition": 0}  # fmt: skip


@pytest.fixture
def log(tmp_path: Path):
    log = SegmentLog(tmp_path, producer_name("host", "collect"))
    yield log
    log.close()


@pytest.fixture
def ask(tmp_path: Path):
    return lambda question, **about: queries.ask(tmp_path, FROM_MS, TO_MS, question, EVERYTHING | about)


def p(partition=0, started_s=-50, ended_s=None, **columns):
    """A state from so many seconds after AT_MS on; it lasts unless it has an end."""
    row = {
        "cluster_id": "c", "topic": "t", "topic_id": "t-id", "partition": partition, "leader": 1, "leader_epoch": 3,
        "replicas": [1, 2, 3], "in_sync_replicas": [1, 2, 3], "offline_replicas": [], "min_insync_replicas": 2,
        "started_at": AT_MS + 1000 * started_s, "started_after": AT_MS + 1000 * started_s - 5_000,
        "last_seen_at": AT_MS + (59_000 if ended_s is None else 1000 * ended_s - 5_000),
        "ended_before": None if ended_s is None else AT_MS + 1000 * ended_s,
        "ended_reason": None if ended_s is None else "changed",
    }  # fmt: skip
    return row | columns


def names(rows):
    return [row["name"] if "name" in row else replication.partition_name(row) for row in rows]


def test_danger_in_sql_is_danger_by_the_rules_of_the_findings(log, ask):
    """Every leader, minimum, number of replicas and of those in sync that a partition may have."""
    cases = [
        (leader, minimum, replicas, in_sync)
        for leader, minimum, replicas in itertools.product((None, 1), (None, 1, 2, 3), (1, 2, 3))
        for in_sync in range(replicas + 1)
    ]
    log.append("partition_state", [
        p(number, leader=leader, min_insync_replicas=minimum, replicas=[1, 2, 3][:replicas],
          in_sync_replicas=[1, 2, 3][:in_sync])
        for number, (leader, minimum, replicas, in_sync) in enumerate(cases)
    ])  # fmt: skip

    rows = ask(asked.AT_RISK, also=[f"t-id-{number}" for number in range(len(cases))])
    (counted,) = ask(queries.REPLICATION)

    assert len(rows) == counted["partitions"] == len(cases)
    assert [Risk(row["risk"]) for row in rows] == [replication.risk_of(row) for row in rows]
    known = [(low_isr.state_of(row), row["min_insync_replicas"]) for row in rows]
    assert counted["below_min_isr"] == sum(isr.is_below(*one) for one in known)
    assert counted["at_min_isr"] == sum(isr.is_at(*one) for one in known)
    assert counted["offline"] == sum(state.leader is None for state, _ in known)
    assert counted["under_replicated"] == sum(len(one.in_sync_replicas) < len(one.replicas) for one, _ in known)
    assert counted["min_isr_unknown"] == sum(minimum is None for _, minimum in known)
    assert {row["risk"] for row in rows} == set(Risk)


def test_partitions_at_risk_come_worst_first_with_those_that_had_trouble_before_their_equals(log, ask):
    log.append("partition_state", [
        p(0), p(1, in_sync_replicas=[1, 2], min_insync_replicas=1), p(2, in_sync_replicas=[1, 2]),
        p(3, in_sync_replicas=[1, 2]), p(4, in_sync_replicas=[1]), p(5, leader=None), p(6),
    ])  # fmt: skip

    rows = ask(asked.AT_RISK, also=["t-id-3", "t-id-6"])

    assert [row["partition"] for row in rows] == [5, 4, 3, 2, 1, 6]
    assert {row["found"] for row in rows} == {6}


def test_a_state_that_has_ended_and_another_cluster_are_not_at_risk_now(log, ask):
    log.append("partition_state", [
        p(0, ended_s=0, leader=None), p(0, started_s=0), p(1, cluster_id="other", leader=None),
        p(2, ended_s=90, leader=None),
    ])  # fmt: skip

    assert names(ask(asked.AT_RISK)) == ["t-id-2"], "what ended after the window held at its end"


def test_the_search_finds_partitions_by_a_part_of_their_name_whatever_its_case(log, ask):
    log.append("partition_state", [
        p(7, topic="Orders", leader=None), p(8, topic="payments", leader=None, ended_s=0),
        p(8, topic="payments", started_s=0),
    ])  # fmt: skip

    assert names(ask(asked.AT_RISK, search=" orders-7 ")) == ["t-id-7"]
    assert names(ask(asked.WERE_AT_RISK, search="PAY")) == ["t-id-8"]
    assert ask(asked.AT_RISK, search="%") == []


def test_of_many_partitions_the_worst_are_given_and_all_are_counted(log, ask):
    log.append("partition_state", [p(number, leader=None) for number in range(asked.MOST_ROWS + 3)])

    rows = ask(asked.AT_RISK)

    assert len(rows) == asked.MOST_ROWS
    assert rows[0]["found"] == asked.MOST_ROWS + 3


def test_partitions_that_were_at_risk_and_are_in_no_danger_now_come_with_the_longest_below_min_isr_first(log, ask):
    log.append("partition_state", [
        p(0, ended_s=-40, in_sync_replicas=[1]), p(0, started_s=-40),
        p(1, ended_s=-20, leader=None), p(1, started_s=-20),
        p(2, ended_s=-30, in_sync_replicas=[1, 2]), p(2, started_s=-30),
        p(3, ended_s=-20, in_sync_replicas=[1], min_insync_replicas=None), p(3, started_s=-20),
        p(4, ended_s=-20, leader=None), p(4, started_s=-20, in_sync_replicas=[1, 2]),
        p(5, ended_s=-20), p(5, started_s=-20, leader=2, leader_epoch=4),
    ])  # fmt: skip

    rows = ask(asked.WERE_AT_RISK)

    assert names(rows) == ["t-id-1", "t-id-0", "t-id-3", "t-id-2"]
    assert {(row["found"], row["is_gone"]) for row in rows} == {(4, False)}


def test_a_partition_that_was_at_risk_is_gone_only_where_no_state_followed_within_the_window(log, ask):
    log.append("partition_state", [
        p(0, ended_s=-20, leader=None, ended_reason="the topic was made anew"), p(0, started_s=-20, topic_id="newer"),
        p(1, ended_s=-40, in_sync_replicas=[1]), p(1, started_s=-40, ended_s=-20, ended_reason="no longer listed"),
        p(2, ended_s=-20, ended_reason="no longer listed"),
        p(3, ended_s=-20, leader=None, ended_reason=NOT_OBSERVED), p(3, started_s=-20),
        p(4, ended_s=90, leader=None, ended_reason="no longer listed"),
    ])  # fmt: skip

    rows = ask(asked.WERE_AT_RISK)

    assert {row["name"]: row["is_gone"] for row in rows} == {"t-id-0": True, "t-id-1": True, "t-id-3": False}


def test_the_history_of_a_few_partitions_is_theirs_alone_and_the_oldest_comes_first(log, ask):
    log.append("partition_state", [p(0, started_s=0), p(0, ended_s=0, leader=2), p(1), p(0, topic_id="older")])

    rows = ask(asked.HISTORY, partitions=["t-id-0"])

    assert [row["leader"] for row in rows] == [2, 1]
    assert rows[0]["ended_before_ms"] == rows[1]["started_at_ms"] == AT_MS
    assert rows[0]["started_after_ms"] == AT_MS - 55_000
    assert ask(asked.HISTORY) == []


def test_the_partition_that_changed_most_is_the_one_with_the_most_states(log, ask):
    log.append("partition_state", [p(0), p(1, ended_s=0), p(1, started_s=0, leader=2)])

    assert names(ask(asked.MOST_CHANGED)) == ["t-id-1"]
    assert ask(asked.MOST_CHANGED, search="nothing") == []


def test_an_election_comes_with_the_state_before_it_and_the_last_leader(log, ask):
    log.append("partition_state", [
        p(0, ended_s=-20, leader=2, in_sync_replicas=[2], eligible_leader_replicas=[3]),
        p(0, started_s=-20, ended_s=-10, leader=None, leader_epoch=4, in_sync_replicas=[]),
        p(0, started_s=-10, leader=1, leader_epoch=6, in_sync_replicas=[1]),
    ])  # fmt: skip

    (row,) = ask(asked.ELECTIONS)

    assert (row["leader"], row["leader_epoch"], row["last_leader"]) == (1, 6, 2)
    assert (row["before"]["leader"], row["before"]["leader_epoch"]) == (None, 4)
    assert row["before"]["last_seen_at_ms"] == AT_MS - 15_000
    assert row["started_at_ms"] == AT_MS - 10_000


def test_another_isr_an_older_epoch_and_a_topic_made_anew_are_no_elections(log, ask):
    log.append("partition_state", [
        p(0, ended_s=-20), p(0, started_s=-20, in_sync_replicas=[1]),
        p(1, ended_s=-20), p(1, started_s=-20, leader=2, leader_epoch=2),
        p(2, ended_s=-20), p(2, started_s=-20, topic_id="newer", leader=2, leader_epoch=4),
        p(3, ended_s=-20), p(3, started_s=-20, leader=None, leader_epoch=4),
    ])  # fmt: skip

    assert ask(asked.ELECTIONS) == []


def test_elections_of_leaders_that_were_not_in_sync_come_first_and_then_the_newest(log, ask):
    log.append("partition_state", [
        row
        for number, at_s, in_sync in ((0, -30, [2]), (1, -20, [1, 2]), (2, -10, [1, 2]), (3, -40, [1]))
        for row in (p(number, ended_s=at_s, in_sync_replicas=in_sync),
                    p(number, started_s=at_s, leader=2, leader_epoch=4))
    ])  # fmt: skip

    assert [row["partition"] for row in ask(asked.ELECTIONS)] == [3, 2, 1, 0]
    assert [row["partition"] for row in ask(asked.ELECTIONS_OF, partition=1)] == [1]
    assert ask(asked.ELECTIONS, search="other") == []


def test_of_many_elections_some_are_given_and_all_are_counted(log, ask):
    many = asked.MOST_ROWS + 2
    log.append("partition_state", [p(number, ended_s=0) for number in range(many)])
    log.append("partition_state", [p(number, started_s=0, leader=2, leader_epoch=4) for number in range(many)])

    rows = ask(asked.ELECTIONS)

    assert (len(rows), rows[0]["found"]) == (asked.MOST_ROWS, many)


def test_samples_of_a_partition_are_not_those_of_an_older_topic_of_its_name(log, ask):
    row = {"cluster_id": "c", "topic": "t", "partition": 0, "requested_at": AT_MS, "observed_at": AT_MS}
    log.append("partition_offsets", [row | {"tick": 7, "topic_id": name, "high_watermark": high, "broker": 1,
                                            "log_start_observed_at": AT_MS}
                                     for name, high in (("t-id", 5), ("older", 9))])  # fmt: skip
    ends = (("t-id", 2, 6), ("t-id", 1, 7), ("older", 1, 9))
    log.append("replica_offsets", [row | {"tick": 7, "topic_id": name, "replica": replica, "log_end_offset": end}
                                   for name, replica, end in ends])  # fmt: skip

    assert [one["high_watermark"] for one in ask(asked.OFFSETS_OF)] == [5]
    assert [(one["replica"], one["log_end_offset"]) for one in ask(asked.LOG_ENDS_OF)] == [(1, 7), (2, 6)]


def test_a_name_is_a_parameter_and_never_sql(log, ask):
    log.append("partition_state", [p(0, leader=None)])

    for hostile in ("' OR 1=1 --", "t-id-0') OR true --"):
        assert ask(asked.AT_RISK, search=hostile) == []
        assert ask(asked.HISTORY, partitions=[hostile]) == []
        assert ask(asked.ELECTIONS_OF, topic_id=hostile) == []


def test_questions_of_one_window_asked_together_have_the_answers_they_have_alone(log, tmp_path):
    log.append("partition_state", [
        p(0, ended_s=-20, in_sync_replicas=[1]), p(0, started_s=-20, leader=2, leader_epoch=4), p(1), p(2, leader=None),
    ])  # fmt: skip
    about = {"cluster_id": "c", "search": ""}

    together = queries.ask_together(tmp_path, FROM_MS, TO_MS, asked.OF_THE_WINDOW, about)

    assert set(together) == set(asked.OF_THE_WINDOW)
    for question, rows in together.items():
        assert rows == queries.ask(tmp_path, FROM_MS, TO_MS, question, about) != []


def test_an_empty_store_answers_nothing(ask):
    for name, question in vars(asked).items():
        if isinstance(question, queries.Question):
            assert ask(question) == [], name
