"""What the store holds as facts of a pipeline: the SQL, and what it leaves Unknown."""

import json

import pytest

from dashboard import promise_questions as questions
from dashboard import queries, standing
from dashboard.promise_facts import Seen
from guarantees.observations import Coverage
from guarantees.pipeline_facts import Backlog, OpenTransaction, Producers
from guarantees.promises import Guarantee, Pipeline
from guarantees.unknown import Unknown
from store.log import SegmentLog
from store.maintenance import roll_up
from store.segments import producer_name

AT_MS = 1_764_000_000_000
MINUTE_MS = 60_000
PIPELINE = Pipeline("p", "t", "g", "sink", Guarantee.AT_LEAST_ONCE)


@pytest.fixture
def log(tmp_path):
    log = SegmentLog(tmp_path, producer_name("host", "collect"))
    yield log
    log.close()


def ask(data_dir, question, **columns):
    about = {"cluster_id": "c", "group_id": "g", "topic": "t"} | columns
    return queries.ask(data_dir, AT_MS - 15 * MINUTE_MS, AT_MS + 1, question, about)


def round_row(tick, seconds_ago, *, signal="end_offsets", answered=3, cluster_id="c"):
    at = AT_MS - 1000 * seconds_ago
    return {"cluster_id": cluster_id, "cluster": "x", "tick": tick, "signal": signal, "started_at": at,
            "observed_at": at, "asked": 3, "answered": answered, "refused": 0, "failed": 0,
            "interval_ms": 5000}  # fmt: skip


def commit(tick, partition, offset, **columns):
    return {"cluster_id": "c", "tick": tick, "group_id": "g", "topic": "t", "topic_id": "id", "partition": partition,
            "committed_offset": offset, "is_pending": False, "observed_at": AT_MS - 60_000 + 10_000 * tick,
            "requested_at": AT_MS} | columns  # fmt: skip


def offsets(tick, partition, high):
    at = AT_MS - 60_000 + 10_000 * tick + 10
    return {"cluster_id": "c", "tick": tick, "topic": "t", "topic_id": "id", "partition": partition, "broker": 1,
            "log_start_offset": 0, "last_stable_offset": high, "high_watermark": high, "log_start_observed_at": at - 20,
            "observed_at": at}  # fmt: skip


def test_a_round_counts_where_end_offsets_were_answered_and_the_longest_gap_is_between_two_such(log, tmp_path):
    log.append("rounds", [
        round_row(1, 60), round_row(2, 55), round_row(3, 50, answered=0), round_row(4, 40),
        round_row(5, 35, signal="groups"), round_row(6, 30), round_row(7, 29, cluster_id="other"),
    ])  # fmt: skip
    (row,) = ask(tmp_path, questions.ROUNDS_SEEN, signal="end_offsets")

    assert row == {
        "present": 4, "first_ms": AT_MS - 60_000, "last_ms": AT_MS - 30_000, "longest_gap_ms": 15_000,
        "gap_from_ms": AT_MS - 55_000, "asked": 3,
    }  # fmt: skip
    assert ask(tmp_path, questions.ROUNDS_SEEN, signal="groups")[0]["present"] == 1


def test_without_a_round_nothing_is_present(tmp_path):
    (row,) = ask(tmp_path, questions.ROUNDS_SEEN, signal="end_offsets")

    assert row == standing.NO_ROUND


def test_the_weakest_partition_counts_and_one_without_its_minimum_makes_it_unknown(log, tmp_path):
    def state(topic, partition, replicas, minimum):
        return {"cluster_id": "c", "topic": topic, "topic_id": topic, "partition": partition, "leader": 1,
                "leader_epoch": 0, "replicas": replicas, "in_sync_replicas": replicas, "offline_replicas": [],
                "min_insync_replicas": minimum, "started_at": AT_MS - 1000, "last_seen_at": AT_MS}  # fmt: skip

    log.append("partition_state", [state("t", 0, [1, 2, 3], 2), state("t", 1, [1, 2], 2),
                                   state("sink", 0, [1, 2], 2), state("sink", 1, [1, 2], None)])  # fmt: skip
    facts = Seen({questions.TOPICS: ask(tmp_path, questions.TOPICS)}).facts(PIPELINE)

    assert (facts.source.replication_factor, facts.source.min_insync_replicas) == (2, 2)
    assert facts.sink.min_insync_replicas == Unknown("min.insync.replicas may not be read")
    assert isinstance(Seen({}).facts(PIPELINE).source.replication_factor, Unknown)


def test_a_commit_that_awaited_a_marker_is_found_with_its_last_time(log, tmp_path):
    log.append("committed_offsets", [
        commit(1, 0, None, is_pending=True, committed_offset_unknown="x"),
        commit(2, 1, None, is_pending=True, committed_offset_unknown="x"),
        commit(3, 0, 5), commit(3, 0, 5, group_id="other"),
    ])  # fmt: skip
    rows = ask(tmp_path, questions.PENDING_COMMITS)

    assert rows == [{"group_id": "g", "topic": "t", "observed_at_ms": AT_MS - 40_000}]
    assert Seen({questions.PENDING_COMMITS: rows}).facts(PIPELINE).pending_commit_at_ms == AT_MS - 40_000


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({}, Unknown("nothing was observed yet")),
        ({queries.COVERAGE: [{"signal": "committed_offsets"}]}, None),
    ],
)
def test_no_pending_commit_is_a_fact_only_where_commits_were_asked_for(answers, expected):
    assert Seen(answers).facts(PIPELINE).pending_commit_at_ms == expected


def test_moves_of_commits_are_counted_by_partition_over_their_time(log, tmp_path):
    log.append(
        "committed_offsets", [commit(1, 0, 5), commit(2, 0, 6), commit(3, 0, 6), commit(1, 1, 5), commit(4, 1, 9)]
    )
    rows = ask(tmp_path, questions.COMMIT_MOVES)

    assert Seen({questions.COMMIT_MOVES: rows}).facts(PIPELINE).commit_moves == (2, 30_000)
    assert Seen({questions.COMMIT_MOVES: []}).facts(PIPELINE).commit_moves == Unknown(
        "no commit was seen in the newest round"
    )


@pytest.mark.parametrize(
    ("caught_up", "backlog"),
    [
        ({0: AT_MS - 5 * MINUTE_MS}, Backlog(4, 39_990, 5 * MINUTE_MS)),
        ({}, Backlog(4, 39_990, None)),
        ({1: AT_MS - 5 * MINUTE_MS}, Backlog(4, 39_990, None)),
    ],
)
def test_the_oldest_unread_offset_waits_between_two_samples(log, tmp_path, caught_up, backlog):
    """Commit 6 is the newest; the end was first seen beyond it at the second round."""
    log.append("committed_offsets", [commit(1, 0, 5), commit(2, 0, 6), commit(3, 0, 6), commit(3, 1, 3)])
    log.append("partition_offsets", [offsets(1, 0, 6), offsets(2, 0, 8), offsets(3, 0, 10), offsets(3, 1, 3)])
    answers = {one: ask(tmp_path, one) for one in (questions.UNREAD_SINCE, queries.GROUP_LAG)}
    answers[questions.LAST_CAUGHT_UP] = [{"partition": p, "minute_ms": at_ms} for p, at_ms in caught_up.items()]
    answers[queries.COVERAGE] = [{"signal": "end_offsets", "observed_at_ms": AT_MS}]

    assert Seen(answers).facts(PIPELINE).backlog == backlog


@pytest.mark.parametrize(
    ("caught_up", "at_most_ms"),
    [({0: 100_000, 1: 90_000}, 90_000), ({0: 100_000}, None), ({}, None)],
)
def test_the_partition_that_waits_longest_decides_and_one_without_a_bound_leaves_none(caught_up, at_most_ms):
    whole = {"group_id": "g", "topic": "t", "partitions": 2, "without_commit": 0, "lag": 5, "unknown": 0}
    answers = {
        queries.GROUP_LAG: [whole | {"unknown_reason": None}],
        queries.COVERAGE: [{"signal": "end_offsets", "observed_at_ms": 180_000}],
        questions.UNREAD_SINCE: [{"partition": 0, "since_ms": 150_000}, {"partition": 1, "since_ms": 140_000}],
        questions.LAST_CAUGHT_UP: [{"partition": p, "minute_ms": at_ms} for p, at_ms in caught_up.items()],
    }

    assert Seen(answers).facts(PIPELINE).backlog == Backlog(5, 40_000, at_most_ms)
    assert Seen(answers | {queries.COVERAGE: []}).facts(PIPELINE).backlog == Unknown(
        "not asked for all pipelines at once"
    )


def test_a_group_had_read_everything_in_the_newest_minute_with_a_lag_of_zero(log, tmp_path):
    log.append("committed_offsets", [commit(-9, 0, 5), commit(-3, 0, 6), commit(1, 0, 7), commit(1, 1, 7)])
    log.append("partition_offsets", [offsets(-9, 0, 5), offsets(-3, 0, 6), offsets(1, 0, 8), offsets(1, 1, 8)])
    roll_up(tmp_path, AT_MS + 3 * 3_600_000)

    assert ask(tmp_path, questions.LAST_CAUGHT_UP) == [{"partition": 0, "minute_ms": AT_MS - 2 * MINUTE_MS}]


@pytest.mark.parametrize(
    ("row", "backlog"),
    [
        ({"lag": 0, "unknown": 0, "unknown_reason": None}, Backlog(0, 0, 0)),
        ({"lag": 5, "unknown": 1, "unknown_reason": "no answer"}, Unknown("no answer")),
        ({"lag": 5, "unknown": 0, "unknown_reason": None}, Unknown("not asked for all pipelines at once")),
    ],
)
def test_a_backlog_with_an_unknown_partition_is_unknown(row, backlog):
    whole = {"group_id": "g", "topic": "t", "partitions": 2, "without_commit": 0} | row

    assert Seen({queries.GROUP_LAG: [whole]}).facts(PIPELINE).backlog == backlog


def test_open_transactions_say_what_they_write_and_whether_they_commit_offsets(log, tmp_path):
    log.append("open_transactions", [
        {"cluster_id": "c", "transactional_id": name, "producer_id": 1, "producer_epoch": 0, "state": "Ongoing",
         "timeout_ms": 1, "partitions": json.dumps(partitions), "coordinator": 1, "started_at": AT_MS - 1000,
         "last_seen_at": AT_MS - 1000 + number}
        for number, (name, partitions) in enumerate(
            [("plain", [["sink", 0]]), ("exact", [["__consumer_offsets", 7], ["sink", 1]])])
    ])  # fmt: skip
    asked = {"signal": "transactions", "asked": 2, "answered": 2, "error": None}
    answers = {questions.TRANSACTIONS_SEEN: ask(tmp_path, questions.TRANSACTIONS_SEEN), queries.COVERAGE: [asked]}

    assert Seen(answers).facts(PIPELINE).transactions == (
        OpenTransaction("exact", frozenset({"sink"}), True),
        OpenTransaction("plain", frozenset({"sink"}), False),
    )
    refused = asked | {"answered": 0, "error": "not permitted"}
    assert Seen({queries.COVERAGE: [refused]}).facts(PIPELINE).transactions == Unknown("not permitted")


def test_what_lists_may_leave_out_is_no_right_the_pipeline_lacks():
    coverage = [Coverage(signal, 2, 1, 1, 0, "not permitted", 0, 1) for signal in ("producers", "rights")]

    assert Seen({}).facts(PIPELINE, coverage).refused == {"producers": "not permitted"}


def test_producers_are_counted_over_the_sampled_records():
    rows = [{"topic": "t", "records": 9, "idempotent": 8, "transactional": 7}]
    facts = Seen({questions.PRODUCERS_SEEN: rows}).facts(PIPELINE)

    assert facts.source.producers == Producers(9, 8, 7)
    assert isinstance(facts.sink.producers, Unknown)


def configured(settings, *, topic="t", ended=None, seconds_ago=5):
    at = AT_MS - 1000 * seconds_ago
    return {"cluster_id": "c", "topic": topic, "topic_id": f"id of {topic}", "configuration": json.dumps(settings),
            "started_at": at, "started_after": None, "last_seen_at": at, "ended_before": ended,
            "ended_reason": None if ended is None else "changed"}  # fmt: skip


SETTINGS = {"unclean.leader.election.enable": "true", "retention.ms": "3600000", "cleanup.policy": "compact"}


def test_a_topics_settings_are_the_newest_that_hold(log, tmp_path):
    log.append("topic_configuration", [
        configured({**SETTINGS, "retention.ms": "5"}, ended=AT_MS - 10_000, seconds_ago=20), configured(SETTINGS),
        configured({"retention.ms": "-1"}, topic="sink"),
    ])  # fmt: skip
    facts = Seen({questions.CONFIGURATIONS: ask(tmp_path, questions.CONFIGURATIONS)}).facts(PIPELINE)

    source, sink = facts.source, facts.sink
    assert (source.unclean_leader_election, source.retention_ms, source.cleanup_policy) == (True, 3_600_000, "compact")
    assert sink.retention_ms is None
    assert isinstance(sink.unclean_leader_election, Unknown)
    assert isinstance(sink.cleanup_policy, Unknown)


def test_settings_that_nobody_read_are_unknown_and_say_which_right_is_needed():
    source = Seen({}).facts(PIPELINE).source

    for value in (source.unclean_leader_election, source.retention_ms, source.cleanup_policy):
        assert "DESCRIBE_CONFIGS" in value.reason


def feature(name, level, **changed):
    times = {"started_at": AT_MS - 9_000, "last_seen_at": AT_MS}
    return {"cluster_id": "c", "feature": name, "level": level} | times | changed


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([feature("transaction.version", 2), feature("metadata.version", 29)], 2),
        ([feature("metadata.version", 20)], 0),
        (
            [
                feature("transaction.version", 1, started_at=AT_MS - 20_000, ended_before=AT_MS - 9_000),
                feature("transaction.version", 2),
            ],
            2,
        ),
        ([], Unknown("the cluster's features were not read in the newest round")),
    ],
)
def test_the_transaction_version_is_the_level_in_force_and_unknown_where_no_feature_was_read(
    log, tmp_path, rows, expected
):
    log.append("cluster_features", rows)

    facts = Seen({questions.FEATURES: ask(tmp_path, questions.FEATURES)}).facts(PIPELINE)

    assert facts.transaction_version == expected
