"""The SQL of the pages over small stores."""

import itertools
from pathlib import Path

import pytest

from dashboard import cluster_questions, lag_questions, partitions, queries, replication_questions
from guarantees.unknown import Unknown
from store.log import SegmentLog
from store.segments import producer_name

AT_MS = 1_764_000_000_000
ABOUT = {"cluster_id": "c"}
NOTHING_LEFT = {"left_groups": [], "left_topics": []}


@pytest.fixture
def log(tmp_path: Path):
    log = SegmentLog(tmp_path, producer_name("host", "collect"))
    yield log
    log.close()


def ask(data_dir, question, **about):
    return queries.ask(data_dir, AT_MS - 60_000, AT_MS + 60_000, question, ABOUT | about)


def commit(partition, **columns):
    return {"cluster_id": "c", "tick": 7, "group_id": "g", "topic": "t", "topic_id": "id", "partition": partition,
            "is_pending": False, "observed_at": AT_MS, "requested_at": AT_MS} | columns  # fmt: skip


def offsets(partition, **columns):
    return {"cluster_id": "c", "tick": 7, "topic": "t", "topic_id": "id", "partition": partition, "broker": 1,
            "log_start_observed_at": AT_MS - 10, "observed_at": AT_MS + 10} | columns  # fmt: skip


def test_lag_in_sql_is_the_lag_of_the_rules(log, tmp_path):
    """Dense at the edges: every order of commit, log start and high watermark, and every way to be unknown."""
    values = (None, 0, 5, 6)
    cases = list(itertools.product(values, values, values, (False, True), ("id", "older")))
    log.append("committed_offsets", [
        commit(number, committed_offset=committed, is_pending=pending, topic_id=topic_id,
               committed_offset_unknown="no commit" if committed is None else None)
        for number, (committed, _, _, pending, topic_id) in enumerate(cases)
    ])  # fmt: skip
    log.append("partition_offsets", [
        offsets(number, log_start_offset=start, high_watermark=high, last_stable_offset=high,
                log_start_offset_unknown="start?" if start is None else None,
                high_watermark_unknown="high?" if high is None else None,
                last_stable_offset_unknown="stable?" if high is None else None)
        for number, (_, start, high, _, _) in enumerate(cases)
        if number % 7
    ])  # fmt: skip

    rows = ask(tmp_path, queries.PARTITION_LAG, group_id="g")

    assert len(rows) == len(cases)
    for row in rows:
        lag = partitions.lag_of(row).lag_hw
        assert (row["lag"], row["reason"]) == ((None, lag.reason) if isinstance(lag, Unknown) else (lag, None)), row
    assert {row["lag"] for row in rows} >= {None, 0, 1, 5}


def test_only_the_newest_round_is_now(log, tmp_path):
    log.append("committed_offsets", [commit(0, tick=6, committed_offset=1), commit(0, committed_offset=4)])
    log.append("partition_offsets", [
        offsets(0, tick=6, log_start_offset=0, high_watermark=10),
        offsets(0, log_start_offset=0, high_watermark=10),
    ])  # fmt: skip

    assert [row["lag"] for row in ask(tmp_path, queries.GROUP_LAG)] == [6]


@pytest.mark.parametrize(("to_ms", "heard_ms"), [(50, None), (51, 50), (7_000, 50), (7_300, 50), (7_301, 7_300)])
def test_a_round_is_heard_once_it_is_over(log, tmp_path, to_ms, heard_ms):
    log.append("rounds", [
        {"cluster_id": "c", "cluster": "prod", "tick": tick, "signal": signal, "started_at": AT_MS + at_ms,
         "observed_at": AT_MS + at_ms, "asked": 9, "answered": 9, "refused": 0, "failed": 0, "interval_ms": 5_000}
        for tick, signal, at_ms in ((6, "committed_offsets", 0), (6, "end_offsets", 50),
                                    (7, "committed_offsets", 7_000), (7, "end_offsets", 7_300))
    ])  # fmt: skip

    rows = queries.ask(tmp_path, *queries.clusters_heard(AT_MS + to_ms, 60_000))

    expected = [] if heard_ms is None else [("prod", AT_MS + heard_ms, 9)]
    assert [(row["cluster"], row["observed_at_ms"], row["commits"]) for row in rows] == expected


def test_who_left_after_the_moment_that_is_looked_at_was_a_member_then(log, tmp_path):
    def member(name, ended_s):
        ended = None if ended_s is None else AT_MS + ended_s * 1000
        return {"cluster_id": "c", "group_id": "g", "member_id": name, "started_at": AT_MS - 9_000,
                "last_seen_at": AT_MS, "ended_before": ended, "ended_reason": ended and "left"}  # fmt: skip

    log.append("group_members", [member("stayed", None), member("left", 30), member("left later", 90)])
    log.append("group_state", [
        {"cluster_id": "c", "group_id": "g", "state": "Stable", "started_at": AT_MS - 9_000, "last_seen_at": AT_MS,
         "ended_before": AT_MS + 70_000},
    ])  # fmt: skip

    members = ask(tmp_path, queries.MEMBERS, group_id="g")
    assert {row["member_id"]: row["ended_reason"] for row in members} == {
        "stayed": None, "left": "left", "left later": None,
    }  # fmt: skip
    assert [row["ended_before_ms"] for row in ask(tmp_path, queries.GROUP_STATES)] == [None]
    now = ask(tmp_path, cluster_questions.MEMBERS_NOW, search="")
    assert {row["member_id"] for row in now} == {"stayed", "left later"}


def test_a_partition_without_a_commit_is_counted_apart_and_not_as_unknown(log, tmp_path):
    log.append("committed_offsets", [
        commit(0, committed_offset=4),
        commit(1, committed_offset_unknown="no commit"),
        commit(2, committed_offset_unknown="broker 2 did not answer"),
    ])  # fmt: skip
    log.append("partition_offsets", [offsets(number, log_start_offset=0, high_watermark=9) for number in range(3)])

    (row,) = ask(tmp_path, queries.GROUP_LAG)

    assert (row["lag"], row["without_commit"], row["unknown"]) == (5, 1, 1)
    assert row["unknown_reason"] == "broker 2 did not answer"


def test_the_trend_is_null_where_a_partition_is_unknown(log, tmp_path):
    log.append("committed_offsets", [
        commit(0, committed_offset=4),
        commit(1, committed_offset_unknown="broker 2 did not answer"),
        commit(0, tick=8, committed_offset=4, observed_at=AT_MS + 20_000),
        commit(1, tick=8, committed_offset=4, observed_at=AT_MS + 20_000),
    ])  # fmt: skip
    log.append("partition_offsets", [
        offsets(number, tick=tick, log_start_offset=0, high_watermark=9) for number in (0, 1) for tick in (7, 8)
    ])  # fmt: skip

    assert [row["lag"] for row in ask(tmp_path, lag_questions.LAG_TREND.raw, step_ms=10_000, **NOTHING_LEFT)] == [
        None,
        10,
    ]


def test_a_name_is_a_parameter_and_never_sql(log, tmp_path):
    log.append("committed_offsets", [commit(0, committed_offset=1)])

    assert ask(tmp_path, queries.PARTITION_LAG, group_id="' OR 1=1 --") == []


def interval(table, **columns):
    return {"cluster_id": "c", "topic": "t", "topic_id": "id", "partition": 0, "started_at": AT_MS - 50_000,
            "last_seen_at": AT_MS} | columns  # fmt: skip


def test_a_leader_change_is_another_epoch_and_not_a_shrunk_isr(log, tmp_path):
    log.append("partition_state", [
        interval("partition_state", leader=1, leader_epoch=3, ended_before=AT_MS, last_seen_at=AT_MS - 5_000),
        interval("partition_state", leader=2, leader_epoch=4, started_at=AT_MS),
        interval("partition_state", leader=1, leader_epoch=9, partition=1, ended_before=AT_MS),
        interval("partition_state", leader=1, leader_epoch=9, partition=1, in_sync_replicas=[1], started_at=AT_MS),
    ])  # fmt: skip

    assert [(row["partition"], row["leader"]) for row in ask(tmp_path, replication_questions.LEADER_CHANGES)] == [
        (0, 2)
    ]


def test_an_empty_store_answers_nothing(tmp_path):
    asked = vars(queries) | vars(lag_questions)
    for name in ("LAG_CELLS", "LAG_TREND"):
        questions = getattr(lag_questions, name)
        asked |= {f"{name}.{source}": getattr(questions, source) for source in ("raw", "by_minute", "by_hour")}
    for name, question in asked.items():
        if isinstance(question, queries.Question):
            about = {
                "group_id": "g",
                "topics": ["t"],
                "step_ms": 1_000,
                "cluster": "x",
                "ended_by_ms": AT_MS,
            } | NOTHING_LEFT
            assert ask(tmp_path, question, **about) == [], name


def test_what_a_group_has_left_is_no_part_of_its_trend(log, tmp_path):
    log.append("committed_offsets", [commit(0, committed_offset=4), commit(0, topic="old", committed_offset=1)])
    log.append("partition_offsets", [
        offsets(0, log_start_offset=0, high_watermark=10),
        offsets(0, topic="old", log_start_offset=0, high_watermark=90),
    ])  # fmt: skip

    def trend(groups, topics):
        rows = ask(tmp_path, lag_questions.LAG_TREND.raw, step_ms=10_000, left_groups=groups, left_topics=topics)
        return [row["lag"] for row in rows]

    assert trend([], []) == [95]
    assert trend(["g"], ["old"]) == [6]
    assert trend(["another"], ["old"]) == [95]
