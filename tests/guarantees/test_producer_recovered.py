import pytest

from guarantees.findings import Grade
from guarantees.rules import producer_recovered
from tests.guarantees.logs import batch, found_by, scan

FIRST = batch(0, pid=9, seq=0)


def recovered(*batches):
    return found_by(producer_recovered, [scan(*batches)])


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
