"""Until when a topic was read, and what hinders it: by looks of the record jobs, never by their being alive."""

import json

import pytest

from dashboard import queries, record_reading
from dashboard.record_reading import HowRead, Reading, how_read, reading, worst
from guarantees.promises import Verdict
from store.metrics import METRICS_FILE, MetricsWriter

REFUSED = "payments-0: Fetch: not permitted: TOPIC_AUTHORIZATION_FAILED"
SILENT = "no broker answers"


def look(at_ms, *unread):
    return {"unread": json.dumps(unread), "message": None, "has_left": False, "looked_at_ms": at_ms}


def older(at_ms, message=None, *, has_left=False):
    return {"unread": None, "message": message, "has_left": has_left, "looked_at_ms": at_ms}


def of_payments(*looks):
    return reading(looks, "production", "payments")


def test_a_topic_was_read_until_the_newest_look_that_left_none_of_it():
    refused = look(9_000, ["production", "payments", REFUSED])

    assert of_payments(look(5_000), refused) == Reading(5_000, REFUSED)
    assert reading([look(5_000), refused], "production", "orders") == Reading(9_000, None)
    assert of_payments(refused) == Reading(None, REFUSED)
    assert of_payments() == Reading(None, None)


def test_a_cluster_that_does_not_answer_leaves_all_of_its_topics_unread_and_no_others():
    silent = look(9_000, ["production", None, SILENT])

    assert of_payments(look(5_000), silent) == Reading(5_000, SILENT)
    assert reading([silent], "backup", "payments") == Reading(9_000, None)


def test_offsets_left_for_the_next_round_are_unread_and_nothing_hinders_them():
    assert of_payments(look(5_000), look(9_000, ["production", "payments", None])) == Reading(5_000, None)


def test_what_hindered_an_older_look_hinders_no_more():
    assert of_payments(look(5_000, ["production", "payments", REFUSED]), look(9_000)) == Reading(9_000, None)


@pytest.mark.parametrize(
    ("newest", "known"),
    [
        (older(9_000), Reading(9_000, None)),
        (older(9_000, "payments-0: no answer"), Reading(5_000, "payments-0: no answer")),
        (older(9_000, has_left=True), Reading(5_000, None)),
    ],
)
def test_a_run_that_names_no_topic_read_all_of_them_where_nothing_waited_or_was_left(newest, known):
    assert of_payments(older(5_000), newest) == known


def test_the_jobs_being_alive_makes_no_topic_fresh():
    refused = [look(0), look(600_000, ["production", "payments", REFUSED])]

    assert how_read(reading(refused, "production", "payments"), 600_000, 60_000) == HowRead(Verdict.STALE, REFUSED)
    assert how_read(reading(refused, "production", "orders"), 600_000, 60_000) == HowRead(Verdict.OK, None)


def test_of_several_topics_the_worst_counts():
    fine, stale = HowRead(Verdict.OK), HowRead(Verdict.STALE, SILENT)

    assert worst([fine, stale]) == stale
    assert worst([stale, HowRead(Verdict.UNKNOWN)]) == HowRead(Verdict.UNKNOWN, SILENT)
    assert worst([]) == HowRead(Verdict.UNKNOWN)


def test_a_panel_counts_the_topics_that_may_not_and_cannot_be_read_and_tells_the_right_first():
    age = record_reading.age([Reading(1_000, SILENT), Reading(None, REFUSED), Reading(5_000, None)], 60_000)

    assert (age.observed_at_ms, age.refused, age.failed, age.asked) == (5_000, 1, 1, 3)
    assert age.reasons == (REFUSED, SILENT)


def test_of_the_runs_only_live_ones_that_are_done_are_looks(tmp_path):
    run = {"job": "live", "state": "done", "started_at": 1_000, "backlog": 0, "observed_at": 2_000}
    with MetricsWriter(tmp_path / METRICS_FILE) as writer, writer.transaction() as metrics:
        metrics.replace("job_runs", [
            {**run, "run_id": "clean"},
            {**run, "run_id": "refused", "started_at": 3_000, "backlog": None, "message": REFUSED,
             "unread": json.dumps([["production", "payments", REFUSED]])},
            {**run, "run_id": "audit", "job": "audit", "started_at": 5_000},
            {**run, "run_id": "died", "state": "failed", "started_at": 5_000},
            {**run, "run_id": "after the window", "started_at": 5_000, "observed_at": 20_000},
        ])  # fmt: skip

    looks = queries.ask(tmp_path, 0, 10_000, queries.LOOKS, {})

    assert of_payments(*looks) == Reading(1_000, REFUSED)
    assert reading(looks, "production", "orders") == Reading(3_000, None)
