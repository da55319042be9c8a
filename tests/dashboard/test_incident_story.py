"""An incident as a story: what each effect was, whom it touched in which offsets, and what nobody saw."""

from collections.abc import Mapping

import pytest

from dashboard.actions import Action, Doing, Handling
from dashboard.finding_ranges import NO_RANGE, Offsets, groups, offsets
from dashboard.incident_chain import who_is_touched
from dashboard.incident_story import NOT_IN_THE_SINK, story
from guarantees.findings import Bounds, Finding, Grade, Kind, Place, Statement, Unit
from guarantees.incidents import Incident
from guarantees.links import Cause
from guarantees.promises import Guarantee, Pipeline, Verdict
from guarantees.unknown import Unknown

ORDERS = Pipeline("orders", "orders", "order-service", "payments", Guarantee.AT_LEAST_ONCE)
BOOKS = Pipeline("books", "payments", "book-keeper", "ledger", Guarantee.AT_LEAST_ONCE)
PIPELINES = (ORDERS, BOOKS)


def finding(
    kind: Kind,
    evidence: Mapping[str, object],
    *,
    topic: str = "orders",
    group: str | None = "order-service",
    bounds: Bounds | None = None,
    anchor: str = "1",
    statements: tuple[Statement, ...] = (Statement(Grade.PROVEN, "So it was."),),
) -> Finding:
    return Finding(
        kind, Place("c", topic, f"{topic}-id", 2, group), anchor, 4, f"{kind} on {topic}-2", statements, bounds,
        evidence, 1_000, 2_000,
    )  # fmt: skip


def cut(**more: object) -> Finding:
    evidence = {"first_lost_offset": 90, "high_watermark": 90, "high_watermark_before": 120, **more}
    return finding(Kind.LOG_TRUNCATED, evidence, group=None, bounds=Bounds(30, 30, 30, Unit.OFFSETS))


def told(*findings: Finding, explained: Mapping[str, tuple[Cause, ...]] | None = None, **more: object):
    return story(Incident("orders", findings, ()), PIPELINES, explained or {}, more.pop("handled", {}), **more)


SOME_ONLY = Unknown("its evidence shows some of the lost ids only")
RANGES = [
    (Kind.REWIND, {"committed_offset": 60, "committed_offset_before": 100}, Offsets(60, 100)),
    (Kind.POSSIBLE_REDELIVERY, {"first_offset": 60, "high_watermark": 70, "committed_offset": 65}, Offsets(60, 70)),
    (Kind.EXPIRED_UNREAD, {"committed_offset": 5, "log_start_offset": 9}, Offsets(5, 9)),
    (Kind.LOG_TRUNCATED, {"first_lost_offset": 90, "high_watermark_before": 120}, Offsets(90, 120)),
    (Kind.DUPLICATE_WRITE, {"first_offset": 7, "last_offset": 7}, Offsets(7, 8)),
    (Kind.LOST_WRITE, {"lost": [{"offset": 9}, {"offset": 4}], "sampled_lost": 2}, Offsets(4, 10)),
    (Kind.LOST_WRITE, {"lost": [{"offset": 9}], "sampled_lost": 2}, SOME_ONLY),
    (Kind.LOST_WRITE, {}, NO_RANGE),
    (Kind.REWIND, {"committed_offset": 60}, NO_RANGE),
    (Kind.REWIND, {"committed_offset": 60, "committed_offset_before": 50}, NO_RANGE),
    (Kind.GROUP_STOPPED, {"committed_offset": 60}, NO_RANGE),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "evidence", "expected"), RANGES)
def test_offsets_of_a_finding_are_those_of_its_evidence_and_else_unknown(kind, evidence, expected):
    assert offsets(finding(kind, evidence)) == expected


def test_group_beyond_a_cut_is_touched_up_to_its_commit():
    beyond = [{"group_id": "order-service", "committed_offset": 100}]
    assert groups(cut(groups_beyond_end=beyond)) == {"order-service": Offsets(90, 100)}


def test_group_waits_from_its_commit_up_to_the_high_watermark():
    frozen = finding(
        Kind.STABLE_OFFSET_FROZEN,
        {"start_offset": 50, "high_watermark": 80, "waiting_groups": [{"group_id": "late", "committed_offset": 55}]},
        group=None,
    )
    assert groups(frozen) == {"late": Offsets(55, 80)}


def test_group_that_reads_a_cut_topic_is_possibly_touched_and_what_it_writes_too():
    found = told(cut()).touched
    assert [(one.name, one.is_consumer, one.offsets, one.grade) for one in found] == [
        ("order-service", True, Offsets(90, 120), Grade.POSSIBLE),
        ("payments", False, NOT_IN_THE_SINK, Grade.POSSIBLE),
        ("ledger", False, NOT_IN_THE_SINK, Grade.POSSIBLE),
    ]


def test_an_election_by_itself_touches_no_consumer():
    election = finding(Kind.UNCLEAN_ELECTION, {"leader_epoch": 4}, group=None)
    assert told(election).touched == ()


@pytest.mark.parametrize("topic", ["orders", "payments"])
def test_partition_below_min_isr_takes_nothing_from_those_that_read_or_write_it(topic):
    found = told(finding(Kind.BELOW_MIN_ISR, {}, topic=topic, group=None)).touched

    assert found == ()
    assert who_is_touched(found, "orders") == (
        "No consumer and no downstream topic is known to be touched: "
        "none of its findings names offsets that a consumer met."
    )
    assert who_is_touched(found, None).endswith(": no known pipeline reads or writes here.")


def test_event_beside_a_loss_adds_nobody_downstream():
    below = finding(Kind.BELOW_MIN_ISR, {}, topic="payments", group=None)
    rewind = finding(Kind.REWIND, {"committed_offset": 60, "committed_offset_before": 100})

    assert [one.name for one in told(below, rewind).touched] == ["order-service", "payments", "ledger"]
    assert [one.name for one in told(below, finding(Kind.LOST_WRITE, {}, topic="ledger", group=None)).touched] == [
        "ledger"
    ]


def test_who_is_touched_for_sure_is_and_who_may_be_may_be():
    beyond = [{"group_id": "order-service", "committed_offset": 100}]

    assert who_is_touched(told(cut()).touched, "orders") == "1 consumer and 2 downstream topics may be touched."
    sure = told(cut(groups_beyond_end=beyond)).touched
    assert who_is_touched(sure, "orders") == "1 consumer and 2 downstream topics are touched."


def test_finding_in_the_sink_gives_the_offsets_of_the_downstream_topic():
    copies = finding(Kind.DUPLICATE_WRITE, {"first_offset": 7, "last_offset": 9}, topic="payments", group=None)
    sink = [one for one in told(cut(), copies).touched if one.name == "payments"]
    assert [(one.topic, one.partition, one.offsets, one.grade) for one in sink] == [
        ("payments", 2, Offsets(7, 10), Grade.PROVEN)
    ]


def test_kinds_are_never_added_and_partitions_of_one_kind_are():
    copies = [
        finding(Kind.DUPLICATE_WRITE, {}, group=None, anchor=str(n), bounds=Bounds(n, n, n + 1, Unit.RECORDS))
        for n in (3, 4)
    ]
    totals = told(cut(), *copies).totals
    assert [(one.effect, one.findings, one.amount) for one in totals] == [
        ("lost", 1, Bounds(30, 30, 30, Unit.OFFSETS)),
        ("duplicated", 2, Bounds(7, 7, 9, Unit.RECORDS)),
    ]


def test_a_finding_that_counts_nothing_leaves_the_total_unknown():
    counted = finding(Kind.REWIND, {}, bounds=Bounds(0, 1, 1, Unit.OFFSETS))
    (total,) = told(counted, finding(Kind.REWIND, {}, anchor="2")).totals
    assert total.amount == Unknown("1 of 2 findings count nothing")


def test_chain_says_the_surest_cause_with_its_grade_or_that_none_was_observed():
    lost = finding(Kind.LOST_WRITE, {})
    why = Cause("ids cut away", Statement(Grade.PROVEN, "They were cut away."), 1_000, cut().finding_id)
    first, second = told(cut(), lost, explained={lost.finding_id: (why,)}).told
    assert (first.because, first.because_grade, first.means) == ("Cause not observed.", None, Verdict.VIOLATED)
    assert (second.because, second.because_grade) == ("They were cut away.", Grade.PROVEN)


def test_what_was_not_seen_is_said_once_with_its_reason():
    nobody = Statement(Grade.NOT_OBSERVABLE, "Which acks the producers use.")
    tail = finding(Kind.TAIL_TRUNCATED, {}, statements=(Statement(Grade.PROVEN, "Gone."), nobody), group=None)
    gap = Unknown("nothing was observed for 40 s")
    found = told(tail, tail, unseen=[gap, gap]).not_seen
    assert [one.reason for one in found] == [
        "nothing was observed for 40 s",
        "Which acks the producers use.",
        "the causes of 2 of 2 findings: nothing that was observed explains them",
    ]


def test_one_cause_that_was_not_seen_is_told_in_the_singular():
    (alone,) = told(cut()).not_seen
    assert alone.reason == "the cause of 1 of 1 finding: nothing that was observed explains it"


def test_notes_of_all_findings_are_told_in_the_order_they_were_written():
    first, second = cut(), finding(Kind.LOST_WRITE, {})
    handled = {
        one.finding_id: Handling(None, (Action(str(at), at, Doing.NOTE, one.finding_id, "Ada", "seen"),))
        for one, at in ((first, 20), (second, 10))
    }
    assert [note.action.at_ms for note in told(first, second, handled=handled).notes] == [10, 20]


def test_pipeline_that_is_not_among_the_known_ones_leaves_the_promise_unknown():
    found = story(Incident("gone", (cut(),), ()), (), {}, {})
    assert [one.means for one in found.told] == [Verdict.UNKNOWN]
    assert found.touched == ()
