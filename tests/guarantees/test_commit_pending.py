from dataclasses import replace

import pytest

from guarantees.findings import Grade, Kind
from guarantees.observations import Signal
from guarantees.places import TopicPartition
from tests.guarantees.builders import NOBODY, THRESHOLDS, at, complete, finding, findings, seen, steps, transaction
from tests.guarantees.test_watch import written

PENDING = Kind.COMMIT_PENDING
COMMITS = TopicPartition("__consumer_offsets", 3)


def pending(first, last, **given):
    return [seen(s, high=900, pending=True, **given) for s in steps(first, last)]


def test_a_commit_pending_for_longer_than_any_default_transaction_is_stuck():
    found = finding(seen(0, high=900, committed=500), *pending(5, 80), kind=PENDING)

    assert (found.severity, found.grade, found.anchor) == (3, Grade.PROVEN, "after commit 500")
    assert found.happened_at_ms == at(5.01)
    assert (found.bounds.lower, found.bounds.upper) == (75, None)
    assert found.evidence["transaction_timeout_ms"] == 60_000
    assert "no offset" not in found.title


def test_pending_turns_into_a_finding_only_past_timeout_and_abort_task():
    assert not findings(*pending(0, 70), kind=PENDING)
    assert findings(*pending(0, 75), kind=PENDING)


def test_the_timeout_of_an_open_transaction_with_commits_counts_instead_of_the_default():
    def timed(timeout_s, partition=COMMITS):
        return pending(0, 75, transactions=(transaction(partition, timeout_s=timeout_s),))

    assert findings(*timed(64), kind=PENDING)
    assert not findings(*timed(65), kind=PENDING)
    assert findings(*timed(65, TopicPartition("orders", 0)), kind=PENDING)


def test_one_transaction_after_another_is_no_stuck_commit():
    def rounds(*coverage, age=4):
        return [
            seen(s, high=900, pending=True, coverage=coverage, transactions=(transaction(COMMITS, started=s - age),))
            for s in steps(0, 200)
        ]

    asked = complete(Signal.TRANSACTIONS)
    unsure = (complete(Signal.LOG_START), replace(asked, answered=0, failed=1), replace(asked, refused=1))

    assert not findings(*rounds(asked), kind=PENDING)
    assert [bool(findings(*rounds(*told), kind=PENDING)) for told in ((), *((one,) for one in unsure))] == [True] * 4


@pytest.mark.parametrize(
    ("answer", "is_found"),
    [({"committed": 500}, False), ({"no_commit": True}, False), ({"committed": NOBODY}, True), ({}, True)],
    ids=["a commit", "none", "no answer", "not asked"],
)
def test_a_run_is_broken_by_answers_and_not_by_silence(answer, is_found):
    rounds = [*pending(0, 40), seen(45, high=900, **answer), *pending(50, 90)]

    assert bool(findings(*rounds, kind=PENDING)) is is_found


@pytest.mark.parametrize(("gap_s", "is_found"), [(THRESHOLDS.gap_s, True), (THRESHOLDS.gap_s + 0.001, False)])
def test_a_run_does_not_last_over_a_gap(gap_s, is_found):
    last = seen(60 + gap_s, high=900, pending=True)

    assert bool(findings(*pending(0, 60), last, kind=PENDING)) is is_found


def test_a_commit_pending_on_a_topic_that_was_made_anew_is_another_run():
    assert not findings(*pending(0, 40), *pending(45, 90, topic_id="topic-id-2"), kind=PENDING)


CLOSES = {
    "decided": ({"committed": 510}, "the commit is decided: 510"),
    "aborted": ({"no_commit": True}, "the pending commit was aborted: the group has no commit here"),
    "not answered": ({"committed": NOBODY}, None),
    "still pending": ({"pending": True}, None),
    "not asked": ({}, None),
    "of another topic": ({"committed": 510, "topic_id": "topic-id-2"}, None),
}


@pytest.mark.parametrize(("answer", "reason"), CLOSES.values(), ids=CLOSES.keys())
def test_it_closes_at_the_first_decided_answer(answer, reason):
    assert finding(*pending(0, 80), seen(85, high=900, **answer), kind=PENDING).closed_reason == reason


def test_it_lasts_over_a_restart_as_one_finding():
    rounds = [seen(0, high=900, committed=500), *pending(5, 200)]

    assert len(written(rounds)) == 1
    assert written(rounds, {10, 20, 30}).keys() == written(rounds).keys()


def test_its_title_says_for_how_long_by_now():
    assert "for 75 s" in finding(*pending(0, 75), kind=PENDING).title
    assert "for 90 s" in finding(*pending(0, 90), kind=PENDING).title
