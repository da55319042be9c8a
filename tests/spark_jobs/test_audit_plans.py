"""What an exact audit reads of a partition, and what it says it cannot see. Pure tables of cases."""

from dataclasses import replace

import pytest

from guarantees.audits import Job
from guarantees.unknown import Unknown
from settings import MessageId, PipelineSettings, Security, SparkSettings
from spark_jobs.audits import planning, words, working
from spark_jobs.audits.blocks import Account
from spark_jobs.audits.plans import SINK, SOURCE, AuditPlan, Mapped, planned_range, remaining, shared_out
from spark_jobs.audits.reading import of_ids
from spark_jobs.audits.tallies import Tally
from spark_jobs.audits.tasks import Outcome, in_lanes
from spark_jobs.ranges import OffsetRange, Part
from spark_jobs.session import tasks_at_once
from spark_jobs.sources.kafka_ranges import RangeRequest
from spark_jobs.sources.open_clusters import OpenClusters
from store.audit_requests import AuditRequest
from store.log import SegmentLog
from tests.spark_jobs.histories import audit_range, plan

MINUTE_MS = 60_000


def pipeline(**changed):
    known = {"sink": "bills", "settle_s": 60.0, "id": MessageId(header="id")}
    return PipelineSettings(name="p", cluster="c", source="orders", group="g", **{**known, **changed})


def mapped(moments, log_start=0, stable=100, high=100):
    return Mapped(Part("c", "orders", "id", 0), 1, log_start, stable, high, moments)


@pytest.mark.parametrize(("given", "read", "window", "undecided"), [
    (mapped((10, 20, 30, 40)), (10, 40), (20, 30), 0),
    (mapped((10, 20, 30, 40), log_start=25), (25, 40), (25, 30), 0),
    (mapped((10, 20, 30, 40), log_start=35), (35, 40), (35, 35), 0),
    (mapped((10, 20, 90, 100), stable=50), (10, 50), (20, 50), 40),
    (mapped((60, 70, 90, 100), stable=50), (50, 50), (50, 50), 20),
    (mapped((10, 20, 100, 100), stable=100), (10, 100), (20, 100), 0),
    (mapped((100, 100, 100, 100)), (100, 100), (100, 100), 0),
    (mapped((10, 20, 30, 40), stable=120, high=100), (10, 40), (20, 30), 0),
], ids=["whole", "edge purged", "all purged", "open transaction", "opened before", "to the end", "nothing since",
        "stable above"])  # fmt: skip
def test_a_range_is_cut_at_the_log_start_and_at_the_stable_offset_and_says_what_it_cut(given, read, window, undecided):
    each = planned_range(SOURCE, given, is_compacted=False, searches_on=False)

    assert ((each.read_first, each.read_next), (each.window_first, each.window_next)) == (read, window)
    assert each.undecided == undecided
    assert each.search_next == each.read_next


def test_only_the_sink_is_searched_on_to_its_stable_end():
    assert planned_range(SINK, mapped((1, 2, 3, 4), stable=70), is_compacted=False, searches_on=True).search_next == 70


def test_a_plan_survives_the_way_through_the_store():
    before = plan(sink={"committed_to": 5, "is_compacted": True})

    assert AuditPlan.from_json(before.to_json()) == before


def test_a_plan_keeps_the_parts_its_files_are_split_by_whatever_a_newer_one_would_have(monkeypatch):
    monkeypatch.setattr("spark_jobs.audits.plans.IDS_AT_ONCE", 40)
    before = plan()
    monkeypatch.setattr("spark_jobs.audits.plans.IDS_AT_ONCE", 80)

    assert (AuditPlan.from_json(before.to_json()).buckets, plan().buckets) == (4, 2)


@pytest.mark.parametrize(("done", "left"), [
    ([], [(0, 10)]), ([(0, 10)], []), ([(0, 4)], [(4, 10)]), ([(6, 10), (2, 4)], [(0, 2), (4, 6)]),
    ([(3, 10)], [(0, 3)]),
])  # fmt: skip
def test_what_remains_is_what_no_file_covers(done, left):
    assert remaining(0, 10, done) == left


def test_a_long_piece_is_cut_so_that_every_worker_has_work_and_nothing_is_read_twice():
    each = audit_range(SOURCE, 0)

    shared = shared_out([(each, 0, 1_000_000)], 4)

    assert sorted((first, following) for _, first, following in shared) == [
        (0, 250_000), (250_000, 500_000), (500_000, 750_000), (750_000, 1_000_000),
    ]  # fmt: skip
    assert shared_out([(each, 0, 1_000)], 4) == [(each, 0, 1_000)]
    assert [piece[1:] for piece in shared_out([(each, 0, 5), (each, 9, 99), (each, 5, 9)], 2)] == [
        (9, 99), (0, 5), (5, 9),
    ]  # fmt: skip


def test_a_worker_goes_on_with_its_next_task_while_there_is_time(monkeypatch):
    monkeypatch.setattr(working, "work", lambda task, _clusters: Outcome(offsets=task))
    (first, second) = in_lanes([1, 2, 3, 4, 5], 2, until_ms=10**15)

    assert (first.tasks, second.tasks) == ((1, 3, 5), (2, 4))
    assert (working.work_lane(first).done, working.work_lane(first).offsets) == (3, 9)
    assert working.work_lane(replace(first, until_ms=0)).done == 1


def test_a_task_that_failed_is_not_done_and_the_others_of_its_lane_are(monkeypatch):
    monkeypatch.setattr(working, "work", lambda task, _clusters: Outcome(error=task))
    (lane,) = in_lanes([None, "nobody answered", "nor there"], 1, until_ms=10**15)

    assert (working.work_lane(lane).done, working.work_lane(lane).error) == (1, "nobody answered")


def test_the_edges_are_a_settle_delay_long_and_never_before_time():
    asked = AuditRequest("r", 0, "Ada", Job.AUDIT, "p", 30_000, 5 * MINUTE_MS)

    assert planning.moments(asked, pipeline()) == (0, 30_000, 5 * MINUTE_MS, 6 * MINUTE_MS)


def test_the_group_is_taken_to_be_where_it_was_a_settle_delay_ago(tmp_path):
    now = 1_800_000_000_000
    with_group = {"cluster_id": "c", "group_id": "g", "topic": "orders", "topic_id": "id", "partition": 0, "tick": 1}
    log = SegmentLog(tmp_path, "collect")
    log.append("committed_offsets", [
        {**with_group, "observed_at": now - ago_ms, "committed_offset": offset}
        for ago_ms, offset in ((3 * MINUTE_MS, 100), (2 * MINUTE_MS, 90), (MINUTE_MS // 2, 500))
    ])  # fmt: skip
    log.close()

    assert planning.committed_for(tmp_path, "c", pipeline(), now) == {("id", 0): 100}
    assert planning.committed_for(tmp_path, "other", pipeline(), now) == {}


@pytest.mark.parametrize(("policy", "expected"), [
    ({"cleanup.policy": "compact,delete"}, True), ({"cleanup.policy": "delete"}, False), (Unknown("no right"), False),
])  # fmt: skip
def test_only_a_known_policy_explains_a_gap(policy, expected):
    assert planning.is_compacted(policy) is expected


@pytest.mark.parametrize(("changed", "is_whole"), [
    ({}, True),
    ({"undecided": 3}, False),
    ({"log_start_offset": 10}, False),
    ({"window_next": 31}, False),
    ({"window_next": 31, "is_compacted": True}, True),
])  # fmt: skip
def test_a_window_is_whole_only_where_every_offset_is_explained(changed, is_whole):
    each = audit_range(SOURCE, 0, **changed)
    planned = AuditPlan(Job.AUDIT, "c", 0, (each,), (), 100)

    assert Tally(planned, {"source-0": Account(visible=15, aborted=3, markers=2)}).is_whole is is_whole
    assert not Tally(planned, {"source-0": Account(visible=15, aborted=3, purged=2)}).is_whole


SPOKEN = {
    "out of order": ({}, {}, "where those are out of order"),
    "the edges": ({}, {}, "are sought 60 s before and after it"),
    "the id": ({"id": MessageId(key=True)}, {}, "the 64-bit hashes of their ids (key) are equal"),
    "one to one": ({}, {}, "PROBABLE losses at most"),
    "no commit": ({}, {}, "is not known of orders-0: it is taken to have passed the window"),
    "purged": ({}, {"log_start_offset": 10}, "begins at the log start of orders-0"),
    "open transaction": ({}, {"undecided": 7}, "7 offsets of the window lie above the last stable offset"),
}


@pytest.mark.parametrize("case", SPOKEN)
def test_what_limits_a_figure_is_said(case):
    changed, of_range, said = SPOKEN[case]
    ranges = [audit_range(SOURCE, 0, **of_range), audit_range(SINK, 0)]

    assert said in " ".join(words.blind_spots(Job.AUDIT, pipeline(**changed), ranges, []))


def test_what_does_not_limit_a_figure_is_not_said():
    ranges = [audit_range(SOURCE, 0, committed_to=30), audit_range(SINK, 0)]
    said = " ".join(words.blind_spots(Job.AUDIT, pipeline(one_to_one=True), ranges, []))

    assert not [word for word in ("PROBABLE", "not known", "log start", "open transaction") if word in said]
    assert "sink" not in " ".join(words.blind_spots(Job.DUPLICATES, pipeline(), ranges, []))


def test_without_a_sink_losses_are_called_not_observable():
    assert "not observable" in " ".join(words.blind_spots(Job.AUDIT, pipeline(sink=None), [audit_range(SOURCE, 0)], []))


@pytest.mark.parametrize(("master", "conf", "tasks"), [
    ("local[3]", {}, 3), ("local[2,4]", {}, 2), ("local", {}, 1), ("spark://host:7077", {}, 8),
    ("spark://host:7077", {"spark.default.parallelism": "32"}, 32),
])  # fmt: skip
def test_a_slice_has_as_many_tasks_as_the_master_runs_side_by_side(master, conf, tasks):
    assert tasks_at_once(SparkSettings(master=master, conf=conf)) == tasks


@pytest.mark.parametrize(("reached", "purged_to", "in_window"), [
    (0, 5, 0), (0, 15, 5), (12, 40, 18), (28, 90, 2), (40, 50, 0), (12, None, 0),
])  # fmt: skip
def test_a_purged_stretch_is_counted_only_where_it_lies_in_the_window(reached, purged_to, in_window):
    wanted = OffsetRange(Part("c", "orders", "id", 0), 1, reached, 100)
    reading = of_ids(RangeRequest(wanted, "nobody:1", Security(), MessageId(key=True), 1.0, 60.0, True), OpenClusters())
    reading.purged_to = purged_to

    assert reading.pass_purged((10, 30)) == in_window
    assert reading.reached == (purged_to or reached)
