import pytest

from guarantees.findings import Grade, Kind
from guarantees.unknown import Unknown
from tests.guarantees.builders import finding, findings, replica, seen, state

CUT = Kind.LOG_TRUNCATED


def test_a_lower_high_watermark_of_a_newer_epoch_is_a_cut():
    found = finding(seen(0, high=1500, epoch=4), seen(5, high=1100, epoch=5, broker=3), kind=CUT)

    assert (found.severity, found.grade, found.anchor) == (4, Grade.PROVEN, "leader epoch 5")
    assert (found.bounds.lower, found.bounds.upper) == (400, None)


@pytest.mark.parametrize(
    "after",
    [
        seen(5, high=1500, epoch=5),
        seen(5, high=1501, epoch=5),
        seen(5, high=1100, epoch=3),
        seen(5, high=1100, epoch=4),
        seen(5, high=1100, epoch=5, topic_id="topic-id-2"),
    ],
    ids=["equal", "higher", "a replaced leader's answer", "same epoch: another log", "another topic id"],
)
def test_what_is_not_a_cut(after):
    assert not findings(seen(0, high=1500, epoch=4), after, kind=CUT)


def test_a_replaced_leaders_late_answer_is_no_sample():
    rounds = (
        seen(0, high=1000, epoch=4),
        seen(5, high=1200, epoch=5),
        seen(10, high=1000, epoch=4),
        seen(15, high=1100, epoch=5),
    )
    assert not findings(*rounds[:3], seen(15, high=1200, epoch=5), kind=CUT)
    assert not findings(*rounds, kind=CUT)


def test_an_answer_older_than_the_metadata_is_no_sample():
    rounds = (
        seen(0, high=1000, epoch=4, isr=state(epoch=5)),
        seen(5, high=1200, epoch=4),
        seen(10, high=1100, epoch=5),
    )

    assert not findings(*rounds, kind=CUT)


@pytest.mark.parametrize(
    ("before", "eligible", "is_unclean", "grade"),
    [
        (state([1, 2], epoch=4), None, True, Grade.PROBABLE),
        (state([1, 3], epoch=4), None, False, Grade.NOT_OBSERVABLE),
        (state([1], epoch=4, eligible=[3]), [3], False, Grade.NOT_OBSERVABLE),
        (None, None, None, Grade.NOT_OBSERVABLE),
    ],
    ids=["outside", "in sync", "eligible", "not seen"],
)
def test_unclean_means_outside_the_last_in_sync_and_eligible_replicas(before, eligible, is_unclean, grade):
    rounds = (seen(0, high=1500, epoch=4, isr=before), seen(5, high=1100, epoch=5, broker=3, isr=state([3], epoch=5)))
    found = finding(*rounds, kind=CUT)

    assert found.evidence["is_unclean"] is is_unclean
    assert found.evidence["eligible_leader_replicas_before"] == eligible
    assert found.statements[1].grade is grade


def test_the_last_in_sync_replicas_are_those_of_before_the_election():
    elected = state([3], epoch=5, leader=3)
    rounds = (
        seen(0, high=1500, epoch=4, isr=state([1, 2], epoch=4)),
        seen(5, high=1500, epoch=4, isr=elected),
        seen(10, high=1100, epoch=5, broker=3, isr=elected),
    )
    assert finding(*rounds, kind=CUT).evidence["in_sync_replicas_before"] == [1, 2]


def test_the_new_leaders_last_log_end_bounds_the_loss_and_the_tail_is_told_apart():
    before = seen(0, high=1500, epoch=4, replicas=(replica(1, 1520), replica(3, 1050)))
    found = finding(before, seen(5, high=1100, epoch=5, broker=3), kind=CUT)

    assert (found.bounds.lower, found.bounds.upper) == (400, 450)
    assert found.evidence["offsets_above_high_watermark_before"] == 20


def test_groups_committed_beyond_the_new_end_are_named():
    found = finding(seen(0, high=1500, committed=1400), seen(5, high=1100, epoch=1, committed=1400), kind=CUT)
    within = finding(seen(0, high=1500, committed=1100), seen(5, high=1100, epoch=1, committed=1100), kind=CUT)

    assert found.evidence["groups_beyond_end"] == [{"group_id": "payments", "committed_offset": 1400}]
    assert within.evidence["groups_beyond_end"] == []


@pytest.mark.parametrize("unknown", [{"committed": Unknown("broker 1 did not answer")}, {"pending": True}])
def test_a_group_whose_commit_is_unknown_at_a_cut_is_counted_and_named_as_not_observable(unknown):
    found = finding(seen(0, high=1500, committed=1400), seen(5, high=1100, epoch=1, **unknown), kind=CUT)
    known = finding(seen(0, high=1500, committed=1400), seen(5, high=1100, epoch=1, committed=1400), kind=CUT)
    without = finding(seen(0, high=1500), seen(5, high=1100, epoch=1, no_commit=True), kind=CUT)

    assert (found.evidence["groups_beyond_end"], found.evidence["groups_unknown"]) == ([], 1)
    assert found.statements[-1].grade is Grade.NOT_OBSERVABLE
    assert "Whether 1 group committed beyond 1,100" in found.statements[-1].text
    assert found.statements[-1].text.endswith("known in this round: payments.")
    for one in (known, without):
        assert one.evidence["groups_unknown"] == 0
        assert "Whether 1 group" not in one.statements[-1].text


def test_a_cut_closes_when_the_log_has_grown_past_its_old_end():
    cut = (seen(0, high=1500), seen(5, high=1100, epoch=1))

    assert finding(*cut, seen(10, high=1499, epoch=1), kind=CUT).closed_reason is None
    assert finding(*cut, seen(10, high=1500, epoch=1), kind=CUT).closed_reason


def test_two_cuts_of_one_partition_are_two_findings():
    rounds = (seen(0, high=1500), seen(5, high=1100, epoch=1), seen(10, high=900, epoch=2))

    assert len(findings(*rounds, kind=CUT)) == 2
