"""Rows and sentences of duplicates and losses: intervals stay intervals, and no zero stands alone."""

import json
from dataclasses import replace

import pytest

from dashboard import (
    audit_causes,
    audit_losses,
    audit_topics,
    audit_words,
    concerns,
    extra_copies,
    tiles,
)
from dashboard.audit_losses import pipeline_audits
from dashboard.audit_topics import topic_audits
from dashboard.record_reading import HowRead, never_compared
from dashboard.tiles import Reach
from dashboard.view import View
from guarantees.audits import DuplicateCause
from guarantees.findings import Bounds, Grade, Kind, Unit
from guarantees.lifecycle import FindingHistory
from guarantees.promises import Guarantee, Pipeline, Verdict
from settings import MessageId, PipelineSettings
from spark_jobs import statistics
from tests.dashboard import fixture_store
from tests.dashboard.fixture_store import BASE_OFFSET

END_MS = 1_764_000_000_000
VIEW = View("production", END_MS - 900_000, END_MS, False, 10, "")
DECLARED = PipelineSettings(
    name="p", cluster="production", source="orders", group="g", sink="payments", id=MessageId(header="message-id")
)
PIPELINE = DECLARED.pipeline
REFUSED = "orders-0: Fetch: not permitted: TOPIC_AUTHORIZATION_FAILED"


def by_name(day, fresh=Verdict.OK, why=None):
    """As record_evidence.how_read tells it, of the ranges of a day."""
    missed = never_compared(day)
    return lambda topic: HowRead(Verdict.UNKNOWN if topic in missed else fresh, why, missed.get(topic))


def read(topic="orders", **columns):
    return {"topic": topic, "records": 1_000, "records_without_id": 0, "records_not_json": 0,
            "aborted_records": 0, "rate": 1 / 64,
            "read_offsets": 1_000, "purged_offsets": 0, "gap_offsets": 0, "left_unread": 0,
            "observed_at_ms": END_MS - 5_000} | columns  # fmt: skip


def group(cause="other_producer_id", **columns):
    return {"topic": "orders", "partition": 4, "cause": cause, "producer_id": 7014, "producer_epoch": 0,
            "first_producer_ids": [7001], "seen": 2, "ranges": 1, "lower": 15, "estimate": 128, "upper": 463,
            "rate": 1 / 64, "rates": 1, "horizon_s": 3600.0,
            "first_copy_offset": BASE_OFFSET, "last_copy_offset": BASE_OFFSET + 9,
            "observed_at_ms": END_MS} | columns  # fmt: skip


def topic_audit(*groups, sampled=None, day=None, recent=(), declared=(DECLARED,), fresh=Verdict.OK, why=None, told=()):
    sampled = [read()] if sampled is None else sampled
    day = sampled if day is None else day
    (audit,) = topic_audits(["orders"], sampled, day, groups, recent, declared, by_name(day, fresh, why), told)
    return audit


@pytest.mark.parametrize("rows", [[], [{"records": 0, "purged_offsets": 0, "gap_offsets": 0}]])
def test_a_topic_that_was_silent_and_is_watched_has_no_copies_and_that_is_known(rows):
    silent = topic_audit(sampled=[read() | row for row in rows], day=[read()], told=["orders"])

    assert (silent.unseen, silent.verdict) == (None, Verdict.OK)
    assert (silent.copies.lower, silent.copies.upper) == (0, 0)
    assert topic_audit(sampled=[], day=[], told=["orders"], fresh=Verdict.STALE).verdict is Verdict.STALE
    assert topic_audit(sampled=[], day=[]).unseen == audit_words.NO_RANGE


def compared(**columns):
    return {"pipeline": "p", "judged": 6_000, "unseen": 0, "lost": 0, "late": 0, "lower": 0, "estimate": 0, "upper": 0,
            "rate": 1.0, "partitions": 1, "settle_s": 30.0, "observed_at_ms": END_MS - 4_000} | columns  # fmt: skip


def pipeline_audit(row=None, *, pipeline=PIPELINE, declared=DECLARED, recent=(), fresh=Verdict.OK, why=None):
    rows, settings = ([row] if row else []), ([declared] if declared else [])
    (audit,) = pipeline_audits([pipeline], settings, rows, recent, lambda topic: HowRead(fresh, why))
    return audit


def concern(finding, promise=Guarantee.AT_LEAST_ONCE):
    pipeline = Pipeline("orders-to-payments", "orders", "order-service", "payments", promise)
    (one,) = concerns.concerns([FindingHistory(finding, END_MS, END_MS)], [pipeline])
    return one


@pytest.mark.parametrize("rate", [1.0, 0.9, 0.5, 0.1, 1 / 64, 1 / 1000])
def test_copies_over_several_ranges_have_the_interval_of_the_findings(rate):
    for seen in (*range(60), 127, 999, 54_321):
        jobs = statistics.extra_copies(statistics.ExtraCopies(seen, seen, 1), rate)

        bounds = extra_copies.of_group(group(seen=seen, ranges=2, rate=rate))

        assert (bounds.lower, bounds.estimate, bounds.upper) == (jobs.lower, jobs.estimate, jobs.upper)


@pytest.mark.parametrize("by_rate", [{1.0: 3, 0.5: 4}, {1.0: 2, 0.25: 1, 1 / 64: 7}, {0.5: 90, 0.125: 1}])
def test_copies_of_ranges_at_several_rates_have_the_interval_of_the_findings(by_rate):
    jobs = statistics.copies_at_rates(by_rate)
    sampled = {rate: seen for rate, seen in by_rate.items() if rate < 1}
    row = group(
        seen=sum(by_rate.values()), ranges=9, rate=min(by_rate), rates=len(by_rate), seen_at_rate_1=by_rate.get(1.0, 0),
        scaled=sum(seen / rate for rate, seen in sampled.items()),
        scaled_squares=sum(seen / rate**2 for rate, seen in sampled.items()),
    )  # fmt: skip

    assert extra_copies.of_group(row) == Bounds(jobs.lower, jobs.estimate, jobs.upper, Unit.RECORDS)


def test_copies_of_one_range_keep_the_interval_they_were_stored_with():
    assert extra_copies.of_group(group()) == Bounds(15, 128, 463, Unit.RECORDS)


def test_the_intervals_of_several_groups_add_up():
    assert extra_copies.total([group(), group(lower=1, estimate=64, upper=357)]) == Bounds(16, 192, 820, Unit.RECORDS)


def test_without_copies_a_sample_leaves_an_upper_bound_and_all_ids_leave_their_number():
    sampled, whole = topic_audit(), topic_audit(sampled=[read(rate=1.0)])

    assert audit_topics.topic_row(sampled, VIEW)["Extra copies"] == "at most 237"
    assert audit_topics.topic_row(whole, VIEW)["Extra copies"] == "none among 1,000 ids"


def test_there_are_no_more_copies_than_records_read():
    assert topic_audit(sampled=[read(records=10, records_without_id=4)]).copies == Bounds(0, 0, 6, Unit.RECORDS)


@pytest.mark.parametrize(
    ("sampled", "declared", "unseen"),
    [
        ([], (), audit_words.NO_PIPELINE),
        ([], (DECLARED,), audit_words.NO_RANGE),
        ([read(records=0)], (DECLARED,), audit_words.NO_RECORD),
        ([read(records_without_id=1_000)], (DECLARED,), audit_words.NO_ID),
    ],
)
def test_a_topic_that_is_not_observed_has_no_figure_a_reason_and_no_green(sampled, declared, unseen):
    audit = topic_audit(sampled=sampled, declared=declared)
    row = audit_topics.topic_row(audit, VIEW)

    assert audit_topics.blind_spots(audit) == [unseen]
    assert (row["Extra copies"], row["Verdict"]) == ("not observed", "? Unknown")
    assert row["Grade"] == "NOT-OBSERVABLE"
    assert audit_topics.no_copies(audit) == unseen


def test_a_topic_read_whole_and_without_copies_is_ok_and_an_old_answer_is_stale():
    assert topic_audit().verdict is Verdict.OK
    assert topic_audit(fresh=Verdict.STALE).verdict is Verdict.STALE
    assert topic_audit(fresh=Verdict.UNKNOWN).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("missed", ["purged_offsets", "gap_offsets"])
def test_no_topic_is_green_over_offsets_that_were_not_read(missed):
    audit = topic_audit(sampled=[read(**{missed: 3})])

    assert audit.verdict is Verdict.UNKNOWN
    assert audit_topics.topic_row(audit, VIEW)["Offsets covered"] == "99.7 %"
    assert any(sentence.startswith("3 offsets") for sentence in audit_topics.blind_spots(audit))


@pytest.mark.parametrize(
    ("missed", "said"),
    [
        ({"purged_offsets": 5_000_000}, "5,000,000 offsets of orders purged before they were read"),
        ({"gap_offsets": 1}, "1 offset of orders in no range read"),
        ({"records_without_id": 900}, "900 of 1,000 records of orders without an id"),
    ],
)
def test_no_window_is_green_in_a_day_of_which_too_much_was_never_compared(missed, said):
    audit = topic_audit(sampled=[read(rate=1.0)], day=[read(**missed)])

    assert audit.verdict is Verdict.UNKNOWN
    assert audit_topics.blind_spots(audit)[0] == f"In the last 24 h never compared: {said}."
    once = audit_topics.blind_spots(topic_audit(sampled=[read(**missed)]))
    assert not [sentence for sentence in once if sentence.startswith("In the last 24 h")], "the window tells it itself"


def test_single_records_without_an_id_are_a_note_and_not_unknown():
    audit = topic_audit(sampled=[read(records_without_id=500)])

    assert audit.verdict is Verdict.OK
    assert audit_topics.blind_spots(audit)[0] == "500 records without an id: not compared with anything."


def test_a_comparison_over_records_that_nobody_read_or_could_compare_is_no_proof_that_none_was_lost():
    for missed in ({"purged_offsets": 1}, {"gap_offsets": 1}, {"records_without_id": 900}):
        for topic in ("orders", "payments"):
            sides = by_name([read(topic, **missed)])
            (audit,) = pipeline_audits([PIPELINE], [DECLARED], [compared()], (), sides)
            assert audit.verdict is Verdict.UNKNOWN
    (audit,) = pipeline_audits([PIPELINE], [DECLARED], [compared()], (), by_name([read(records_without_id=9)]))
    assert audit.verdict is Verdict.OK


def test_a_topic_that_may_not_be_read_says_so_in_the_words_of_the_record_jobs():
    never, before = topic_audit(sampled=[], why=REFUSED), topic_audit(fresh=Verdict.STALE, why=REFUSED)
    said = f"{REFUSED}. Grant READ on the topic to Tidemark's principal."

    assert audit_topics.blind_spots(never) == [f"not observed: the record jobs cannot read it: {said}"]
    assert never.verdict is Verdict.UNKNOWN
    assert audit_topics.blind_spots(before)[0] == f"It is not read to its end: {said}"
    assert before.verdict is Verdict.STALE


def test_what_hinders_the_reading_and_is_no_right_asks_for_none():
    (said,) = audit_topics.blind_spots(topic_audit(sampled=[], why="no broker answers"))

    assert said == "not observed: the record jobs cannot read it: no broker answers."


def test_copies_are_judged_by_the_promise_of_who_reads_or_writes_the_topic():
    allowed = concern(fixture_store.duplicates(END_MS))
    forbidden = concern(fixture_store.duplicates(END_MS), Guarantee.EXACTLY_ONCE)

    assert topic_audit(group(), recent=[allowed]).verdict is None
    assert topic_audit(group(), recent=[forbidden]).verdict is Verdict.VIOLATED
    assert topic_audit(group(), recent=[]).verdict is Verdict.UNKNOWN


def test_copies_are_proven_only_where_a_broker_wrote_a_sequence_twice():
    assert topic_audit(group("same_sequence")).grade is Grade.PROVEN
    assert topic_audit(group("same_sequence"), group()).grade is Grade.PROBABLE
    assert topic_audit().grade is Grade.PROBABLE


def test_the_last_day_of_all_topics_is_the_tile_of_the_overview():
    one = concern(fixture_store.duplicates(END_MS))
    other = concern(replace(one.finding, place=replace(one.finding.place, topic="payments"), bounds=Bounds(
        5, 9, 20, Unit.RECORDS)))  # fmt: skip
    sampled = [read(rate=1.0), read("payments", rate=1.0)]

    audits = topic_audits([], sampled, sampled, [], [one, other], [DECLARED], by_name(sampled), ())

    tile = tiles.duplicates(
        [one, other, concern(fixture_store.lost(END_MS))], sampled, Reach(1, 1, "topic", ""), END_MS
    )
    assert (tile.value, tile.note) == ("137", "133 to 148 · 2 findings")
    assert sum(audit.day.estimate for audit in audits) == 137
    assert [audit.day.lower for audit in audits] == [128, 5]


def test_a_window_without_copies_says_that_the_last_day_has_some():
    audit = topic_audit(recent=[concern(fixture_store.duplicates(END_MS))], sampled=[read(rate=1.0)])

    assert audit_topics.no_copies(audit) == (
        "No extra copy was found in this window: none among 1,000 ids. "
        "Findings of the last 24 h count 128: widen the window."
    )


def test_the_topics_whose_promise_is_broken_come_first_and_then_those_with_most_copies():
    broken = concern(fixture_store.duplicates(END_MS), Guarantee.EXACTLY_ONCE)
    sampled = [read("a"), read("b"), read("c", gap_offsets=1), read("orders")]

    audits = topic_audits([], sampled, sampled, [group(topic="b")], [broken], [], by_name(sampled), ())

    assert [audit.topic for audit in audits] == ["orders", "b", "c", "a"]


def test_what_a_figure_of_copies_cannot_see_is_said():
    audit = topic_audit(sampled=[read(records_without_id=1, gap_offsets=2, left_unread=7)])

    assert audit_topics.blind_spots(audit) == [
        "1 record without an id: not compared with anything.",
        "2 offsets in no range read: a gap.",
        "7 offsets left for the next round by the newest read.",
        "Ids compared: 1 in 64; the interval covers the others.",
        "Copies more than 1 h apart were not sought.",
        "Ids are the header message-id: taken to be unique by the producer's design.",
    ]


@pytest.mark.parametrize(("place", "said"), [({"key": True}, "keys"), ({"hash": True}, "hashes of key and value")])
def test_ids_that_need_not_be_unique_are_called_so(place, said):
    audit = topic_audit(declared=(replace(DECLARED, id=MessageId(**place)),))

    assert (
        audit_topics.blind_spots(audit)[-1] == f"Ids are the records' {said}: records that share one count as copies."
    )


@pytest.mark.parametrize(
    ("share", "said"), [(1.0, "every id"), (1 / 64, "1 in 64"), (0.1, "1 in 10"), (0.3, "0.3"), (1 / 3, "1 in 3")]
)
def test_a_rate_is_said_as_one_in_so_many(share, said):
    assert audit_words.rate(share) == said


@pytest.mark.parametrize(
    ("given", "said"), [((5, 0), "100 %"), ((99_999, 1), "99.9 %"), ((0, 4), "0 %"), ((0, 0), "no offset")]
)
def test_only_the_whole_is_called_the_whole(given, said):
    assert audit_words.covered(*given) == said


def test_every_cause_has_a_word_and_a_meaning():
    assert set(audit_words.CAUSES) == set(DuplicateCause)
    assert len(set(audit_words.CAUSES.values())) == len(DuplicateCause)
    assert audit_words.meaning(DuplicateCause.OTHER_PRODUCER_ID).startswith("Stored again by another producer id: a")


def test_causes_are_added_up_and_the_most_frequent_comes_first():
    rows = [group("sent_twice"), group(partition=1), group(partition=2), group("sent_twice", estimate=400)]

    assert [(name, bounds.estimate) for name, bounds in audit_causes.by_cause(rows)] == [
        ("Same producer, sent twice", 528),
        ("Another producer id", 256),
    ]


def test_a_cause_names_both_producers_and_a_batch_without_one():
    named, none = group(first_producer_ids=[1, 2, 3, 4, 5, 6]), group(first_producer_ids=[-1], producer_id=-1)

    assert audit_causes.cause_row(named)["First producer → later"] == "1, 2, 3, 4, 5 and 1 more → 7014 (epoch 0)"
    assert audit_causes.cause_row(none)["First producer → later"] == "none → none"
    assert audit_causes.cause_row(named)["To"] == str(BASE_OFFSET + 9)
    assert audit_causes.cause_row(named)["Extra copies"] == "128 (15 to 463)"


def test_losses_are_an_interval_and_none_is_said_of_how_many():
    assert audit_losses.lost(compared(lost=41, lower=38, estimate=41, upper=44)) == "41 (38 to 44)"
    assert audit_losses.lost(compared()) == "none of 6,000 ids"
    assert audit_losses.lost(compared(judged=0)) == "not observed"
    assert audit_losses.lost(compared(upper=236, rate=1 / 64)) == "at most 236"


@pytest.mark.parametrize(
    ("pipeline", "declared", "row", "unseen"),
    [
        (replace(PIPELINE, sink=None), replace(DECLARED, sink=None), None, audit_words.NO_SINK),
        (PIPELINE, None, None, audit_words.NOT_DECLARED),
        (PIPELINE, DECLARED, None, audit_words.NOT_COMPARED),
        (PIPELINE, DECLARED, compared(judged=0), audit_words.NOT_JUDGED),
    ],
)
def test_a_pipeline_that_is_not_compared_is_not_observable_and_says_why(pipeline, declared, row, unseen):
    audit = pipeline_audit(row, pipeline=pipeline, declared=declared)
    shown = audit_losses.pipeline_row(audit, VIEW)

    assert audit_losses.blind_spots(audit, {}, VIEW) == [unseen]
    assert (shown["Lost"], shown["Findings, 24 h"], shown["Verdict"]) == ("not observed", "not observed", "? Unknown")
    assert audit.grade is Grade.NOT_OBSERVABLE


def test_a_pipeline_of_which_a_side_may_not_be_read_says_so():
    never, before = pipeline_audit(why=REFUSED), pipeline_audit(compared(), fresh=Verdict.STALE, why=REFUSED)

    assert audit_losses.blind_spots(never, {}, VIEW)[0].startswith(f"not observed: nothing was compared: {REFUSED}.")
    assert audit_losses.blind_spots(before, {}, VIEW)[0].startswith(f"Source or sink is not read to its end: {REFUSED}")
    assert (never.verdict, before.verdict) == (Verdict.UNKNOWN, Verdict.STALE)


def test_a_pipeline_is_as_fresh_as_the_side_of_it_that_was_read_last():
    ways = {"orders": HowRead(Verdict.OK), "payments": HowRead(Verdict.STALE, "no broker answers")}
    (audit,) = pipeline_audits([PIPELINE], [DECLARED], [compared()], (), ways.__getitem__)

    assert (audit.verdict, audit.hindered) == (Verdict.STALE, "no broker answers")


def test_a_missing_id_is_proven_only_where_each_record_must_have_one_in_the_sink():
    assert pipeline_audit(compared()).grade is Grade.PROBABLE
    assert pipeline_audit(compared(), declared=replace(DECLARED, one_to_one=True)).grade is Grade.PROVEN


def test_a_compared_pipeline_is_ok_stale_or_as_bad_as_its_findings():
    finding = replace(fixture_store.lost(END_MS), pipeline="p")

    assert pipeline_audit(compared()).verdict is Verdict.OK
    assert pipeline_audit(compared(), fresh=Verdict.STALE).verdict is Verdict.STALE
    bad = pipeline_audit(compared(lost=41, lower=38, estimate=41, upper=44), recent=[concern(finding)])
    assert bad.verdict is Verdict.VIOLATED
    assert bad.day == Bounds(38, 41, 44, Unit.MESSAGE_IDS)
    assert pipeline_audit(compared(), recent=[concern(finding, Guarantee.AT_MOST_ONCE)]).verdict is None
    assert pipeline_audit(compared(), recent=[concern(replace(finding, pipeline="other"))]).verdict is Verdict.OK


def test_aborted_records_at_the_sink_are_counted_apart_from_losses():
    lost = replace(fixture_store.lost(END_MS), pipeline="p")
    aborted = replace(lost, kind=Kind.ABORTED_AT_SINK, bounds=Bounds(5, 5, 5, Unit.MESSAGE_IDS))
    one = concern(aborted, Guarantee.EXACTLY_ONCE)

    audit = pipeline_audit(compared(), recent=[one])

    assert (audit.day.upper, audit.aborted.estimate, audit.verdict) == (0, 5, Verdict.VIOLATED)
    assert audit_losses.pipeline_row(audit, VIEW)["Aborted, 24 h"] == "5"
    assert audit_losses.pipeline_row(pipeline_audit(compared()), VIEW)["Aborted, 24 h"] == "no finding"
    assert audit_losses.pipeline_row(pipeline_audit(), VIEW)["Aborted, 24 h"] == "not observed"


def test_losses_of_the_last_day_are_the_tile_of_the_overview():
    one = concern(fixture_store.lost(END_MS))
    settings = replace(DECLARED, name="orders-to-payments")

    audit = pipeline_audit(
        compared(pipeline=settings.name), pipeline=settings.pipeline, declared=settings, recent=[one]
    )

    tile = tiles.lost([one], [compared()], Reach(1, 1, "pipeline", ""), END_MS)
    assert (tile.value, tile.note) == (str(audit.day.estimate), f"{audit.day.lower} to {audit.day.upper} · 1 finding")


def test_what_a_comparison_cannot_see_is_said():
    sides = {
        "orders": read(records_without_id=2, purged_offsets=3, gap_offsets=4),
        "payments": read(records_without_id=1, purged_offsets=9, gap_offsets=8),
    }
    audit = pipeline_audit(compared(unseen=12, rate=1 / 64, observed_at_ms=END_MS + 1_000))

    first, *rest = audit_losses.blind_spots(audit, sides, VIEW)

    assert first.startswith("Ids below the first offset judged are not compared")
    assert [sentence.partition(":")[0] for sentence in rest] == [
        "Aborted ids are sought at the sink once all that was written to the source before is decided and read",
        "PROBABLE at most",
        "12 ids wait",
        "Ids compared",
        "This is the comparison as of 2025-11-24 16",
        "2 records of the source without an id",
        "3 offsets of the source purged before they were read",
        "4 offsets of the source in no range read",
        "1 record of the sink without an id",
        "9 offsets of the sink purged before they were read",
        "8 offsets of the sink in no range read",
    ]


def test_a_proven_comparison_without_gaps_says_where_it_begins_and_what_open_transactions_hide():
    audit = pipeline_audit(compared(), declared=replace(DECLARED, one_to_one=True))

    begins, hidden = audit_losses.blind_spots(audit, {"orders": read(), "payments": read()}, VIEW)

    assert begins.startswith("Ids below the first offset judged")
    assert "while a transaction stays open" in hidden


def test_offsets_compared_are_shown_in_full_digits():
    row = {"topic": "orders", "partition": 2, "judged_from": BASE_OFFSET, "judged_to": BASE_OFFSET + 6_000,
           "ids_judged": 6_000, "ids_unseen": 12, "ids_late": 3, "lower": 0, "estimate": 0, "upper": 0,
           "rate": 1.0}  # fmt: skip

    shown = audit_losses.partition_row(row)

    assert (shown["Judged from"], shown["Judged to"]) == ("9007199254740993", "9007199254746993")
    assert shown["Lost"] == "none of 6,000 ids"


def test_how_far_the_sink_was_read_is_cut_and_said_to_be():
    rows = [{"observed_at_ms": 1, "sink_read_to": "[]"},
            {"observed_at_ms": 2, "sink_read_to": json.dumps([[n, BASE_OFFSET] for n in range(20)])}]  # fmt: skip

    assert f"0 → {BASE_OFFSET}, 1 →" in audit_losses.sink_read_to(rows)
    assert audit_losses.sink_read_to(rows).endswith("11 → 9007199254740993, and 8 more")
    assert audit_losses.sink_read_to(rows[:1]) == "How far the sink was read is not known."
