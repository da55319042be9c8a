from spark_jobs.commits import CommitSample
from spark_jobs.loss_steps import Judged, next_step, sink_needed_since
from spark_jobs.losses import LATE, late_arrivals
from spark_jobs.ranges import Part

PART = Part("c", "orders", "topic-1", 0)
COMMITS = [CommitSample(1_000, 10), CommitSample(2_000, 20), CommitSample(3_000, 30)]


def step(before=None, commits=COMMITS, covered_to=100, watched_since_ms=0, until_ms=2_500):
    return next_step(PART, before, commits, covered_to=covered_to, watched_since_ms=watched_since_ms, until_ms=until_ms)


def test_pipeline_is_judged_from_where_its_commit_stood_when_watching_began():
    assert step(watched_since_ms=1_500).before == Judged(10, 10)


def test_group_without_a_commit_is_not_judged():
    assert step(commits=[]) is None


def test_ids_are_due_as_far_as_the_commit_had_come_when_the_sink_was_read():
    found = step(Judged(0, 5))

    assert (found.due_to, found.seen_to, found.is_due) == (20, 30, True)


def test_nothing_is_due_while_the_sink_is_unread():
    found = step(Judged(0, 5), until_ms=None)

    assert (found.due_to, found.is_due) == (5, False)


def test_nothing_is_judged_that_was_not_read():
    found = step(Judged(0, 5), covered_to=12)

    assert (found.due_to, found.seen_to) == (12, 12)


def test_rewind_never_unjudges():
    assert step(Judged(0, 25)).due_to == 25


def test_sink_is_needed_from_before_the_first_due_id_can_have_been_processed():
    steps = {PART: step(Judged(0, 10))}

    assert sink_needed_since(steps, {PART: COMMITS}) == 1_000


def test_whole_sink_is_needed_where_no_sample_bounds_the_first_due_id():
    steps = {PART: step(Judged(0, 5))}

    assert sink_needed_since(steps, {PART: COMMITS}) is None


def lost(id_hash, offset):
    return {"topic_id": "topic-1", "partition": 0, "offset": offset, "id_hash": id_hash, "state": "lost", "missing": 1}


def test_late_arrival_names_where_it_was_first_found():
    by_hash = {7: [lost(7, 3), lost(7, 4)], 8: [lost(8, 5)]}

    rows = late_arrivals(by_hash, [("bills", 1, 40, 7), ("bills", 1, 41, 7), ("bills", 0, 9, 99)], now_ms=5)

    assert sorted((row["offset"], row["state"], row["found_at"]) for row in rows) == [
        (3, LATE, "bills-1:40"), (4, LATE, "bills-1:40"),
    ]  # fmt: skip


def test_a_lost_id_is_late_only_when_the_last_of_its_records_has_come():
    by_hash = {7: [{**lost(7, 3), "missing": 3}]}

    (waiting,) = late_arrivals(by_hash, [("bills", 1, 40, 7), ("bills", 1, 41, 7)], now_ms=5)
    (late,) = late_arrivals({7: [waiting]}, [("bills", 0, 9, 7), ("bills", 0, 10, 7)], now_ms=6)

    assert (waiting["state"], waiting["missing"], waiting["observed_at"]) == ("lost", 1, 5)
    assert (late["state"], late["missing"], late["found_at"]) == (LATE, 0, "bills-0:9")


def test_a_lost_id_of_a_store_from_before_fan_outs_lacks_one_record():
    (row,) = late_arrivals({7: [{**lost(7, 3), "missing": None}]}, [("bills", 1, 40, 7)], now_ms=5)

    assert row["state"] == LATE
