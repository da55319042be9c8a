from dataclasses import replace

import pytest

from guarantees.completeness import RoundsSeen
from guarantees.findings import Finding, Grade, Kind, Place, Statement
from guarantees.observations import Signal
from guarantees.promises import Guarantee, Pipeline, Verdict, judge
from guarantees.unknown import Unknown
from guarantees.verdicts import ESSENTIAL, OF_GROUP, OF_TOPIC, Sight, concerns, pipeline_verdict
from tests.guarantees.builders import complete

ALO, AMO, EO = Guarantee.AT_LEAST_ONCE, Guarantee.AT_MOST_ONCE, Guarantee.EXACTLY_ONCE
PIPELINE = Pipeline("billing", "orders", "payments", "invoices", EO)
NOW = 1_000_000
ROUNDS = RoundsSeen(NOW - 60_000, NOW, 5_000, 12, NOW - 60_000, NOW, 5_000, NOW - 60_000)
FULL = Sight(
    newest_evidence_at_ms=NOW,
    interval_s=5.0,
    coverage=tuple(complete(signal) for signal in sorted(ESSENTIAL)),
    sampled_topics=frozenset({"orders", "invoices"}),
    rounds=ROUNDS,
)


def fact(kind, severity=3, *, topic="orders", group_id="payments", closed=None, last_seen_at_ms=NOW):
    place = Place("c", topic, "t", 0, group_id if kind in OF_GROUP else None)
    statements = (Statement(Grade.PROVEN, "seen"),)
    return Finding(kind, place, "a", severity, "title", statements, None, {}, 0, last_seen_at_ms, closed_reason=closed)


def verdict(*facts, pipeline=PIPELINE, sight=FULL, now_ms=NOW):
    return pipeline_verdict(pipeline, facts, sight, now_ms=now_ms, window_from_ms=NOW - 60_000)


def test_a_pipeline_without_findings_that_was_seen_whole_keeps_its_promise():
    seen = verdict()

    assert (seen.verdict, seen.findings, seen.unknowns, seen.is_stale) == (Verdict.OK, (), (), False)
    assert (seen.pipeline, seen.sight) == (PIPELINE, FULL)


def test_the_worst_finding_decides_and_comes_first():
    rewind, loss = fact(Kind.REWIND), fact(Kind.LOST_WRITE, 4)
    seen = verdict(rewind, loss)

    assert (seen.verdict, seen.findings) == (Verdict.VIOLATED, (loss, rewind))
    assert verdict(rewind).verdict is Verdict.DEGRADED


def test_of_findings_that_mean_the_same_the_more_severe_comes_first():
    cut, skip = fact(Kind.LOG_TRUNCATED, 3), fact(Kind.EXPIRED_UNREAD, 4)

    assert verdict(cut, skip).findings == (skip, cut)


BLIND = {
    "nothing yet": replace(FULL, newest_evidence_at_ms=None),
    "a signal not asked for": replace(FULL, coverage=FULL.coverage[1:]),
    "a signal incomplete": replace(FULL, coverage=(replace(FULL.coverage[0], answered=0), *FULL.coverage[1:])),
    "one round": replace(FULL, rounds=replace(ROUNDS, present=1)),
    "fewer than half of the rounds": replace(FULL, rounds=replace(ROUNDS, present=5)),
    "no ids of the sink": replace(FULL, sampled_topics=frozenset({"orders"})),
    "no ids of the source": replace(FULL, sampled_topics=frozenset({"invoices"})),
}


@pytest.mark.parametrize("sight", BLIND.values(), ids=BLIND.keys())
def test_a_gap_is_never_green_and_never_hides_what_is_known(sight):
    assert verdict(sight=sight).verdict is Verdict.UNKNOWN
    assert verdict(sight=sight).unknowns
    assert verdict(fact(Kind.REWIND), sight=sight).verdict is Verdict.DEGRADED


def test_detail_that_is_missing_is_said_and_blinds_nobody():
    refused = replace(complete(Signal.CONFIGS), answered=0, refused=1)
    failed = replace(complete(Signal.REPLICA_OFFSETS, 9), answered=7, failed=2, error="timed out")
    seen = verdict(sight=replace(FULL, coverage=(*FULL.coverage, refused, failed)))

    assert seen.verdict is Verdict.OK
    assert [one.reason for one in seen.unknowns] == [
        "configs: 0 of 1 values answered, 1 not permitted",
        "replica_offsets: 7 of 9 values answered: timed out",
    ]


def test_what_of_a_topic_was_never_compared_is_why_its_ids_tell_nothing():
    purged = "7 offsets of invoices purged before they were read"
    sight = replace(FULL, sampled_topics=frozenset({"orders"}), never_compared={"invoices": purged})

    assert [unknown.reason for unknown in verdict(sight=sight).unknowns] == [
        f"duplicates: {purged}",
        f"losses: {purged}",
    ]


def test_all_that_is_not_seen_is_said():
    blind = replace(FULL, coverage=FULL.coverage[1:], sampled_topics=frozenset())

    assert [one.reason for one in verdict(sight=blind).unknowns] == [
        f"{FULL.coverage[0].signal} was not asked for",
        "duplicates: no message ids of invoices were sampled",
        "losses: no message ids of orders were sampled",
        "losses: no message ids of invoices were sampled",
    ]
    nothing_yet = verdict(sight=BLIND["nothing yet"])
    assert [one.reason for one in nothing_yet.unknowns] == ["nothing was observed yet"]
    assert not nothing_yet.is_stale
    gone = Unknown("no samples of this time are kept")
    expired = verdict(sight=replace(BLIND["nothing yet"], not_kept=gone))
    assert (expired.verdict, expired.unknowns) == (Verdict.UNKNOWN, (gone,))
    assert [one.reason for one in verdict(pipeline=replace(PIPELINE, sink=None)).unknowns] == [
        "losses: without a sink, what the group did with a record is not observable"
    ]


@pytest.mark.parametrize(
    ("changed", "expected", "said"),
    [
        ({}, 12, []),
        ({"present": 6}, 12, []),
        ({"present": 13}, 13, []),
        ({"first_ms": NOW - 10_000, "present": 2}, 2, ["nothing was observed in the window before"]),
        ({"first_ms": NOW - 45_000, "present": 9}, 9, []),
        ({"first_ms": NOW - 44_999, "present": 8}, 8, ["nothing was observed in the window before"]),
        ({"last_ms": NOW - 15_000}, 12, []),
        ({"last_ms": NOW - 15_001}, 12, ["nothing was observed in the window after 1970-01-01"]),
        ({"longest_gap_ms": 15_000}, 12, []),
        ({"longest_gap_ms": 15_001}, 12, ["nothing was observed for 15 s from 1970-01-01 00:15:40.000 UTC"]),
        ({"longest_gap_ms": 900_000}, 12, ["nothing was observed for 900 s from 1970-01-01 00:15:40.000 UTC, the lon"]),
        ({"longest_gap_ms": None, "gap_from_ms": None}, 12, []),
    ],
)
def test_a_verdict_says_how_many_rounds_it_rests_on_and_where_none_was_seen(changed, expected, said):
    seen = verdict(sight=replace(FULL, rounds=replace(ROUNDS, **changed)))

    assert (seen.verdict, seen.sight.rounds.expected) == (Verdict.OK, expected)
    assert [u.reason.startswith(text) for u, text in zip(seen.unknowns, said, strict=True)] == [True] * len(said)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"present": 0, "first_ms": None}, "0 of 0 rounds were observed: nothing can be compared"),
        ({"present": 1}, "1 of 12 rounds were observed: nothing can be compared"),
        ({"present": 5}, "only 5 of 12 expected rounds were observed in the window"),
    ],
)
def test_too_few_rounds_are_unknown_with_their_number(changed, said):
    seen = verdict(sight=replace(FULL, rounds=replace(ROUNDS, **changed)))

    assert seen.verdict is Verdict.UNKNOWN
    assert seen.unknowns[0].reason == said


@pytest.mark.parametrize(("now_ms", "expected"), [(NOW + 10_000, Verdict.OK), (NOW + 10_001, Verdict.STALE)])
def test_evidence_older_than_two_intervals_is_stale(now_ms, expected):
    assert verdict(now_ms=now_ms).verdict is expected


@pytest.mark.parametrize(
    ("promise", "sink", "sampled", "unknown"),
    [
        (ALO, None, set(), "losses: without a sink"),
        (AMO, None, {"orders"}, None),
        (AMO, None, set(), "duplicates"),
        (ALO, "invoices", {"orders", "invoices"}, None),
        (EO, None, {"orders"}, "losses: without a sink"),
    ],
)
def test_what_a_promise_needs_to_be_seen(promise, sink, sampled, unknown):
    pipeline = replace(PIPELINE, promise=promise, sink=sink)
    seen = verdict(pipeline=pipeline, sight=replace(FULL, sampled_topics=frozenset(sampled)))

    assert [u.reason.startswith(unknown or "never") for u in seen.unknowns] == ([] if unknown is None else [True])


@pytest.mark.parametrize(
    ("finding", "expected"),
    [
        (fact(Kind.DUPLICATE_WRITE, closed="settled"), Verdict.VIOLATED),
        (fact(Kind.DUPLICATE_WRITE, closed="settled", last_seen_at_ms=NOW - 60_000), Verdict.VIOLATED),
        (fact(Kind.DUPLICATE_WRITE, closed="settled", last_seen_at_ms=NOW - 60_001), Verdict.OK),
        (fact(Kind.DUPLICATE_WRITE, last_seen_at_ms=NOW - 60_001), Verdict.VIOLATED),
        (fact(Kind.LOST_WRITE, closed="explained as late"), Verdict.OK),
        (fact(Kind.BELOW_MIN_ISR, 2, closed="again"), Verdict.OK),
        (fact(Kind.BELOW_MIN_ISR, 2), Verdict.DEGRADED),
    ],
)
def test_a_violation_counts_in_its_window_although_it_is_over(finding, expected):
    assert verdict(finding).verdict is expected


@pytest.mark.parametrize(
    ("finding", "expected"),
    [
        (fact(Kind.REWIND), True),
        (fact(Kind.REWIND, group_id="other"), False),
        (fact(Kind.REWIND, topic="invoices"), False),
        (fact(Kind.DUPLICATE_WRITE, topic="invoices"), True),
        (fact(Kind.DUPLICATE_WRITE, topic="orders"), True),
        (fact(Kind.DUPLICATE_WRITE, topic="other"), False),
    ],
)
def test_a_finding_concerns_a_pipeline_by_group_and_source_or_by_topic(finding, expected):
    assert concerns(PIPELINE, finding) is expected


def test_a_finding_without_a_topic_concerns_no_pipeline():
    assert not concerns(replace(PIPELINE, sink=None), fact(Kind.DUPLICATE_WRITE, topic=None))


def test_every_kind_is_of_a_group_or_of_a_topic():
    assert set(Kind) == OF_GROUP | OF_TOPIC
    assert not OF_GROUP & OF_TOPIC


@pytest.mark.parametrize(
    ("kind", "severity", "promise", "expected"),
    [
        (Kind.LOST_WRITE, 4, ALO, Verdict.VIOLATED),
        (Kind.LOST_WRITE, 4, AMO, Verdict.OK),
        (Kind.DUPLICATE_WRITE, 3, ALO, Verdict.OK),
        (Kind.DUPLICATE_WRITE, 3, EO, Verdict.VIOLATED),
        (Kind.REWIND, 3, ALO, Verdict.OK),
        (Kind.REWIND, 3, AMO, Verdict.VIOLATED),
        (Kind.REWIND, 1, EO, Verdict.DEGRADED),
        (Kind.POSSIBLE_REDELIVERY, 1, EO, Verdict.OK),
        (Kind.POSSIBLE_REDELIVERY, 2, EO, Verdict.DEGRADED),
        (Kind.POSSIBLE_REDELIVERY, 2, ALO, Verdict.OK),
        (Kind.STABLE_OFFSET_FROZEN, 1, ALO, Verdict.OK),
        (Kind.STABLE_OFFSET_FROZEN, 2, ALO, Verdict.DEGRADED),
        (Kind.TAIL_TRUNCATED, 3, ALO, Verdict.DEGRADED),
        (Kind.UNCLEAN_ELECTION, 4, EO, Verdict.DEGRADED),
        (Kind.UNCLEAN_ELECTION, 4, AMO, Verdict.OK),
        (Kind.COMMIT_IN_TRUNCATED_LOG, 2, ALO, Verdict.DEGRADED),
        (Kind.WRONG_COMMIT_EPOCH, 1, ALO, Verdict.OK),
        (Kind.COMMIT_OF_OLD_TOPIC, 4, ALO, Verdict.VIOLATED),
        (Kind.TOPIC_RECREATED, 1, ALO, Verdict.OK),
        (Kind.PARTITIONS_ADDED, 2, ALO, Verdict.OK),
        (Kind.AT_MIN_ISR, 1, ALO, Verdict.OK),
        (Kind.AT_MIN_ISR, 3, ALO, Verdict.DEGRADED),
        (Kind.MIN_ISR_ABOVE_REPLICAS, 1, EO, Verdict.OK),
    ],
)
def test_one_table_judges_the_facts(kind, severity, promise, expected):
    assert judge(kind, severity, promise) is expected
