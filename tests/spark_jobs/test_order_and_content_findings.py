"""Exact audits of order and of content tell what they found, under one identity however often they are repeated."""

import json
from dataclasses import replace

import pytest

from guarantees.findings import Kind
from guarantees.lifecycle import Change
from settings import RecordOrder
from store.findings import load_events, load_findings
from tests.spark_jobs import test_findings
from tests.spark_jobs.test_findings import HOUR_MS, PIPELINE, PLACE, evaluate, evaluating, told

FROM_MS, TO_MS, ENDED_MS = 1_000, 5_000, 20_000


@pytest.fixture(autouse=True)
def an_order_is_declared(monkeypatch):
    monkeypatch.setattr(test_findings, "PIPELINE", replace(PIPELINE, order=RecordOrder(header="n")))


def audit(job, *, name="a", run="1", window=(0, 100), ended_ms=ENDED_MS, **counted):
    """A run that is done, and its one range."""
    known = {"audit_id": name, "run_id": f"{name}{run}", "pipeline": "billing", "observed_at": ended_ms}
    source = {**known, **PLACE, "side": "source", "first_offset": window[0], "next_offset": window[1],
              "below_log_start": 0, **counted}  # fmt: skip
    done = {**known, "job": job, "state": "done", "window_from": FROM_MS, "window_to": TO_MS}
    return {"audit_runs": [done], "audit_ranges": [source]}


def order(number, first_offset, *, first_producer_id=1, producer_id=2, name="a", run="1", ended_ms=ENDED_MS, **audited):
    record = {"timestamp_ms": 2_000, "producer_id": 1, "producer_epoch": 0, "sequence": 0}
    example = {"key": "k", "key_hash": 5, "earlier": {**record, "place": 9, "offset": first_offset - 4},
               "later": {**record, "place": 7, "offset": first_offset}}  # fmt: skip
    row = {"audit_id": name, "run_id": f"{name}{run}", "pipeline": "billing", **PLACE,
           "first_producer_id": first_producer_id, "producer_id": producer_id,
           "producer_epoch": 0 if producer_id >= 0 else -1, "out_of_order": number, "keys": 1,
           "first_offset": first_offset, "last_offset": first_offset + number, "nearest_offsets": 4,
           "farthest_offsets": 4 + number, "examples": json.dumps([example]), "observed_at": ended_ms}  # fmt: skip
    counted = {"out_of_order": number, "keys_elsewhere": 3, "ordered": 50, "keys": 9}
    return {**audit("order", name=name, run=run, ended_ms=ended_ms, **counted, **audited), "audit_order": [row]}


def content(*copies, counted=None, name="a", run="1", ended_ms=ENDED_MS, **audited):
    """`copies`: pairs of a base offset and the copy that differs there."""
    rows = [{"audit_id": name, "run_id": f"{name}{run}", "pipeline": "billing", **PLACE, "base_offset": offset,
             "copy": copy, "leader_epoch": 3, "crc": 1, "copy_leader_epoch": 3, "copy_crc": 2,
             "observed_at": ended_ms} for offset, copy in copies]  # fmt: skip
    known = {"batches": 9, "batches_compared": 18, "copies_silent": 0, **audited}
    known["batches_differing"] = len(copies) if counted is None else counted
    return {**audit("content", name=name, run=run, ended_ms=ended_ms, **known), "audit_content": rows}


def judged(folder, *steps):
    """The findings after audits that commit one after another, as the desk commits them: the old rows give way."""
    with evaluating(folder) as (metrics, findings):
        for number, rows in enumerate(steps):
            (done,) = rows["audit_runs"]
            with metrics.transaction() as transaction:
                for table in ("audit_ranges", "audit_order", "audit_content"):
                    transaction.delete(table, "audit_id = ?", [done["audit_id"]])
            evaluate(metrics, findings, done["observed_at"] + number, rows, ["billing"])
    return [history.finding for history in load_findings(folder).values()]


def test_an_audit_of_order_is_a_finding_with_its_exact_count_and_what_it_compared(tmp_path):
    (finding,) = judged(tmp_path, order(12, 44))

    assert (finding.kind, finding.bounds.lower, finding.bounds.upper) == (Kind.OUT_OF_ORDER, 12, 12)
    assert (finding.evidence["cause"], finding.evidence["keys_elsewhere"]) == ("other_producer", 3)
    assert (finding.evidence["order"], finding.evidence["audited"]) == ("the number in the header n", [[0, 100]])
    assert (finding.happened_at_ms, finding.last_seen_at_ms) == (2_000, ENDED_MS)


@pytest.mark.parametrize(
    ("first_producer_id", "producer_id", "cause"),
    [(1, 1, "same_producer"), (1, 2, "other_producer"), (-1, 2, "not_idempotent"), (2, -1, "not_idempotent"),
     (-1, -1, "not_idempotent")],
)  # fmt: skip
def test_the_cause_is_read_from_both_producers(tmp_path, first_producer_id, producer_id, cause):
    (finding,) = judged(tmp_path, order(1, 44, first_producer_id=first_producer_id, producer_id=producer_id))

    assert finding.evidence["cause"] == cause
    assert finding.evidence["producer_id"] == (None if producer_id < 0 else producer_id)


def test_the_same_window_audited_again_tells_nothing_new(tmp_path):
    judged(tmp_path, order(12, 44), order(12, 44, run="2"))

    assert told(tmp_path) == [(Change.OPENED, Kind.OUT_OF_ORDER)]


def test_audits_of_other_windows_add_to_it_and_overlapping_ones_count_once(tmp_path):
    beside, over = order(5, 144, name="b", window=(100, 200)), order(20, 60, name="c", window=(50, 100))
    (finding,) = judged(tmp_path, order(12, 44), beside, over)

    assert finding.bounds.lower == 20 + 5
    assert finding.evidence["audited"] == [[50, 100], [100, 200]]
    assert (finding.evidence["first_offset"], finding.evidence["last_offset"]) == (60, 149)


@pytest.mark.parametrize("most", [0, 1])
def test_audits_of_windows_that_touch_add_up_whichever_found_more(tmp_path, most):
    numbers = (5, 3) if most == 0 else (3, 5)
    audits = [order(n, 10 + 100 * k, name="ab"[k], window=(100 * k, 100 * k + 100)) for k, n in enumerate(numbers)]

    assert judged(tmp_path, *audits)[0].bounds.lower == 8


def test_disorder_closes_when_no_audit_added_any_for_the_horizon(tmp_path):
    with evaluating(tmp_path) as (metrics, findings):
        evaluate(metrics, findings, ENDED_MS, order(12, 44))
        evaluate(metrics, findings, ENDED_MS + HOUR_MS, {})
        evaluate(metrics, findings, ENDED_MS + HOUR_MS + 1, {})

    assert [change for change, _ in told(tmp_path)] == [Change.OPENED, Change.CLOSED]


@pytest.mark.parametrize(("since_ms", "findings_told"), [(ENDED_MS, 1), (ENDED_MS + 1, 0)])
def test_disorder_that_was_told_long_ago_is_not_looked_at(tmp_path, since_ms, findings_told):
    with evaluating(tmp_path) as (metrics, findings):
        evaluate(metrics, findings, ENDED_MS, order(12, 44), since_ms=since_ms)

    assert len(told(tmp_path)) == findings_told


def test_a_pipeline_that_declares_no_order_any_more_tells_of_none(tmp_path, monkeypatch):
    monkeypatch.setattr(test_findings, "PIPELINE", PIPELINE)

    assert judged(tmp_path, order(12, 44)) == []


def test_each_copy_with_another_content_is_a_finding_with_its_batches(tmp_path):
    found = {each.anchor: each for each in judged(tmp_path, content((40, 2), (90, 2), (40, -1)))}

    assert {each.kind for each in found.values()} == {Kind.CONFLICTING_OFFSET}
    batches = {anchor: [one["base_offset"] for one in each.evidence["batches"]] for anchor, each in found.items()}
    assert batches == {"replica 2": [40, 90], "as read earlier": [40]}
    assert all(each.evidence["is_all"] for each in found.values())
    assert {(each.happened_at_ms, each.last_seen_at_ms) for each in found.values()} == {(FROM_MS, ENDED_MS)}


def test_batches_that_were_counted_and_not_listed_make_it_at_least_so_many(tmp_path):
    (finding,) = judged(tmp_path, content((40, 2), counted=7))

    assert (finding.evidence["is_all"], finding.evidence["differing_batches"]) == (False, 1)


def test_the_same_batches_found_by_several_audits_count_once(tmp_path):
    (finding,) = judged(tmp_path, content((40, 2)), content((40, 2), (90, 2), name="b", ended_ms=ENDED_MS + 60_000))

    assert [one["base_offset"] for one in finding.evidence["batches"]] == [40, 90]
    assert [change for change, _ in told(tmp_path)] == [Change.OPENED, Change.UPDATED]


def test_a_conflict_closes_when_a_later_audit_finds_every_copy_equal(tmp_path):
    (finding,) = judged(tmp_path, content((40, 2)), content(run="2", ended_ms=2 * ENDED_MS))

    assert finding.closed_reason == "an audit that was asked for later found every copy of these offsets equal"
    assert [change for change, _ in told(tmp_path)] == [Change.OPENED, Change.CLOSED]


NOT_EQUAL = {
    "a replica was not read": {"copies_silent": 1},
    "it ends before the batch": {"window": (0, 40)},
    "it begins behind the batch": {"window": (41, 100)},
    "some of it was purged": {"below_log_start": 1},
    "it is no later one": {"ended_ms": ENDED_MS},
}


@pytest.mark.parametrize("why", NOT_EQUAL)
def test_a_conflict_stays_where_it_is_not_known_that_all_copies_are_equal(tmp_path, why):
    again = content(run="2", **{"ended_ms": 2 * ENDED_MS, **NOT_EQUAL[why]})

    assert judged(tmp_path, content((40, 2)), again)[0].closed_reason is None


def test_what_was_read_earlier_stays_as_it_was_read(tmp_path):
    (finding,) = judged(tmp_path, content((40, -1)), content(run="2", ended_ms=2 * ENDED_MS))

    assert finding.closed_reason is None


def test_a_restart_finds_no_finding_anew(tmp_path):
    judged(tmp_path, order(12, 44), content((40, 2), name="b"))
    with evaluating(tmp_path) as (metrics, findings):
        evaluate(metrics, findings, ENDED_MS + 9, {}, ["billing"])

    assert len(load_events(tmp_path)) == 2
