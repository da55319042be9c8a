"""Exact audits and live rounds tell of the same copies and losses: one finding, and the audit narrows it."""

import json

import pytest

from guarantees.findings import Grade, Kind
from guarantees.lifecycle import Change
from store.findings import load_events, load_findings
from tests.spark_jobs.test_findings import (
    COPY,
    HOUR_MS,
    PLACE,
    duplicate_row,
    evaluate,
    evaluating,
    losses_row,
    lost_row,
    told,
)  # fmt: skip

FROM_MS, TO_MS, ENDED_MS = 1_000, 5_000, 20_000  # of the audited window, and when the audit was done


def audit_rows(*, lost=None, late=0, window=(0, 100), audit="a", ended_ms=ENDED_MS, sink=None, committed_to=100):
    """A run that is done with its ranges on both sides; `sink` changes what is known of the sink."""
    known = {"audit_id": audit, "run_id": f"run-{audit}", "pipeline": "billing", "observed_at": ended_ms}
    cut = {"begins_at_log_start": False, "below_log_start": 0, "undecided": 0}
    source = {**known, **PLACE, "side": "source", "first_offset": window[0], "next_offset": window[1], "lost": lost,
              "late": late if lost is not None else None, "committed_to": committed_to, **cut}  # fmt: skip
    other = {**known, **PLACE, "topic": "bills", "topic_id": "s", "side": "sink", "first_offset": 0, "next_offset": 90,
             "read_to": 95, **cut, **(sink or {})}  # fmt: skip
    run = {"run_id": known["run_id"], "audit_id": audit, "job": "audit", "pipeline": "billing", "state": "done",
           "window_from": FROM_MS, "window_to": TO_MS, "observed_at": ended_ms}  # fmt: skip
    return {"audit_runs": [run], "audit_ranges": [source, other]}


def copies_row(extra, first_copy_offset, *, audit="a", cause="other_producer_id", producer_id=2, first_producer_id=1):
    example = {"message_id": "m", "first": {**COPY, "offset": 1}, "last": {**COPY, "offset": first_copy_offset}}
    return {
        "audit_id": audit, "run_id": f"run-{audit}", "pipeline": "billing", **PLACE, "cause": cause,
        "first_producer_id": first_producer_id, "producer_id": producer_id,
        "producer_epoch": 0 if producer_id >= 0 else -1, "extra_copies": extra, "first_copy_offset": first_copy_offset,
        "last_copy_offset": first_copy_offset + extra, "examples": json.dumps([example]), "observed_at": ENDED_MS,
    }  # fmt: skip


def id_row(offset, state="lost", *, audit="a"):
    return {"audit_id": audit, "run_id": f"run-{audit}", "pipeline": "billing", **PLACE, "state": state,
            "offset": offset, "id_hash": offset, "message_id": f"m{offset}", "timestamp": 2_000 + offset,
            "observed_at": ENDED_MS}  # fmt: skip


def exact_duplicates(*rows, **about):
    return {**audit_rows(**about), "audit_duplicates": list(rows)}


def exact_losses(*rows, lost, **about):
    return {**audit_rows(lost=lost, **about), "audit_ids": list(rows)}


def judged(folder, *steps, now_ms=ENDED_MS):
    """The newest state of each finding after steps of rows that commit one after another."""
    with evaluating(folder) as (metrics, findings):
        for number, rows in enumerate(steps):
            evaluate(metrics, findings, now_ms + number, rows, ["billing"])
    return [history.finding for history in load_findings(folder).values()]


def test_an_audit_alone_is_a_finding_with_its_exact_count_and_says_what_it_compared(tmp_path):
    (finding,) = judged(tmp_path, exact_duplicates(copies_row(7, 10), copies_row(3, 40, first_producer_id=5)))

    assert (finding.bounds.lower, finding.bounds.estimate, finding.bounds.upper) == (10, 10, 10)
    assert (finding.evidence["first_offset"], finding.evidence["last_offset"]) == (10, 43)
    assert finding.evidence["first_producer_ids"] == [1, 5]
    assert (finding.happened_at_ms, finding.last_seen_at_ms) == (FROM_MS, TO_MS)
    assert "the offsets 0 to 99 was compared exactly" in finding.statements[-1].text
    assert (finding.pipeline, finding.evidence["sampling_rate"]) == ("billing", 1.0)


def test_an_audit_of_a_live_finding_joins_it_and_narrows_its_interval(tmp_path):
    live = {"duplicates": [duplicate_row(10, 3, at_ms=4_000)]}
    before = judged(tmp_path / "live", live)[0]
    (finding,) = judged(tmp_path / "both", live, exact_duplicates(copies_row(8, 9)))

    assert finding.finding_id == before.finding_id
    assert before.bounds.lower < 8 < before.bounds.upper
    assert (finding.bounds.lower, finding.bounds.upper) == (8, before.bounds.upper)
    assert finding.last_seen_at_ms == TO_MS, "the audit saw a later copy"
    assert [event.change for event in load_events(tmp_path / "both")] == [Change.OPENED, Change.UPDATED]


def test_an_audit_that_sought_first_copies_as_far_back_is_exact(tmp_path):
    live = {"duplicates": [duplicate_row(10, 3, at_ms=4_000, horizon_s=600.0)]}
    (finding,) = judged(tmp_path, live, exact_duplicates(copies_row(8, 9)))

    assert (finding.bounds.lower, finding.bounds.estimate, finding.bounds.upper) == (8, 8, 8)


@pytest.mark.parametrize(("window", "lower"), [((0, 100), 8), ((0, 12), 8), ((20, 60), 8 + 3)])
def test_what_lies_outside_the_window_is_added_and_what_may_be_inside_is_not_counted_twice(tmp_path, window, lower):
    live = {"duplicates": [duplicate_row(10, 3, at_ms=4_000, horizon_s=600.0)]}  # copies at 10 to 13
    (finding,) = judged(tmp_path, live, exact_duplicates(copies_row(8, window[0] + 1), window=window))

    assert finding.bounds.lower == lower
    assert (finding.bounds.upper == 8) is (window == (0, 100))


def test_overlapping_audits_count_once(tmp_path):
    second = {**exact_duplicates(copies_row(9, 60, audit="b"), audit="b", window=(50, 150))}
    third = exact_duplicates(copies_row(2, 210, audit="c"), audit="c", window=(200, 300))
    (finding,) = judged(tmp_path, exact_duplicates(copies_row(7, 10)), second, third)

    assert finding.bounds.lower == 9 + 2
    assert finding.evidence["audited"] == [[50, 150], [200, 300]]


@pytest.mark.parametrize("first", ["live", "audit"])
def test_copies_without_a_producer_keep_the_identity_of_whoever_told_first(tmp_path, first):
    live = {"duplicates": [{**duplicate_row(30, 3, at_ms=4_000, producer_id=-1), "producer_epoch": -1,
                            "cause": "not_idempotent"}]}  # fmt: skip
    exact = exact_duplicates(copies_row(8, 9, cause="not_idempotent", producer_id=-1))
    steps = (live, exact) if first == "live" else (exact, live)
    (finding,) = judged(tmp_path, *steps)

    assert finding.anchor == f"not_idempotent, first offset {30 if first == 'live' else 9}"
    assert finding.evidence["first_offset"] == 9


def test_a_live_round_after_an_audit_changes_nothing_of_it(tmp_path):
    """Rounds look only at what grew lately: the figures must not depend on how far back they look."""
    with evaluating(tmp_path) as (metrics, findings):
        evaluate(metrics, findings, ENDED_MS, {"duplicates": [duplicate_row(10, 3, at_ms=4_000)]})
        evaluate(metrics, findings, ENDED_MS, exact_duplicates(copies_row(8, 9)))
        evaluate(metrics, findings, ENDED_MS + 60_000, {}, since_ms=ENDED_MS)

    assert len(load_events(tmp_path)) == 2


def test_an_audited_duplicate_closes_when_the_window_is_older_than_the_edge(tmp_path):
    with evaluating(tmp_path) as (metrics, findings):
        evaluate(metrics, findings, ENDED_MS, exact_duplicates(copies_row(8, 9)))
        evaluate(metrics, findings, TO_MS + HOUR_MS, {})

    assert [change for change, _ in told(tmp_path)] == [Change.OPENED, Change.CLOSED]


def test_audited_losses_alone_are_a_finding_with_their_exact_number(tmp_path):
    (finding,) = judged(tmp_path, exact_losses(id_row(5), id_row(9), lost=2))

    assert (finding.kind, finding.grade, finding.place.group_id) == (Kind.LOST_WRITE, Grade.PROBABLE, "g")
    assert (finding.bounds.lower, finding.bounds.estimate, finding.bounds.upper) == (2, 2, 2)
    assert [one["commit_passed_at_ms"] for one in finding.evidence["lost"]] == [None, None]
    assert (finding.evidence["sink_read_to"], finding.evidence["audited"]) == ([[0, 95]], [[0, 100]])
    assert (finding.happened_at_ms, finding.last_seen_at_ms) == (2_005, ENDED_MS)


@pytest.mark.parametrize("first", ["live", "audit"])
def test_an_audit_and_live_rounds_of_one_loss_are_one_finding_with_the_exact_number(tmp_path, first):
    live = {"losses": [losses_row()], "lost_ids": [lost_row(6)]}
    exact = exact_losses(id_row(5), id_row(6), id_row(9), lost=3)
    steps = (live, exact) if first == "live" else (exact, live)
    (finding,) = judged(tmp_path, *steps)

    assert finding.anchor == f"billing, first offset {6 if first == 'live' else 5}"
    assert (finding.bounds.lower, finding.bounds.upper) == (3, 3)
    assert [one["offset"] for one in finding.evidence["lost"]] == [5, 6, 9]


def test_a_loss_happened_when_a_live_round_saw_the_commit_pass(tmp_path):
    live = {"losses": [losses_row()], "lost_ids": [lost_row(6)]}

    assert judged(tmp_path, live, exact_losses(id_row(5), id_row(6), lost=2))[0].happened_at_ms == 500


@pytest.mark.parametrize(("listed", "decided_ms"), [([6], 1_000), ([5, 6], ENDED_MS), ([], ENDED_MS)])
def test_an_audit_of_ids_that_were_lost_before_makes_them_no_newer_loss(tmp_path, listed, decided_ms):
    """Unlike what it adds, listed or only counted."""
    live = {"losses": [losses_row()], "lost_ids": [lost_row(6)]}
    exact = exact_losses(*map(id_row, listed), lost=max(1, len(listed)))
    (finding,) = judged(tmp_path, live, exact)

    assert (finding.evidence["decided_at_ms"], finding.last_seen_at_ms) == (decided_ms, ENDED_MS)


def test_ids_that_are_not_known_one_by_one_may_be_of_either_episode(tmp_path):
    far = lost_row(90, passed_at=500 + 60_000)
    live = {"losses": [losses_row()], "lost_ids": [lost_row(6), far]}
    found = judged(tmp_path, live, exact_losses(id_row(6), id_row(7), lost=12))

    assert sorted((finding.bounds.lower, finding.bounds.upper) for finding in found) == [(1, 11), (2, 12)]


def test_an_id_that_a_live_round_saw_come_late_is_not_counted_as_lost(tmp_path):
    late = {**lost_row(6, state="late"), "found_at": "bills-0:1"}
    live = {"losses": [losses_row()], "lost_ids": [late, lost_row(7)]}
    (finding,) = judged(tmp_path, live, exact_losses(id_row(5), id_row(6), id_row(7), lost=3))

    assert (finding.bounds.lower, finding.bounds.upper) == (2, 2)


def test_ids_that_are_not_known_one_by_one_lie_anywhere_in_the_window(tmp_path):
    (finding,) = judged(tmp_path, exact_losses(id_row(6), id_row(7), lost=12))

    assert "12 message ids of orders-0, between the offsets 0 and 99, never reached bills" in finding.statements[0].text


def test_an_episode_that_reaches_out_of_the_window_is_at_least_what_was_counted(tmp_path):
    live = {"losses": [losses_row()], "lost_ids": [lost_row(6), lost_row(160)]}
    (finding,) = judged(tmp_path, live, exact_losses(id_row(5), id_row(6), id_row(9), lost=40))

    assert (finding.bounds.lower, finding.bounds.estimate) == (40 + 1, 40 + 2), "at half the ids one seen is two"
    assert finding.bounds.upper > 42
    assert finding.evidence["sampling_rate"] == 0.5


def test_ids_of_two_episodes_in_one_window_go_to_the_nearest(tmp_path):
    far = lost_row(90, passed_at=500 + 60_000)
    live = {"losses": [losses_row()], "lost_ids": [lost_row(6), far]}
    found = judged(tmp_path, live, exact_losses(id_row(6), id_row(7), id_row(88), id_row(90), id_row(91), lost=5))

    lost = sorted([one["offset"] for one in finding.evidence["lost"]] for finding in found)
    assert lost == [[6, 7], [88, 90, 91]]
    assert sorted(finding.bounds.upper for finding in found) == [2, 3]


UNSURE = {
    "how far the group came is not known": {"committed_to": None},
    "the sink's log may have been purged": {"sink": {"begins_at_log_start": True}},
    "some of the sink was purged while it was read": {"sink": {"below_log_start": 3}},
    "an open transaction hides some of the sink": {"sink": {"undecided": 1}},
}


@pytest.mark.parametrize("why", UNSURE)
def test_missing_ids_are_no_finding_where_it_is_not_known_that_they_are_lost(tmp_path, why):
    assert judged(tmp_path, exact_losses(id_row(5), lost=1, **UNSURE[why])) == []


def test_an_audit_without_a_loss_resolves_nothing_and_tells_nothing(tmp_path):
    live = {"losses": [losses_row()], "lost_ids": [lost_row(6)]}
    (finding,) = judged(tmp_path, live, exact_losses(lost=0))

    assert finding.closed_reason is None
    assert told(tmp_path) == [(Change.OPENED, Kind.LOST_WRITE)]


def test_ids_that_had_come_late_by_the_first_audit_were_never_lost(tmp_path):
    assert judged(tmp_path, exact_losses(id_row(5, "late"), lost=0, late=1)) == []


def test_an_audit_again_that_finds_the_ids_late_closes_what_the_first_one_opened(tmp_path):
    with evaluating(tmp_path) as (metrics, findings):
        evaluate(metrics, findings, ENDED_MS, exact_losses(id_row(5), lost=1), ["billing"])
        with metrics.transaction() as transaction:
            for table in ("audit_ranges", "audit_ids"):
                transaction.delete(table, "audit_id = 'a'")
        again = exact_losses(id_row(5, "late"), lost=0, late=1, ended_ms=2 * ENDED_MS)
        evaluate(metrics, findings, 2 * ENDED_MS, again, ["billing"])

    assert [change for change, _ in told(tmp_path)] == [Change.OPENED, Change.CLOSED]
    assert load_events(tmp_path)[-1].finding.closed_reason.startswith("explained as late")
