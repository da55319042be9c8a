from dataclasses import replace

import pytest

from guarantees.findings import Grade
from guarantees.rules import producer_recovered
from tests.guarantees.builders import at
from tests.guarantees.logs import batch, found_by, scan

FIRST = batch(0, pid=9, seq=0)


def recovered(*batches, second=0):
    return found_by(producer_recovered, [scan(*batches, second=second)])


def test_a_raised_epoch_without_transactions_is_a_recovery_whose_outcome_is_uncertain():
    (finding,) = recovered(FIRST, batch(1, pid=9, epoch=1, seq=0))

    assert (finding.severity, finding.grade, finding.bounds) == (2, Grade.POSSIBLE, None)
    assert finding.anchor == "leader epoch 0"
    assert finding.evidence["bumps"] == [{"producer_id": 9, "epoch_before": 0, "epoch": 1, "offset": 1}]


def test_in_the_first_batch_of_a_new_leader_it_is_probably_a_cut_log():
    (finding,) = recovered(FIRST, batch(1, pid=9, epoch=1, seq=0, leader=1))

    assert (finding.severity, finding.grade) == (3, Grade.PROBABLE)
    assert finding.statements[0].assumption == producer_recovered.LOG_WAS_CUT


def test_after_the_first_batch_of_a_new_leader_it_is_not():
    (finding,) = recovered(FIRST, batch(1, leader=1), batch(2, pid=9, epoch=1, seq=0, leader=1))

    assert finding.grade is Grade.POSSIBLE


@pytest.mark.parametrize(
    "batches",
    [
        pytest.param((FIRST, batch(1, pid=9, seq=1)), id="the same epoch"),
        pytest.param((FIRST, batch(1, pid=8, epoch=1, seq=0)), id="a new producer id alone"),
        pytest.param((FIRST, batch(1, pid=9, seq=1, leader=4)), id="a new leader alone"),
        pytest.param(
            (batch(0, pid=9, seq=0, tx=True), batch(1, pid=9, epoch=1, seq=0, tx=True)),
            id="every transaction raises it",
        ),
        pytest.param((FIRST, batch(1, pid=9, epoch=1, seq=0, tx=True)), id="a transaction"),
        pytest.param(
            (batch(0, pid=9, seq=0, tx=True), batch(1, pid=9, epoch=1, seq=0)), id="what follows a transaction"
        ),
        pytest.param((FIRST, batch(1, pid=9, epoch=1)), id="a batch without sequences"),
        pytest.param(
            (batch(0, pid=9, seq=0, value=1), batch(1, pid=9, epoch=1, seq=0, value=1)), id="a duplicate (P4)"
        ),
    ],
)
def test_what_is_no_recovery_is_silent(batches):
    assert recovered(*batches) == []


def test_those_who_recover_under_one_leader_are_one_finding_as_sure_as_the_surest():
    sure, unsure = recovered(
        FIRST,
        batch(1, pid=8, seq=0),
        batch(2, pid=9, epoch=1, seq=0, leader=1),
        batch(3, pid=8, epoch=1, seq=0, leader=1),
    )

    both = producer_recovered.joined(sure, unsure)

    assert sure.finding_id == unsure.finding_id
    assert (both.severity, both.evidence["count"]) == (3, 2)
    assert [bump["producer_id"] for bump in both.evidence["bumps"]] == [9, 8]
    assert producer_recovered.joined(both, unsure) == both


def test_a_surer_recovery_that_comes_later_gives_its_words_and_the_first_one_its_time():
    (unsure,) = recovered(batch(0, pid=8, seq=0), batch(1, leader=1), batch(2, pid=8, epoch=1, seq=0, leader=1))
    (sure,) = recovered(FIRST, batch(5, pid=9, epoch=1, seq=0, leader=1), second=7)

    both = producer_recovered.joined(replace(unsure, closed_reason="settled"), sure)

    assert (both.severity, both.statements, both.closed_reason) == (3, sure.statements, None)
    assert both.title == "orders-0: producers recovered from errors 2 times, producer 8 first"
    assert (both.happened_at_ms, both.last_seen_at_ms) == (at(0), at(7))


def test_a_less_sure_recovery_that_comes_later_moves_the_time_it_was_last_seen_and_opens_it_again():
    (sure,) = recovered(FIRST, batch(1, pid=9, epoch=1, seq=0, leader=1))
    (unsure,) = recovered(
        batch(2, pid=8, seq=0), batch(3, leader=1), batch(4, pid=8, epoch=1, seq=0, leader=1), second=7
    )

    both = producer_recovered.joined(replace(sure, closed_reason="settled"), unsure)

    assert (both.statements, both.last_seen_at_ms, both.closed_reason) == (sure.statements, at(7), None)


def test_of_two_that_are_as_sure_the_first_gives_its_words():
    first, second = recovered(
        FIRST, batch(1, pid=8, seq=0), batch(2, pid=9, epoch=1, seq=0), batch(3, pid=8, epoch=1, seq=0)
    )

    assert producer_recovered.joined(first, second).statements == first.statements


def test_the_first_twenty_recoveries_are_shown_and_all_are_counted():
    first, *others = recovered(
        *(batch(n, pid=n, seq=0) for n in range(22)), *(batch(22 + n, pid=n, epoch=1, seq=0) for n in range(22))
    )
    for other in others:
        first = producer_recovered.joined(first, other)

    assert first.evidence["count"] == 22
    assert [bump["producer_id"] for bump in first.evidence["bumps"]] == list(range(20))
