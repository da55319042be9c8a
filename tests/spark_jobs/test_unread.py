"""What a round says it did not read: never a backlog of nothing where something waits, and which topics were read."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from guarantees.unknown import Unknown
from kafka_reader.errors import BrokerUnavailableError
from settings import Settings, StoreSettings
from spark_jobs import rounds
from spark_jobs.offsets import ClusterNow
from spark_jobs.ranges import ASSUMED_BYTES_PER_OFFSET, Part, PartNow, plan
from spark_jobs.rounds import LiveRounds
from spark_jobs.runs import IdleRows, run_row
from spark_jobs.samples import RangeRead
from spark_jobs.sources.accounts import Account
from spark_jobs.unread import Unread, as_json, in_words, key, known_backlog, left_by
from store.log import SegmentLog
from store.metrics import METRICS_FILE, MetricsWriter, snapshot
from store.rows import python_rows

ORDERS = PartNow(Part("c", "orders", "topic-1", 0), 1, 0, 100, 100, 0, observed_at_ms=1_000)
PAYMENTS = replace(ORDERS, part=Part("c", "payments", "topic-2", 0))
REFUSED = "payments-0: Fetch: not permitted: TOPIC_AUTHORIZATION_FAILED"
WAITS = Unread("production", "payments", "payments-0", REFUSED)
LEFT = Unread("production", "orders", "topic orders", None)


def row(*unread, left=0, idle_since_ms=2_000, ended_at_ms=2_000):
    return run_row(
        started_at_ms=1_000, ended_at_ms=ended_at_ms, idle_since_ms=idle_since_ms, ranges=0, records=0, left=left,
        unread=unread,
    )  # fmt: skip


def test_a_round_that_left_nothing_says_a_backlog_of_none_and_no_word():
    said = row()

    assert (said["backlog"], said["message"], said["unread"], said["run_id"]) == (0, None, "[]", "live-idle-2000")


def test_while_anything_waits_nobody_knows_the_backlog():
    assert row(WAITS)["backlog"] is None
    assert row(WAITS, LEFT, left=70)["backlog"] is None
    assert row(LEFT, left=70)["backlog"] == 70
    assert known_backlog([], 0) == 0


def test_what_is_only_left_for_the_next_round_is_nothing_wrong():
    assert in_words([LEFT]) == ""
    assert json.loads(as_json([LEFT])) == [["production", "orders", None]]


def test_a_topic_stands_once_and_what_is_wrong_with_it_before_what_is_left():
    unread = [replace(LEFT, topic="payments"), WAITS, replace(WAITS, place="payments-1"), LEFT]

    assert json.loads(as_json(unread)) == [["production", "orders", None], ["production", "payments", REFUSED]]


def test_idle_rounds_that_leave_the_same_topics_unread_share_a_row_and_no_other():
    cluster = Unread("production", None, "cluster production", "nobody answers")
    runs = [row(*unread)["run_id"] for unread in ((), (WAITS,), (cluster,), (WAITS, LEFT))]

    assert len(set(runs)) == 4
    assert row(replace(WAITS, reason="another"))["run_id"] == runs[1]
    assert key([WAITS, LEFT]) == key([LEFT, WAITS])


def test_idle_rounds_share_a_row_while_they_follow_each_other_and_the_next_stretch_has_its_own():
    idle, rows = IdleRows(), []
    for ended_ms in (60_000, 120_000, 210_000, 300_001, 200_000):
        rows.append(row(idle_since_ms=idle.since_ms((), ended_ms), ended_at_ms=ended_ms))
        idle.note((), rows[-1])

    assert [each["idle_since"] for each in rows] == [60_000, 60_000, 60_000, 300_001, 200_000]
    assert [each["run_id"] for each in rows[2:4]] == ["live-idle-60000", "live-idle-300001"]


def test_a_look_counts_for_its_row_only_once_it_is_committed_and_one_that_read_for_none():
    idle = IdleRows()
    assert (idle.since_ms((), 60_000), idle.since_ms((), 120_000)) == (60_000, 120_000), "the first was not noted"
    idle.note((), row(idle_since_ms=None))

    assert idle.since_ms((), 60_000) == 60_000
    assert row(idle_since_ms=None)["run_id"] == "live-1000"


def test_of_many_that_wait_the_first_are_named_and_the_rest_is_counted():
    waiting = [replace(WAITS, place=f"payments-{number}", reason="no answer") for number in range(7)]

    assert in_words(waiting).endswith("payments-4: no answer; and 2 more")
    assert in_words([WAITS]) == REFUSED, "a reason that names its partition is not named twice"


def test_a_plan_leaves_what_is_not_there_what_waits_and_what_the_budget_cuts():
    lost = replace(PAYMENTS, leader=Unknown("the partition has no leader"))
    now = ClusterNow("c", (ORDERS, lost), {"invoices": "there is no such topic"})
    planned = plan(now.parts, {}, budget_bytes=int(30 * ASSUMED_BYTES_PER_OFFSET), bytes_per_offset={})

    assert list(left_by("production", now, planned)) == [
        Unread("production", "invoices", "topic invoices", "there is no such topic"),
        Unread("production", "payments", "payments-0", "the partition has no leader"),
        LEFT,
    ]
    assert planned.left == {"orders": 70}


class ToyCluster:
    """Says what it is told to say; `error` is what becomes of every range."""

    name = "production"

    def __init__(self, looks, error=None):
        self._looks, self.error = looks, error

    def look(self, coverage, now_ms):
        return self._looks

    def plan(self, now, coverage, now_ms):
        return plan(now.parts, {}, budget_bytes=10**9, bytes_per_offset={})

    def rates(self, now, coverage):
        return {each.part.topic_id: 1.0 for each in now.parts}

    def request(self, planned, rate, awaited=()):
        return SimpleNamespace(range=planned)

    def note(self, read, now_ms):
        pass


def one_round(tmp_path, monkeypatch, cluster, now_ms=rounds.IDLE_LOOK_MS):
    """The row of the run that one round commits; nothing of it needs a session."""
    failed = Account(error=cluster.error)
    monkeypatch.setattr(rounds, "read_ranges", lambda _, asked, __: [RangeRead(r, failed, None, None) for r in asked])
    settings = Settings(clusters=(), store=StoreSettings(data_dir=str(tmp_path)))
    log = SegmentLog(tmp_path, "jobs")
    with MetricsWriter(tmp_path / METRICS_FILE) as metrics:
        LiveRounds(None, settings, [cluster], log, metrics, now_ms).run_round(now_ms)
    log.close()
    (run,) = python_rows("job_runs", snapshot(tmp_path / METRICS_FILE)["job_runs"])
    return run


@pytest.mark.parametrize(
    ("cluster", "unread", "message"),
    [
        (ToyCluster(BrokerUnavailableError("nobody answers")), ["production", None, "nobody answers"],
         "cluster production: nobody answers"),
        (ToyCluster(ClusterNow("c", (PAYMENTS,), {}), REFUSED), ["production", "payments", REFUSED],
         REFUSED),
    ],
)  # fmt: skip
def test_a_round_in_which_a_cluster_or_a_reading_failed_says_so_itself(tmp_path, monkeypatch, cluster, unread, message):
    run = one_round(tmp_path, monkeypatch, cluster)

    assert json.loads(run["unread"]) == [unread]
    assert (run["state"], run["message"], run["backlog"]) == ("done", message, None)


def test_a_round_with_nothing_new_to_read_has_read_everything(tmp_path, monkeypatch):
    run = one_round(tmp_path, monkeypatch, ToyCluster(ClusterNow("c", (), {})))

    assert (run["unread"], run["message"], run["backlog"]) == ("[]", None, 0)


def test_idle_rounds_of_one_process_share_a_row_that_says_since_when(tmp_path):
    cluster = ToyCluster(ClusterNow("c", (), {}))
    settings, log = Settings(clusters=(), store=StoreSettings(data_dir=str(tmp_path))), SegmentLog(tmp_path, "jobs")
    with MetricsWriter(tmp_path / METRICS_FILE) as metrics:
        live = LiveRounds(None, settings, [cluster], log, metrics, 0)
        for now_ms in (rounds.IDLE_LOOK_MS, 2 * rounds.IDLE_LOOK_MS):
            live.run_round(now_ms)
    log.close()

    (run,) = python_rows("job_runs", snapshot(tmp_path / METRICS_FILE)["job_runs"])
    assert run["started_at"] == 2 * rounds.IDLE_LOOK_MS
    assert run["run_id"] == f"live-idle-{run['idle_since']}"
    assert run["idle_since"] < run["ended_at"]


def test_the_first_round_says_how_far_it_has_read_though_there_was_nothing_to_read(tmp_path, monkeypatch):
    run = one_round(tmp_path, monkeypatch, ToyCluster(ClusterNow("c", (), {})))
    assert (run["unread"], run["backlog"]) == ("[]", 0)


@pytest.mark.parametrize(("days", "left"), [(35, {"live", "audit", "live-idle"}), (36, {"audit", "live-idle"})])
def test_live_runs_go_with_the_history_and_what_somebody_asked_for_stays(tmp_path, days, left):
    old = {"state": "done", "started_at": 86_400_000, "observed_at": 86_400_000}
    settings, log = Settings(clusters=(), store=StoreSettings(data_dir=str(tmp_path))), SegmentLog(tmp_path, "jobs")
    with MetricsWriter(tmp_path / METRICS_FILE) as metrics:
        with metrics.transaction() as transaction:
            transaction.replace("job_runs", [{**old, "run_id": job, "job": job} for job in ("live", "audit")])
        LiveRounds(None, settings, [], log, metrics, 0).run_round((days + 1) * 86_400_000)
    log.close()

    runs = python_rows("job_runs", snapshot(tmp_path / METRICS_FILE)["job_runs"])
    assert {"live-idle" if row["idle_since"] else row["run_id"] for row in runs} == left
