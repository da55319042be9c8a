from dataclasses import replace

import pytest

from guarantees.findings import Bounds, FindingState, Grade, Kind, Unit
from guarantees.observations import Signal
from guarantees.places import TopicPartition
from guarantees.rules import transactions
from guarantees.thresholds import Thresholds
from guarantees.watch import observe, resume
from tests.guarantees.builders import (
    NOBODY,
    PARTITION,
    THRESHOLDS,
    at,
    complete,
    finding,
    findings,
    producer,
    seen,
    steps,
    transaction,
)

FROZEN = Kind.STABLE_OFFSET_FROZEN
OPEN = (producer(90),)
LISTED = (transaction(PARTITION),)


def held(last, *, every=5, first=0, **given):
    return [
        seen(s, **{"high": 100, "stable": 90, "producers": OPEN, "transactions": LISTED, **given})
        for s in steps(first, last, every)
    ]


def test_the_same_transaction_over_ten_seconds_holds_the_stable_offset():
    assert not findings(*held(5), kind=FROZEN)
    found = finding(*held(10), kind=FROZEN)

    assert (found.severity, found.grade, found.anchor) == (1, Grade.PROVEN, "producer 7, epoch 0, offset 90")
    assert (found.bounds.lower, found.bounds.upper) == (10, 10)
    assert found.evidence["transactional_id"] == "tx"
    assert found.evidence["class"] == "open"


def test_short_transactions_one_after_another_are_silent():
    rounds = [seen(s, high=100 + s, stable=90 + s, producers=(producer(90 + s),)) for s in steps(0, 120)]

    assert not findings(*rounds, kind=FROZEN)


@pytest.mark.parametrize(
    ("age_s", "timeout_s", "expected", "severity"),
    [
        (47, 60, "open", 1),
        (48, 60, "late", 2),
        (60, 60, "late", 2),
        (61, 60, "expiring", 2),
        (360, 60, "expiring", 2),
        (361, 60, "overdue", 3),
        (49, 900, "open", 1),
    ],
)
def test_the_coordinators_age_decides_while_it_lists_the_partition(age_s, timeout_s, expected, severity):
    listed = (transaction(PARTITION, started=10.02 - age_s, timeout_s=timeout_s),)
    found = finding(*held(10, transactions=listed), kind=FROZEN)

    assert (found.evidence["class"], found.severity) == (expected, severity)


ELSEWHERE = (transaction(TopicPartition("other", 0)),)
ALL_ASKED = (complete(Signal.TRANSACTIONS),)


def test_a_coordinator_that_describes_the_transaction_without_the_partition_proves_it_unlisted():
    found = finding(*held(60, transactions=ELSEWHERE), kind=FROZEN)

    assert (found.evidence["class"], found.severity) == ("unlisted", 3)
    assert found.statements[2].grade is Grade.PROVEN


def test_no_transaction_on_any_coordinator_is_probable_because_a_missing_right_looks_the_same():
    found = finding(*held(60, transactions=(), coverage=ALL_ASKED), kind=FROZEN)

    assert (found.evidence["class"], found.severity) == ("unlisted", 3)
    assert found.statements[2].grade is Grade.PROBABLE


@pytest.mark.parametrize(
    "coverage",
    [
        pytest.param((), id="not asked"),
        pytest.param((complete(Signal.PRODUCERS),), id="only others asked"),
        pytest.param((replace(ALL_ASKED[0], answered=0, failed=1),), id="one failed"),
        pytest.param((replace(ALL_ASKED[0], refused=1),), id="one refused"),
    ],
)
def test_coordinators_that_did_not_all_answer_prove_nothing(coverage):
    found = finding(*held(60, transactions=(), coverage=coverage), kind=FROZEN)

    assert (found.evidence["class"], found.severity) == ("open", 1)


def test_an_unlisted_transaction_hangs_once_its_last_write_is_older_than_any_timeout():
    writing, silent = (
        finding(*held(60, transactions=ELSEWHERE, producers=(producer(90, last_second=last),)), kind=FROZEN)
        for last in (-839.98, -839.981)
    )

    assert (writing.evidence["class"], silent.evidence["class"]) == ("unlisted", "hanging")
    assert silent.severity == 4


def test_a_future_producer_clock_does_not_hide_a_hanging_transaction():
    rounds = held(905, transactions=ELSEWHERE, producers=(producer(90, last_second=10_000),))

    assert finding(*rounds, kind=FROZEN).evidence["class"] == "hanging"


def test_a_pending_marker_with_the_partition_still_listed_does_not_hang():
    pending = (transaction(PARTITION, state="PrepareCommit"),)

    assert finding(*held(90, transactions=pending), kind=FROZEN).evidence["class"] == "expiring"


def test_a_round_without_answers_does_not_make_it_look_younger():
    rounds = [*held(60, transactions=ELSEWHERE), *held(70, first=65, transactions=(), producers=NOBODY)]

    assert finding(*rounds, kind=FROZEN).severity == 3


def test_without_the_right_to_describe_producers_the_transaction_that_lists_the_partition_is_named():
    found = finding(*held(30, producers=NOBODY), kind=FROZEN)

    assert found.statements[1].grade is Grade.PROBABLE
    assert found.evidence["transactional_id"] == "tx"


def test_without_any_right_the_stable_offset_alone_is_reported_after_more_patience():
    assert not findings(*held(25, producers=NOBODY, transactions=()), kind=FROZEN)
    found = finding(*held(30, producers=NOBODY, transactions=()), kind=FROZEN)

    assert found.statements[1].grade is Grade.NOT_OBSERVABLE
    assert found.anchor == "producer None, epoch None, offset 90"


def test_a_name_learnt_later_keeps_the_finding():
    rounds = [*held(30, producers=NOBODY, transactions=()), *held(40, first=35)]

    assert finding(*rounds, kind=FROZEN).evidence["producer_id"] == 7


@pytest.mark.parametrize(("committed", "is_waiting"), [(87, False), (88, True), (90, True), (91, False)], ids=str)
def test_groups_at_the_stable_offset_wait(committed, is_waiting):
    groups = finding(*held(10, committed=committed), kind=FROZEN).evidence["waiting_groups"]

    assert bool(groups) is is_waiting


@pytest.mark.parametrize(
    ("state", "word"),
    [
        ("PrepareCommit", ", committed:"),
        ("CompleteCommit", ", committed:"),
        ("PrepareAbort", ", aborted:"),
        ("CompleteAbort", ", aborted:"),
        ("Ongoing", ", committed or aborted (not seen which):"),
    ],
)
def test_it_closes_when_the_stable_offset_passes_the_start(state, word):
    ended = seen(15, high=101, stable=101, transactions=(transaction(PARTITION, state=state),))

    assert word in finding(*held(10), ended, kind=FROZEN).closed_reason


def test_it_closes_when_the_log_is_cut_below_it():
    assert "cut" in finding(*held(10), seen(15, high=80, epoch=1), kind=FROZEN).closed_reason


def test_the_stable_offset_stood_through_a_gap():
    assert (
        finding(*held(0), *held(600, first=600), kind=FROZEN).happened_at_ms
        == held(0)[0].partitions[PARTITION].observed_at_ms
    )


def test_a_name_known_before_is_kept_where_the_leader_does_not_answer_when_it_is_found():
    other = transaction(PARTITION, producer_id=3, started=-5)
    found = finding(*held(5), *held(10, first=10, producers=NOBODY, transactions=(other, *LISTED)), kind=FROZEN)

    assert (found.evidence["producer_id"], found.evidence["transaction_started_at_ms"]) == (7, LISTED[0].started_at_ms)
    assert (found.statements[1].grade, found.statements[1].text) == (
        Grade.PROVEN,
        "Producer 7, epoch 0, has a transaction open there.",
    )


def test_a_transaction_whose_begin_is_not_known_is_as_old_as_it_was_seen():
    begun_unseen = (replace(LISTED[0], started_at_ms=None),)
    found = finding(*held(61, every=30.5, transactions=begun_unseen), kind=FROZEN)

    assert (found.evidence["class"], found.statements[2].grade) == ("expiring", Grade.NOT_OBSERVABLE)
    assert found.statements[2].text == ("It is expiring: seen open for 61 s, timeout 60 s; when it began is not known.")


@pytest.mark.parametrize(
    "less",
    [
        pytest.param({"producers": NOBODY, "transactions": LISTED}, id="the leader did not answer"),
        pytest.param({"transactions": ()}, id="the coordinators did not answer"),
    ],
)
def test_a_round_that_knows_less_only_counts_anew(less):
    rounds = [*held(60, transactions=ELSEWHERE), *held(70, first=65, **{"high": 120, **less})]
    found = finding(*rounds, kind=FROZEN)

    assert (found.evidence["class"], found.evidence["high_watermark"]) == ("unlisted", 100)
    assert found.bounds == Bounds(30, 30, 30, Unit.OFFSETS)
    assert found.last_seen_at_ms == at(70.02)


def test_it_closes_one_offset_past_the_start_and_says_when_that_was_seen():
    found = finding(*held(10), seen(15, high=101, stable=91), kind=FROZEN)

    assert (found.state, found.last_seen_at_ms) == (FindingState.CLOSED, at(15.02))
    assert finding(*held(15), kind=FROZEN).state is FindingState.OPEN


@pytest.mark.parametrize("begun", [5, None], ids=["later", "not known when"])
def test_the_oldest_transaction_that_lists_the_partition_is_named_where_no_producer_is(begun):
    """One whose begin is not known may be the oldest."""
    other = replace(LISTED[0], transactional_id="other", started_at_ms=None if begun is None else at(begun))
    named = [
        finding(*held(30, producers=NOBODY, transactions=both), kind=FROZEN).evidence["transactional_id"]
        for both in ((other, *LISTED), (*LISTED, other))
    ]

    assert named == (["tx", "tx"] if begun is not None else ["other", "other"])


def test_of_two_that_began_at_once_the_same_one_is_named_in_every_order():
    other = replace(LISTED[0], transactional_id="a")
    for both in ((other, *LISTED), (*LISTED, other)):
        found = finding(*held(30, producers=NOBODY, transactions=both), kind=FROZEN)
        assert found.evidence["transactional_id"] == "a"


def test_an_open_producer_that_starts_elsewhere_does_not_hold_the_stable_offset():
    found = finding(*held(30, producers=(producer(91),), transactions=()), kind=FROZEN)

    assert found.evidence["producer_id"] is None


def test_a_coordinators_clock_ahead_of_ours_makes_no_transaction_younger_than_nothing():
    assert [transactions.coordinator_age_ms(transaction(started=s), at(0)) for s in (-1, 0, 1)] == [1000, 0, 0]


UNANSWERED = {"the leader did not answer": {"high": NOBODY}, "its stable offset is not known": {"stable": NOBODY}}


@pytest.mark.parametrize("less", UNANSWERED.values(), ids=UNANSWERED.keys())
def test_it_waits_where(less):
    opened = finding(*held(10), kind=FROZEN)

    assert finding(*held(10), seen(15, **{"high": 100, "stable": 90, **less}), kind=FROZEN) == opened


@pytest.mark.parametrize("high", [89, 90])
def test_a_log_cut_to_the_transactions_start_or_below_has_lost_it(high):
    for stable in (high, high - 10):
        cut = seen(15, high=high, stable=stable, epoch=1)
        assert "cut" in finding(*held(10), cut, kind=FROZEN).closed_reason


def test_it_goes_on_after_a_restart_that_forgot_since_when_it_is_held():
    opened = finding(*held(10, committed=90), kind=FROZEN)
    memory, _ = resume([], [opened], THRESHOLDS)
    _, (found,) = observe(memory, held(60, first=60)[0], THRESHOLDS)

    assert (found.finding_id, found.happened_at_ms) == (opened.finding_id, at(0.02))
    assert (found.evidence["held_since_ms"], found.evidence["waiting_groups"]) == (at(0.02), [])


def test_one_sample_shows_no_frozen_offset_whatever_the_threshold():
    at_once = Thresholds(frozen_after_s=0)

    assert not findings(*held(0), kind=FROZEN, thresholds=at_once)
    assert findings(*held(5), kind=FROZEN, thresholds=at_once)
