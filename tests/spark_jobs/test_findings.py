"""From rows of the metrics to finding events, through a real metrics file and a real log."""

import json
from contextlib import contextmanager

import pytest

from guarantees.findings import Grade, Kind
from guarantees.lifecycle import Change
from settings import PipelineSettings
from spark_jobs.findings import RecordFindings
from store.findings import load_events
from store.log import SegmentLog
from store.metrics import METRICS_FILE, MetricsWriter

HOUR_MS = 3_600_000
PIPELINE = PipelineSettings(name="billing", cluster="test", source="orders", group="g", sink="bills", rate=0.5)
PLACE = {"cluster_id": "c", "topic": "orders", "topic_id": "t", "partition": 0}
COPY = {"partition": 0, "producer_id": 1, "producer_epoch": 0, "sequence": 3, "timestamp_ms": 5}


def duplicate_row(first_offset, extra, *, at_ms=1_000, rate=0.5, producer_id=2, **bounds):
    example = {"message_id": "m", "first": {**COPY, "offset": 1}, "last": {**COPY, "offset": first_offset}}
    return {
        **PLACE, "first_offset": first_offset, "cause": "other_producer_id", "first_producer_id": 1,
        "producer_id": producer_id, "producer_epoch": 0, "sampled_extra_copies": extra, "estimate": 2 * extra,
        "lower": extra, "upper": 9 * extra, "sampling_rate": rate, "horizon_s": 3600.0,
        "first_copy_offset": first_offset, "last_copy_offset": first_offset + extra,
        "examples": json.dumps([example]), "observed_at": at_ms, **bounds,
    }  # fmt: skip


def losses_row(**changed):
    return {
        "pipeline": "billing", **PLACE, "judged_from": 0, "judged_to": 100, "ids_judged": 50, "ids_unseen": 0,
        "ids_lost": 1, "ids_late": 0, "sampling_rate": 0.5, "settle_s": 10.0, "sink_read_to": "[[0, 99]]",
        "observed_at": 1_000, **changed,
    }  # fmt: skip


def lost_row(offset, *, state="lost", passed_at=500, observed_at=1_000, **changed):
    return {
        "pipeline": "billing", **PLACE, "offset": offset, "id_hash": offset, "message_id": f"m{offset}", "state": state,
        "record_observed_at": 100, "passed_at": passed_at, "decided_at": 1_000, "observed_at": observed_at,
        **changed,
    }  # fmt: skip


@contextmanager
def evaluating(data_dir):
    log = SegmentLog(data_dir, "h_jobs")
    with MetricsWriter(data_dir / METRICS_FILE) as metrics:
        yield metrics, RecordFindings(data_dir, log, [PIPELINE])
    log.close()


def evaluate(metrics, findings, now_ms, rows, pipelines=(), since_ms=0):
    with metrics.transaction() as transaction:
        for table, table_rows in rows.items():
            transaction.replace(table, table_rows)
        found = findings.judge(transaction, pipelines, since_ms=since_ms, now_ms=now_ms)
    findings.append(found, now_ms)


def told(data_dir):
    return [(event.change, event.finding.kind) for event in load_events(data_dir)]


def test_copies_and_lost_ids_are_each_scaled_by_the_rate_they_were_seen_at(tmp_path):
    rows = {
        "duplicates": [duplicate_row(10, 3, rate=1.0), duplicate_row(50, 4, rate=0.25), duplicate_row(90, 2)],
        "losses": [losses_row(sampling_rate=0.125)],
        "lost_ids": [lost_row(5, sampling_rate=1.0), lost_row(6, sampling_rate=0.25), lost_row(7)],
    }
    with evaluating(tmp_path) as (metrics, findings):
        evaluate(metrics, findings, 3_000, rows, ["billing"])

    found = {event.finding.kind: event.finding for event in load_events(tmp_path)}
    assert found[Kind.DUPLICATE_WRITE].bounds.estimate == 3 + 4 * 4 + 2 * 2
    assert found[Kind.LOST_WRITE].bounds.estimate == 1 + 4 + 8, "one from before rates were kept has that of its losses"
    assert [each.evidence["sampling_rate"] for each in found.values()] == [0.25, 0.125]


def test_duplicates_of_several_ranges_are_one_finding(tmp_path):
    rows = [duplicate_row(10, 3), duplicate_row(50, 4, at_ms=2_000)]
    with evaluating(tmp_path) as (metrics, findings):
        evaluate(metrics, findings, 3_000, {"duplicates": rows})

    (event,) = load_events(tmp_path)
    finding = event.finding
    assert (finding.bounds.estimate, finding.happened_at_ms, finding.last_seen_at_ms) == (14, 1_000, 2_000)
    assert finding.bounds.lower < 14 < finding.bounds.upper
    assert finding.evidence["first_offset"] == 10
    assert [example["last"]["offset"] for example in finding.evidence["examples"]] == [10, 50]
    assert finding.pipeline == "billing"


def test_single_range_keeps_the_interval_it_was_given(tmp_path):
    with evaluating(tmp_path) as (metrics, findings):
        evaluate(metrics, findings, 2_000, {"duplicates": [duplicate_row(10, 3, lower=3, estimate=6, upper=40)]})

    bounds = load_events(tmp_path)[0].finding.bounds
    assert (bounds.lower, bounds.estimate, bounds.upper) == (3, 6, 40)


def test_other_producers_are_other_findings(tmp_path):
    rows = [duplicate_row(10, 3), duplicate_row(50, 3, producer_id=7)]
    with evaluating(tmp_path) as (metrics, findings):
        evaluate(metrics, findings, 2_000, {"duplicates": rows})

    assert len({event.finding.finding_id for event in load_events(tmp_path)}) == 2


def test_evaluating_again_says_nothing_new_even_after_a_restart(tmp_path):
    with evaluating(tmp_path) as (metrics, findings):
        evaluate(metrics, findings, 2_000, {"duplicates": [duplicate_row(10, 3)]})
        evaluate(metrics, findings, 3_000, {})
    with evaluating(tmp_path) as (metrics, findings):
        evaluate(metrics, findings, 4_000, {})

    assert told(tmp_path) == [(Change.OPENED, Kind.DUPLICATE_WRITE)]


def test_duplicates_close_when_none_was_added_for_the_horizon(tmp_path):
    with evaluating(tmp_path) as (metrics, findings):
        evaluate(metrics, findings, 2_000, {"duplicates": [duplicate_row(10, 3)]})
        evaluate(metrics, findings, 1_000 + HOUR_MS, {})
        evaluate(metrics, findings, 1_001 + HOUR_MS, {})

    assert [change for change, _ in told(tmp_path)] == [Change.OPENED, Change.CLOSED]


def test_duplicates_settled_long_ago_are_not_looked_at(tmp_path):
    with evaluating(tmp_path) as (metrics, findings):
        evaluate(metrics, findings, 5_000, {"duplicates": [duplicate_row(10, 3)]}, since_ms=1_001)

    assert told(tmp_path) == []


def test_lost_ids_are_a_finding_with_the_interval_of_their_number(tmp_path):
    rows = {"losses": [losses_row()], "lost_ids": [lost_row(5), lost_row(6)]}
    with evaluating(tmp_path) as (metrics, findings):
        evaluate(metrics, findings, 2_000, rows, ["billing"])

    (event,) = load_events(tmp_path)
    bounds, finding = event.finding.bounds, event.finding
    assert (bounds.lower, bounds.estimate, bounds.upper) == (2, 4, 11)
    assert (finding.place.group_id, finding.grade, finding.happened_at_ms) == ("g", Grade.PROBABLE, 500)
    assert finding.evidence["sink_read_to"] == [[0, 99]]


def test_loss_closes_when_the_last_id_came_late(tmp_path):
    with evaluating(tmp_path) as (metrics, findings):
        evaluate(
            metrics, findings, 2_000, {"losses": [losses_row()], "lost_ids": [lost_row(5), lost_row(6)]}, ["billing"]
        )
        evaluate(metrics, findings, 3_000, {"lost_ids": [lost_row(5, state="late", observed_at=3_000)]}, ["billing"])
        evaluate(metrics, findings, 4_000, {"lost_ids": [lost_row(6, state="late", observed_at=4_000)]}, ["billing"])

    assert [change for change, _ in told(tmp_path)] == [Change.OPENED, Change.UPDATED, Change.CLOSED]


@pytest.mark.parametrize(("gap_ms", "episodes"), [(10_000, 1), (10_001, 2)])
def test_ids_passed_further_apart_than_the_settle_delay_are_episodes_of_their_own(tmp_path, gap_ms, episodes):
    rows = {"losses": [losses_row()], "lost_ids": [lost_row(5), lost_row(6, passed_at=500 + gap_ms)]}
    with evaluating(tmp_path) as (metrics, findings):
        evaluate(metrics, findings, 20_000, rows, ["billing"])

    assert len(load_events(tmp_path)) == episodes


DAY_MS = 24 * HOUR_MS


def test_one_new_lost_id_makes_no_old_loss_a_new_one(tmp_path):
    now_ms = 10 * DAY_MS
    old = [lost_row(offset) for offset in range(5, 1_005)]
    new = lost_row(2_000, passed_at=now_ms - 60_000, decided_at=now_ms, observed_at=now_ms)
    with evaluating(tmp_path) as (metrics, findings):
        evaluate(metrics, findings, 2_000, {"losses": [losses_row()], "lost_ids": old}, ["billing"])
        evaluate(metrics, findings, now_ms, {"lost_ids": [new]}, ["billing"])

    before, after = (event.finding for event in load_events(tmp_path))
    assert (before.evidence["sampled_lost"], before.last_seen_at_ms) == (1_000, 1_000)
    assert (after.evidence["sampled_lost"], after.happened_at_ms, after.last_seen_at_ms) == (1, now_ms - 60_000, now_ms)


def test_a_late_id_is_written_as_news_and_leaves_the_others_lost_when_they_were(tmp_path):
    late = lost_row(6, state="late", observed_at=9_000)
    with evaluating(tmp_path) as (metrics, findings):
        rows = {"losses": [losses_row()], "lost_ids": [lost_row(5), lost_row(6)]}
        evaluate(metrics, findings, 2_000, rows, ["billing"])
        evaluate(metrics, findings, 9_000 + HOUR_MS, {"lost_ids": [late]}, ["billing"])

    finding = load_events(tmp_path)[-1].finding
    assert (finding.evidence["sampled_lost"], finding.last_seen_at_ms) == (1, 9_000)
    assert finding.evidence["decided_at_ms"] == 1_000
