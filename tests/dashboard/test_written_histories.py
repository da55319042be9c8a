"""What coordinators wrote and what samples saw, side by side: nothing twice, and each with who tells of it."""

import json

import pytest

from dashboard import commit_rows, queries, rebalance_costs, rebalance_words, timeline_rows
from dashboard.commit_questions import COMMITS
from dashboard.rebalance_costs import Pause
from dashboard.timeline_questions import STEPS
from dashboard.view import View
from guarantees.transaction_timeline import Step
from store.log import SegmentLog
from store.segments import producer_name
from tests.dashboard.story_window import AT_MS

VIEW = View("production", AT_MS, AT_MS + 900_000, False, 10, "")
PLACE = {"cluster_id": "c", "group_id": "g", "topic": "orders", "partition": 0}
SAMPLE_MS = 5_000


@pytest.fixture
def log(tmp_path):
    return SegmentLog(tmp_path, producer_name("host", "collect"))


def ask(data_dir, question, **about):
    return queries.ask(data_dir, AT_MS - 60_000, AT_MS + 600_000, question, {"cluster_id": "c"} | about)


def written(log, *commits):
    log.append("commits", [
        PLACE | {"previous_offset": before, "committed_offset": now, "committed_at": at_ms, "observed_at": at_ms,
                 "commits": 1, "log_partition": 0, "log_offset": at_ms, "read_at": at_ms}
        for at_ms, before, now in commits
    ])  # fmt: skip


def sampled(log, *offsets):
    log.append("committed_offsets", [
        PLACE | {"tick": tick, "committed_offset": offset, "is_pending": False,
                 "observed_at": AT_MS + tick * SAMPLE_MS}
        for tick, offset in enumerate(offsets)
    ])  # fmt: skip


def commits(tmp_path):
    return ask(tmp_path, COMMITS, **{name: PLACE[name] for name in ("group_id", "topic", "partition")})


def test_a_commit_that_was_written_is_not_told_by_samples_again(log, tmp_path):
    written(log, (AT_MS + 1_000, 5, 40), (AT_MS + 4_000, 40, 20))
    sampled(log, 5, 20, 20, 31)

    rows = commits(tmp_path)

    assert [(row["previous_offset"], row["committed_offset"], row["source"]) for row in rows] == [
        (20, 31, "samples"), (40, 20, "__consumer_offsets"), (5, 40, "__consumer_offsets")]  # fmt: skip
    shown = [commit_rows.table_row(row, VIEW) for row in rows]
    assert [row["Told by"] for row in shown] == ["samples, within 5 s", "coordinator", "coordinator"]
    assert [row["Moved"] for row in shown] == ["11", "▼ 20 back", "35"]


def test_without_records_the_differences_of_samples_are_the_commits(log, tmp_path):
    sampled(log, 5, None, 9, 2)

    rows = commits(tmp_path)

    assert [(row["previous_offset"], row["committed_offset"]) for row in rows] == [(9, 2), (5, 9)]
    assert rows[1]["at_ms"] - rows[1]["after_ms"] == 2 * SAMPLE_MS


def test_a_deleted_commit_is_no_zero(log, tmp_path):
    written(log, (AT_MS, 5, None))

    (row,) = (commit_rows.table_row(row, VIEW) for row in commits(tmp_path))

    assert (row["From"], row["To"], row["Moved"]) == ("5", "deleted", "–")


def change(**changes):
    return {
        "group_id": "g", "changed_after_ms": AT_MS, "observed_at_ms": AT_MS + 5_000, "joined": "[]", "left": "[]",
        "moved": "[]", "cause": "", "group_epoch": None, "source": "__consumer_offsets", "generation": None,
        "hosts": None, "subscriptions": None, "group_leader_before": None, "group_leader": None,
    } | changes  # fmt: skip


def test_who_tells_of_a_rebalance_is_said_with_its_time():
    classic = change(generation=4, changed_after_ms=AT_MS + 5_000)

    assert "generation 4 at" in rebalance_words.told(classic)[0]
    assert "epoch 3, begun" in rebalance_words.told(change(group_epoch=3))[0]
    for source in ("samples", None):
        assert "happened between" in rebalance_words.told(change(source=source))[0]


def test_hosts_subscriptions_and_leaders_that_changed_are_said():
    said = rebalance_words.told(
        change(
            generation=1,
            hosts=json.dumps([["m-1", "/10.0.0.1", "/10.0.0.2"]]),
            subscriptions=json.dumps([["m-1", ["orders"], ["audit", "payments"]]]),
            group_leader_before="m-1",
            group_leader="m-2",
        )
    )

    assert said[1:] == [
        "Member m-1 moved from host /10.0.0.1 to /10.0.0.2.",
        "Member m-1 changed its subscription: left orders and added audit, payments.",
        "Member m-2 leads the group, before it m-1 did.",
    ]


@pytest.mark.parametrize(
    ("one", "known"),
    [
        (change(group_epoch=3), Pause(5_000, 5_000)),
        (change(generation=4, changed_after_ms=AT_MS + 5_000), Pause(0, None)),
        (change(source="samples"), Pause(0, 5_000)),
    ],
    ids=["begin and end are written", "the end alone is written", "samples"],
)
def test_a_pause_is_only_as_sure_as_who_tells_of_it(one, known):
    assert rebalance_costs.pause(one, []) == known


def step(what, at_ms, started_ms, name="tx"):
    return {
        "cluster_id": "c", "transactional_id": name, "step": what, "why": "by its producer", "producer_id": 7,
        "producer_epoch": 1, "started_at": started_ms, "partitions": '[["orders", 0]]', "transactions": 1,
        "log_partition": 0, "log_offset": at_ms, "read_at": at_ms, "observed_at": at_ms,
    }  # fmt: skip


def opened(name, started_ms, last_seen_ms, ended_ms=None, state="Ongoing"):
    return {
        "cluster_id": "c", "transactional_id": name, "producer_id": 8, "producer_epoch": 0, "state": state,
        "timeout_ms": 60_000, "transaction_started_at": started_ms, "partitions": "[]", "started_at": started_ms,
        "last_seen_at": last_seen_ms, "ended_before": ended_ms,
    }  # fmt: skip


def test_a_transaction_that_was_written_is_not_told_by_samples_again(log, tmp_path):
    log.append("transaction_steps", [step("committed", AT_MS + 9_000, AT_MS)])
    log.append("open_transactions", [
        opened("tx", AT_MS, AT_MS + 5_000, AT_MS + 10_000),
        opened("other", AT_MS, AT_MS + 5_000, AT_MS + 10_000),
        opened("aborted", AT_MS, AT_MS + 5_000, AT_MS + 10_000, "PrepareAbort"),
        opened("running", AT_MS, AT_MS + 5_000),
    ])  # fmt: skip

    rows = ask(tmp_path, STEPS, search="")

    assert {(row["transactional_id"], row["step"], row["source"]) for row in rows} == {
        ("tx", "committed", "__transaction_state"), ("other", "ended", "samples"),
        ("aborted", "aborted", "samples"), ("running", "begun", "samples"),
    }  # fmt: skip
    shown = {row["transactional_id"]: timeline_rows.table_row(row, VIEW) for row in rows}
    assert (shown["tx"]["Lasted"], shown["tx"]["Told by"]) == ("9 s", "coordinator")
    assert (shown["other"]["Lasted"], shown["other"]["Told by"]) == ("5 s to 10 s", "samples, within 5 s")
    assert "do not show how" in shown["other"]["Why"]
    assert {row["transactional_id"]: row["at_ms"] - AT_MS for row in rows} == {
        "tx": 9_000, "other": 10_000, "aborted": 10_000, "running": 0,
    }, "one that runs stands where it began"  # fmt: skip


def test_a_transaction_that_ended_after_the_window_is_one_that_was_open_at_its_end(log, tmp_path):
    """Its interval was stated again since: the window is judged as of its end."""
    end = AT_MS + 600_000
    log.append("open_transactions", [
        opened("open", AT_MS, end + 295_000, end + 300_000),
        opened("aborted since", AT_MS, end - 1_000, end + 4_000),
        opened("aborted since", AT_MS, end + 9_000, end + 14_000, "PrepareAbort") | {"started_at": end + 4_000},
        opened("ending", AT_MS, end - 9_000, end - 4_000),
        opened("ending", AT_MS, end + 1_000, end + 6_000, "PrepareCommit") | {"started_at": end - 4_000},
        opened("ended", AT_MS, end - 5_000, end),
    ])  # fmt: skip

    rows = ask(tmp_path, STEPS, search="")

    assert {row["transactional_id"]: (row["step"], row["at_ms"] - AT_MS) for row in rows} == {
        "open": ("begun", 0), "aborted since": ("begun", 0), "ending": ("begun", 0), "ended": ("ended", 600_000),
    }  # fmt: skip


def test_one_without_a_begin_that_is_seen_after_the_window_stands_at_its_end(log, tmp_path):
    log.append("open_transactions", [
        opened("tx", None, AT_MS + 900_000) | {"started_at": AT_MS},
    ])  # fmt: skip

    (row,) = ask(tmp_path, STEPS, search="")

    assert row["at_ms"] == AT_MS + 600_000


def test_the_search_finds_ids_and_producers(log, tmp_path):
    log.append("transaction_steps", [step("fenced", AT_MS, AT_MS), step("fenced", AT_MS + 1, AT_MS, name="another")])

    assert [row["transactional_id"] for row in ask(tmp_path, STEPS, search=" ANOTH ")] == ["another"]
    assert len(ask(tmp_path, STEPS, search="7")) == 2


def test_every_step_has_its_word():
    assert {str(each) for each in Step} | {"ended"} == set(timeline_rows.STEPS)
