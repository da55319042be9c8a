"""Until when a topic was read, and what hinders it: by looks of the record jobs, never by their being alive."""

import json

import pytest

from dashboard import queries, record_reading
from dashboard.record_reading import HowRead, Reading, how_read, never_compared, worst
from guarantees.promises import Verdict
from store.metrics import METRICS_FILE, MetricsWriter

REFUSED = "payments-0: Fetch: not permitted: TOPIC_AUTHORIZATION_FAILED"
SILENT = "no broker answers"
LASTED = 100  # ms, of every look


def look(at_ms, *unread):
    return {"unread": json.dumps(unread), "message": None, "has_left": False, **times(at_ms)}


def older(at_ms, message=None, *, has_left=False):
    return {"unread": None, "message": message, "has_left": has_left, **times(at_ms)}


def times(at_ms):
    return {"looked_at_ms": at_ms, "ended_at_ms": at_ms + LASTED}


def read(looks, topic="payments", cluster="production"):
    return record_reading.reading(record_reading.looks(looks, cluster), topic)


def of_payments(*looks):
    return read(looks)


def until(at_ms, why=None):
    return Reading(at_ms, None if at_ms is None else at_ms + LASTED, why)


def test_a_topic_was_read_until_the_newest_look_that_left_none_of_it():
    refused = look(9_000, ["production", "payments", REFUSED])

    assert of_payments(look(5_000), refused) == until(5_000, REFUSED)
    assert read([look(5_000), refused], "orders") == until(9_000)
    assert of_payments(refused) == until(None, REFUSED)
    assert of_payments() == until(None)


def test_a_cluster_that_does_not_answer_leaves_all_of_its_topics_unread_and_no_others():
    silent = look(9_000, ["production", None, SILENT])

    assert of_payments(look(5_000), silent) == until(5_000, SILENT)
    assert read([silent], cluster="backup") == until(9_000)


def test_offsets_left_for_the_next_round_are_unread_and_nothing_hinders_them():
    assert of_payments(look(5_000), look(9_000, ["production", "payments", None])) == until(5_000)


def test_what_hindered_an_older_look_hinders_no_more():
    assert of_payments(look(5_000, ["production", "payments", REFUSED]), look(9_000)) == until(9_000)


@pytest.mark.parametrize(
    ("newest", "known"),
    [
        (older(9_000), until(9_000)),
        (older(9_000, "payments-0: no answer"), until(5_000, "payments-0: no answer")),
        (older(9_000, has_left=True), until(5_000)),
    ],
)
def test_a_run_that_names_no_topic_read_all_of_them_where_nothing_waited_or_was_left(newest, known):
    assert of_payments(older(5_000), newest) == known


def test_the_jobs_being_alive_makes_no_topic_fresh():
    refused = [look(0), look(600_000, ["production", "payments", REFUSED])]

    assert how_read(read(refused), 600_000, 60_000) == HowRead(Verdict.STALE, REFUSED)
    assert how_read(read(refused, "orders"), 600_000, 60_000) == HowRead(Verdict.OK, None)


def test_a_look_that_takes_long_is_late_by_when_the_one_before_it_ended():
    long = Reading(0, 100_000, None)
    assert how_read(long, 220_000, 60_000).verdict is Verdict.OK
    assert how_read(long, 220_001, 60_000).verdict is Verdict.STALE


def test_of_several_topics_the_worst_counts():
    fine, stale = HowRead(Verdict.OK), HowRead(Verdict.STALE, SILENT)

    assert worst([fine, stale]) == stale
    assert worst([stale, HowRead(Verdict.UNKNOWN)]) == HowRead(Verdict.UNKNOWN, SILENT)
    assert worst([]) == HowRead(Verdict.UNKNOWN)


def test_a_day_of_which_too_much_was_never_compared_is_unknown_however_fresh_the_reading():
    assert how_read(until(0), 1_000, 60_000, "7 offsets") == HowRead(Verdict.UNKNOWN, None, "7 offsets")
    assert worst([HowRead(Verdict.UNKNOWN, None, "7 offsets"), HowRead(Verdict.STALE, SILENT)]) == HowRead(
        Verdict.UNKNOWN, SILENT, "7 offsets"
    )


@pytest.mark.parametrize(
    ("columns", "missed"),
    [
        ({}, None),
        ({"purged_offsets": 1}, "1 offset of orders purged before they were read"),
        ({"gap_offsets": 2_000}, "2,000 offsets of orders in no range read"),
        ({"records_without_id": 5}, None),
        ({"records_without_id": 6}, "6 of 10 records of orders without an id"),
        ({"records": 0}, None),
    ],
)
def test_each_offset_that_nobody_read_counts_and_records_without_an_id_once_they_are_most(columns, missed):
    row = {"topic": "orders", "records": 10, "records_without_id": 0, "purged_offsets": 0, "gap_offsets": 0} | columns

    assert never_compared([row]) == ({"orders": missed} if missed else {})


def test_a_panel_counts_the_topics_that_may_not_and_cannot_be_read_and_tells_the_right_first():
    known = [until(1_000, SILENT), until(None, REFUSED), until(499_900), until(499_900, SILENT)]
    age = record_reading.age(known, 500_000, 60_000)

    assert (age.observed_at_ms, age.refused, age.failed, age.asked) == (500_000, 1, 1, 4)
    assert age.reasons == (REFUSED, SILENT)


def test_of_the_runs_only_live_ones_that_are_done_are_looks(tmp_path):
    run = {"job": "live", "state": "done", "started_at": 1_000, "ended_at": 1_100, "backlog": 0, "observed_at": 2_000}
    with MetricsWriter(tmp_path / METRICS_FILE) as writer, writer.transaction() as metrics:
        metrics.replace("job_runs", [
            {**run, "run_id": "clean"},
            {**run, "run_id": "refused", "started_at": 3_000, "ended_at": 3_100, "backlog": None, "message": REFUSED,
             "unread": json.dumps([["production", "payments", REFUSED]])},
            {**run, "run_id": "audit", "job": "audit", "started_at": 5_000},
            {**run, "run_id": "died", "state": "failed", "started_at": 5_000},
        ])  # fmt: skip

    looks = queries.ask(tmp_path, 0, 10_000, queries.LOOKS, {})

    assert of_payments(*looks) == until(1_000, REFUSED)
    assert read(looks, "orders") == until(3_000)


def test_a_topic_tells_of_copies_where_it_is_read_to_its_end_and_has_ids_or_nothing_was_written_to_it():
    rows = [
        {"topic": "no ids", "records": 5, "records_without_id": 5},
        {"topic": "empty", "records": 0, "records_without_id": 0},
        {"topic": "purged", "records": 0, "records_without_id": 0, "purged_offsets": 7},
        {"topic": "with a gap", "records": 0, "records_without_id": 0, "gap_offsets": 7},
        {"topic": "some ids", "records": 5, "records_without_id": 4},
        {"topic": "stale", "records": 5, "records_without_id": 4},
    ]
    rows = [{"purged_offsets": 0, "gap_offsets": 0} | row for row in rows]
    topics = [*(row["topic"] for row in rows), "quiet", "quiet and stale", "never watched"]
    how = {topic: HowRead(Verdict.STALE if "stale" in topic else Verdict.OK) for topic in topics}

    asked = []

    def covered_before(without_row):
        asked.extend(without_row)
        return ["quiet", "quiet and stale"]

    told = record_reading.tell_of_copies(rows, topics, covered_before, how.__getitem__)

    assert asked == ["never watched", "quiet", "quiet and stale"], "those with a row need no other"

    assert [row["topic"] for row in told] == ["some ids", "empty", "quiet"]
    assert told[1]["rate"] == 1.0, "all of nothing was compared"
