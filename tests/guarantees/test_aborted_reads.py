from dataclasses import replace

import pytest

from guarantees.audits import AbortedAudit, AbortedId
from guarantees.cause_links import read_before_they_were_aborted
from guarantees.findings import Bounds, Evidence, Finding, Grade, Kind, Place, Statement, Unit
from guarantees.promises import Guarantee, Verdict, judge
from guarantees.rules.aborted_reads import aborted_read_findings
from guarantees.times import utc
from tests.guarantees.builders import at

AUDIT = AbortedAudit(
    pipeline="billing",
    cluster_id="c",
    topic="orders",
    topic_id="t",
    partition=3,
    group_id="payments",
    sink="invoices",
    settle_s=10.0,
    horizon_s=60.0,
)


def aborted(offset, shown_s, *, decided_s=90, since_s=0):
    return AbortedId(f"id-{offset}", offset, 7, 1, f"invoices-0:{offset}", at(shown_s), at(since_s), at(decided_s))


def exact(count):
    return Bounds(count, count, count, Unit.MESSAGE_IDS)


def found(*ids, audit=AUDIT, now_s=100):
    return aborted_read_findings(audit, ids, lambda found: exact(len(found)), at(now_s))


def test_it_says_which_ids_the_sink_holds_and_which_records_they_came_from():
    (one,) = found(aborted(9, 21), aborted(5, 20))

    assert (one.kind, one.grade, one.severity, one.bounds) == (Kind.ABORTED_AT_SINK, Grade.PROVEN, 4, exact(2))
    assert one.place == Place("c", "orders", "t", 3, "payments")
    assert (one.evidence["first_offset"], one.evidence["last_offset"]) == (5, 9)
    assert one.evidence["aborted"][0] == {
        "message_id": "id-5",
        "offset": 5,
        "producer_id": 7,
        "producer_epoch": 1,
        "found_at": "invoices-0:5",
        "sink_observed_at_ms": at(20),
    }
    assert (one.happened_at_ms, one.last_seen_at_ms) == (at(20), at(90))


def test_that_the_group_read_them_uncommitted_rests_on_an_assumption_which_it_names():
    (one,) = found(aborted(5, 20, since_s=3), aborted(6, 20, since_s=1))

    assert [each.grade for each in one.statements] == [Grade.PROVEN, Grade.PROBABLE]
    assert "from orders alone" in one.statements[1].assumption
    assert "purged before they were read" in one.statements[1].assumption
    assert one.evidence["sought_since_ms"] == at(3), "what was searched for both is the shorter time"
    assert all(utc(at(3)) in text for text in (one.statements[0].text, one.statements[1].assumption))


@pytest.mark.parametrize(("second_s", "count"), [(30, 1), (30.001, 2)])
def test_ids_shown_within_the_settle_delay_are_one_finding(second_s, count):
    assert len(found(aborted(5, 20), aborted(9, second_s))) == count


def test_more_ids_of_the_same_time_keep_its_identity():
    (first,), (more,) = found(aborted(5, 20)), found(aborted(5, 20), aborted(3, 25))

    assert first.finding_id == more.finding_id


@pytest.mark.parametrize(("now_s", "is_over"), [(150, False), (150.001, True)])
def test_it_settles_when_nothing_came_for_the_horizon(now_s, is_over):
    (one,) = found(aborted(5, 20), now_s=now_s)

    assert (one.closed_reason is not None) is is_over


def test_only_some_are_shown_and_all_are_counted():
    (one,) = found(*[aborted(offset, 20) for offset in range(150)])

    assert (len(one.evidence["aborted"]), one.evidence["sampled_ids"], one.bounds) == (100, 150, exact(150))


@pytest.mark.parametrize(
    ("promise", "verdict"),
    [
        (Guarantee.EXACTLY_ONCE, Verdict.VIOLATED),
        (Guarantee.AT_LEAST_ONCE, Verdict.OK),
        (Guarantee.AT_MOST_ONCE, Verdict.OK),
    ],
)
def test_it_breaks_exactly_once_alone(promise, verdict):
    assert judge(Kind.ABORTED_AT_SINK, 4, promise) is verdict


@pytest.mark.parametrize(
    ("stable", "committed", "explains"),
    [(5, 10, True), (9, 10, True), (10, 20, False), (1, 5, False), (1, 6, True)],
)
def test_a_commit_past_the_stable_offset_explains_ids_that_lie_between(stable, committed, explains):
    (shown,) = found(aborted(5, 20), aborted(9, 21))
    evidence: Evidence = {"last_stable_offset": stable, "committed_offset": committed}
    past = replace(
        shown, kind=Kind.READ_PAST_STABLE_OFFSET, evidence=evidence, statements=(Statement(Grade.PROVEN, "past"),)
    )

    assert isinstance(past, Finding)
    assert (read_before_they_were_aborted(shown, past) is not None) is explains
