"""Cases of people whose commits expired, stayed pending, jumped or were left behind."""

from guarantees.findings import Grade, Kind
from guarantees.thresholds import Thresholds
from tests.guarantees.builders import finding, findings, seen, state, steps
from tests.guarantees.test_new_partition_skipped import BEFORE as THREE_PARTITIONS
from tests.guarantees.test_new_partition_skipped import GROWN, added
from tests.guarantees.test_stale_subscription import ELSEWHERE


def test_case_C03_a_commit_that_stays_pending_is_pending_and_not_missing():
    sampled_every_minute = Thresholds(gap_s=180)
    rounds = [seen(s, high=900, pending=True, isr=state()) for s in steps(0, 1140, 60)]
    found = findings(*rounds, thresholds=sampled_every_minute)

    assert [one.kind for one in found] == [Kind.COMMIT_PENDING]
    assert (found[0].grade, found[0].severity, found[0].bounds.lower) == (Grade.PROVEN, 3, 1140)
    assert "is pending since 2023-11-14" in found[0].statements[0].text


def test_case_C11_a_group_at_the_end_after_its_leader_moved_has_skipped_the_backlog():
    """The out-of-range answer itself is in no sample: the change of leader while the commit stood stands for it."""
    rounds = [
        seen(s, high=100_000, committed=c, epoch=e, broker=b, isr=state(epoch=e, leader=b, second=s))
        for s, c, e, b in ((0, 5, 28, 1), (30, 5, 29, 2), (60, 100_000, 29, 2))
    ]
    (found,) = findings(*rounds)

    assert (found.kind, found.severity, found.anchor) == (Kind.SKIPPED_FORWARD, 4, "5->100000")
    assert (found.bounds.lower, found.bounds.upper) == (0, 99_995)


def test_case_C45_the_commit_of_a_topic_the_group_left_is_stale_and_no_lag():
    rounds = [seen(s, high=500 + int(s * 40), committed=500, members=[ELSEWHERE]) for s in steps(0, 210)]
    (found,) = findings(*rounds)

    assert (found.kind, found.severity, found.bounds.lower) == (Kind.STALE_SUBSCRIPTION, 1, 0)
    assert "is not lag" in found.statements[1].text


def test_case_C49_an_expired_commit_is_warned_of_proven_gone_and_named_as_the_cause_of_the_rereading():
    short = Thresholds(offsets_retention_s=120)
    empty = [seen(s, high=11, committed=10, members=(), isr=state()) for s in (5, 100, 110)]
    rounds = [seen(0, high=11, committed=10, isr=state()), *empty]
    warned = finding(*rounds, kind=Kind.COMMIT_EXPIRED, thresholds=short)
    assert warned.severity == 2
    assert not findings(*rounds[:-1], kind=Kind.COMMIT_EXPIRED, thresholds=short)

    rounds.append(seen(130, high=11, no_commit=True, members=(), group_state="Dead", isr=state()))
    gone = finding(*rounds, kind=Kind.COMMIT_EXPIRED, thresholds=short)
    assert (gone.finding_id, gone.severity, gone.grade) == (warned.finding_id, 3, Grade.PROVEN)
    assert "It expired" in gone.statements[1].text

    rounds += [seen(195, high=11, committed=1, isr=state()), seen(200, high=11, committed=11, isr=state())]
    reread = finding(*rounds, kind=Kind.REWIND, thresholds=short)
    assert (reread.anchor, reread.bounds.upper, reread.evidence["was_absent"]) == ("10->1", 10, True)


def test_case_C50_what_a_new_partition_held_before_its_first_commit_may_have_been_skipped():
    found = findings(THREE_PARTITIONS, GROWN, added(300, 120, None), added(360, 125, 120))

    skipped = next(one for one in found if one.kind is Kind.NEW_PARTITION_SKIPPED)

    assert {one.kind for one in found} == {Kind.PARTITIONS_ADDED, Kind.NEW_PARTITION_SKIPPED}
    assert (skipped.severity, skipped.grade, skipped.bounds.upper) == (4, Grade.PROBABLE, 120)
