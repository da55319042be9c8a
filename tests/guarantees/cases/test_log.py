"""Cases of people who run Kafka: what happened to the log."""

from guarantees.findings import Grade, Kind
from tests.guarantees.builders import (
    complete,
    epoch_end,
    finding,
    findings,
    producer,
    replica,
    seen,
    state,
    steps,
)

A, B, C = 1, 2, 3


def test_case_C13_a_high_watermark_that_fell_by_three_at_a_preferred_election_is_a_cut_of_three():
    """The second incident; the sequences that are nowhere (P5a) need record batches."""
    rounds = (seen(0, high=599_496_617, epoch=814), seen(5, high=599_496_614, epoch=815, broker=2))
    found = finding(*rounds, kind=Kind.LOG_TRUNCATED)

    assert (found.bounds.lower, found.grade) == (3, Grade.PROVEN)
    assert found.evidence["first_lost_offset"] == 599_496_614
    assert "leader epoch 814" in found.statements[0].text


def test_case_C13_a_clean_preferred_election_leaves_the_cause_of_the_fall_unknown():
    rounds = (
        seen(0, high=599_496_617, epoch=814, isr=state([1, 2], epoch=814)),
        seen(5, high=599_496_614, epoch=815, broker=2, isr=state([1, 2], epoch=815, leader=2)),
    )
    found = finding(*rounds, kind=Kind.LOG_TRUNCATED)

    assert found.statements[1].grade is Grade.NOT_OBSERVABLE
    assert not findings(*rounds, kind=Kind.UNCLEAN_ELECTION)


def unclean_election_of_C():
    ends = (replica(A, 10, epoch=3), replica(B, 5, epoch=3), replica(C, 2, epoch=3))
    return (
        seen(0, high=5, epoch=3, broker=A, replicas=ends, isr=state([A], epoch=3, leader=A)),
        seen(9, high=2, epoch=4, broker=C, isr=state([C], epoch=4, leader=C, second=9)),
    )


def test_case_C14_the_loss_is_told_below_and_above_the_last_high_watermark():
    found = finding(*unclean_election_of_C(), kind=Kind.LOG_TRUNCATED)

    assert (found.bounds.lower, found.bounds.upper) == (3, 3)
    assert (found.evidence["first_lost_offset"], found.evidence["high_watermark_before"]) == (2, 5)
    assert found.evidence["offsets_above_high_watermark_before"] == 5
    assert any("8 in all" in statement.text for statement in found.statements)
    assert found.evidence["is_unclean"] is True


def test_case_C14_the_leader_was_neither_in_sync_nor_eligible():
    found = finding(*unclean_election_of_C(), kind=Kind.UNCLEAN_ELECTION)

    assert (found.evidence["in_sync_replicas_before"], found.evidence["leader"]) == ([A], C)
    assert not findings(*unclean_election_of_C(), kind=Kind.TAIL_TRUNCATED)


def wrong_epoch(second, committed, *, high=2_028_990_000):
    end = (epoch_end(0, 0, 2_023_643_056, current=2, second=second),)
    return seen(second, high=high, epoch=2, committed=committed, commit_epoch=0, epoch_ends=end)


def test_case_C15_an_epoch_that_ended_before_the_commit_passed_it_is_a_wrong_epoch_and_no_cut():
    rounds = (wrong_epoch(0, 2_023_643_000), *(wrong_epoch(s, 2_028_917_583) for s in (600, 605)))
    found = finding(*rounds, kind=Kind.WRONG_COMMIT_EPOCH)

    assert (found.severity, found.evidence["end_offset"]) == (1, 2_023_643_056)
    assert not findings(*rounds, kind=Kind.COMMIT_IN_TRUNCATED_LOG)
    assert not findings(*rounds, kind=Kind.LOG_TRUNCATED)


def test_case_C15_without_the_sample_from_before_a_cut_is_possible():
    found = finding(*(wrong_epoch(s, 2_028_917_583) for s in (600, 605)), kind=Kind.COMMIT_IN_TRUNCATED_LOG)

    assert found.grade is Grade.POSSIBLE
    assert (found.bounds.lower, found.bounds.upper) == (0, 2_028_917_583 - 2_023_643_056)


def recovering(second, end):
    ends = (epoch_end(3, 3, end, current=4, second=second),)
    return seen(second, high=230, epoch=4, committed=219, commit_epoch=3, epoch_ends=ends)


def test_case_C17_an_end_answered_too_low_by_a_recovering_leader_is_asked_again_and_forgotten():
    before = seen(-5, high=230, epoch=3, committed=219, commit_epoch=3)

    assert not findings(before, recovering(0, 163), recovering(5, 230))


def test_case_C17_an_end_that_stays_below_the_commit_is_told():
    before = seen(-5, high=230, epoch=3, committed=219, commit_epoch=3)

    assert finding(before, recovering(0, 163), recovering(5, 163), kind=Kind.LOG_TRUNCATED).bounds.lower == 230 - 163


def test_case_C33_a_tail_that_vanishes_at_each_roll_is_at_risk_if_acks_are_not_all():
    rounds = (
        seen(0, high=1180, epoch=3, broker=1, replicas=(replica(1, 1200, epoch=3),)),
        seen(5, high=1180, epoch=4, broker=2, replicas=(replica(2, 1180, epoch=4),)),
        seen(10, high=1380, epoch=4, broker=2, replicas=(replica(2, 1400, epoch=4),)),
        seen(15, high=1380, epoch=5, broker=3, replicas=(replica(3, 1380, epoch=5),)),
    )
    first, second = findings(*rounds, kind=Kind.TAIL_TRUNCATED)

    assert (first.bounds.upper, second.bounds.upper) == (20, 20)
    assert (first.anchor, second.anchor) == ("leader epoch 4", "leader epoch 5")
    assert first.grade is Grade.PROBABLE
    assert "acks 0 or 1" in first.statements[0].assumption


def test_case_C73_an_unclean_election_and_the_transaction_it_left_open_are_found_on_the_same_partition():
    open_since = (producer(90, producer_id=4, last_second=-3600),)
    rounds = [seen(0, high=120, stable=120, epoch=5, isr=state([1], epoch=5))]
    rounds += [
        seen(
            second,
            high=118,
            stable=90,
            epoch=6,
            broker=3,
            isr=state([3], epoch=6, leader=3, second=second),
            producers=open_since,
            coverage=(complete("transactions"),),
        )
        for second in steps(5, 30)
    ]
    kinds = {one.kind: one.place for one in findings(*rounds)}

    assert {Kind.UNCLEAN_ELECTION, Kind.LOG_TRUNCATED, Kind.STABLE_OFFSET_FROZEN} <= kinds.keys()
    assert kinds[Kind.LOG_TRUNCATED] == kinds[Kind.STABLE_OFFSET_FROZEN] == kinds[Kind.UNCLEAN_ELECTION]
