"""A commit beyond the end of the leader epoch it names: a cut log, or a client that names a wrong epoch (L3 c)."""

from dataclasses import replace

import pytest

from guarantees.findings import Grade, Kind
from tests.guarantees.builders import NOBODY, PARTITION, epoch_end, finding, findings, offsets, seen, state, steps

CUT, WRONG = Kind.COMMIT_IN_TRUNCATED_LOG, Kind.WRONG_COMMIT_EPOCH


def at_second(second, committed, *, end=None, answered=0, epoch=0, topic_id="topic-id-1"):
    ends = () if end is None else (epoch_end(0, answered, end, current=2, second=second, topic_id=topic_id),)
    return seen(second, high=9000, epoch=2, committed=committed, commit_epoch=epoch, epoch_ends=ends)


def test_a_commit_that_stands_beyond_the_end_of_its_epoch_may_point_into_cut_log():
    found = finding(at_second(0, 219, end=163), at_second(5, 219, end=163), kind=CUT)

    assert (found.severity, found.grade, found.anchor) == (2, Grade.POSSIBLE, "epoch 0 ends at 163")
    assert (found.bounds.lower, found.bounds.upper) == (0, 56)
    assert found.evidence["committed_leader_epoch"] == 0


@pytest.mark.parametrize(
    "rounds",
    [
        (at_second(0, 163, end=163), at_second(5, 163, end=163)),
        (at_second(0, 219, end=163),),
        (at_second(0, 219, end=163), at_second(5, 219, end=230)),
        (at_second(0, 219, end=230), at_second(5, 219, end=163)),
        (at_second(0, 219, end=163), at_second(5, 219)),
        (at_second(0, 219, end=163, epoch=2), at_second(5, 219, end=163, epoch=2)),
        (at_second(0, 219, end=163, epoch=None), at_second(5, 219, end=163, epoch=None)),
        (at_second(0, 219, end=163, topic_id="other"), at_second(5, 219, end=163, topic_id="other")),
        (at_second(0, 219, end=NOBODY), at_second(5, 219, end=NOBODY)),
        (at_second(0, 219, end=219, answered=-1), at_second(5, 219, end=219, answered=-1)),
    ],
    ids=[
        "at the end",
        "answered once",
        "answered too low at first",
        "answered too low the second time",
        "no second answer",
        "of the current epoch",
        "no epoch",
        "another topic id",
        "no such epoch",
        "an epoch without records",
    ],
)
def test_what_is_no_commit_in_cut_log(rounds):
    assert not findings(*rounds, kind=CUT)
    assert not findings(*rounds, kind=WRONG)


def test_a_commit_that_moved_on_past_a_known_end_names_a_wrong_epoch():
    rounds = (at_second(0, 160, end=163), at_second(5, 700, end=163))
    found = finding(*rounds, kind=WRONG)

    assert (found.severity, found.grade, found.bounds) == (1, Grade.PROVEN, None)
    assert not findings(*rounds, at_second(10, 900, end=163), at_second(15, 900), kind=CUT)


def test_one_poll_past_the_end_is_neither():
    rounds = (at_second(0, 160, end=163), at_second(5, 663, end=163), at_second(10, 663))

    assert not findings(*rounds, kind=WRONG)
    assert not findings(*rounds, kind=CUT)
    assert findings(*rounds[:2], at_second(10, 664), kind=WRONG)


def test_a_commit_that_named_another_epoch_before_did_not_move_on_under_this_one():
    rounds = (at_second(0, 160, end=163, epoch=2), at_second(5, 700, end=163))

    assert not findings(*rounds, kind=WRONG)
    assert findings(*rounds, kind=CUT)


def test_an_end_that_fell_after_the_commit_had_passed_it_is_no_wrong_epoch():
    rounds = (at_second(0, 800, end=900), at_second(5, 850, end=163), at_second(10, 850, end=163))

    assert not findings(*rounds, kind=WRONG)
    assert findings(*rounds, kind=CUT)


def test_a_commit_that_moves_on_shows_that_the_open_suspicion_was_a_wrong_epoch():
    suspected = (at_second(0, 800, end=163), at_second(5, 800, end=163))
    rounds = (*suspected, at_second(10, 801))

    assert "superseded" in finding(*rounds, kind=CUT).closed_reason
    assert finding(*rounds, kind=WRONG).closed_reason is None


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        (at_second(10, 850, epoch=2), "names epoch 2"),
        (at_second(10, 850, epoch=None), "names epoch none"),
        (at_second(10, 163), "within the epoch"),
    ],
)
def test_it_closes_when_the_commit_names_another_epoch_or_comes_back(after, reason):
    assert reason in finding(at_second(0, 219, end=163), at_second(5, 219, end=163), after, kind=CUT).closed_reason


def test_where_a_cut_is_shown_that_finding_names_the_group():
    rounds = [seen(s, high=900, epoch=0, committed=850, commit_epoch=0) for s in (0, 5)]
    cut = [
        seen(s, high=950, epoch=2, committed=850, commit_epoch=0, epoch_ends=(epoch_end(0, 0, 800, current=2),))
        for s in (10, 15)
    ]
    assert not findings(*rounds, *cut, kind=CUT)
    assert finding(*rounds, *cut, kind=Kind.LOG_TRUNCATED).evidence["groups_beyond_end"]


def test_it_opens_once_while_it_lasts():
    rounds = (at_second(0, 219, end=163), at_second(5, 219, end=163), *(at_second(s, 219) for s in steps(10, 60)))

    assert len(findings(*rounds, kind=CUT)) == 1


def fallen(second, high, *, committed=850, in_sync=(1, 2, 3), epoch=2, ends=()):
    isr = state(in_sync, epoch=epoch, second=second)
    return seen(second, high=high, epoch=epoch, committed=committed, commit_epoch=0, isr=isr, epoch_ends=ends)


def test_while_a_cut_is_shown_open_it_needs_no_finding_of_its_own():
    ended = (epoch_end(0, 0, 800, current=2),)
    rounds = (fallen(0, 900, epoch=0), fallen(5, 880), fallen(10, 880, ends=ended), fallen(15, 880, ends=ended))
    later = (fallen(20, 890), fallen(25, 899))

    assert not findings(*rounds, *later, kind=CUT)
    assert finding(*rounds, *later, kind=Kind.LOG_TRUNCATED).closed_reason is None


def test_another_finding_on_the_partition_does_not_stand_for_a_cut():
    low = [
        replace(at_second(s, 219, end=163 if s >= 10 else None), states={PARTITION: state([1], epoch=2, second=s)})
        for s in steps(0, 15)
    ]

    assert [one.kind for one in findings(*low[:3])] == [Kind.BELOW_MIN_ISR]
    assert [one.kind for one in findings(*low)] == [Kind.BELOW_MIN_ISR, CUT]


def test_a_cut_of_another_partition_does_not_stand_for_one_here():
    other = PARTITION._replace(partition=1)
    rounds = [
        replace(one, partitions={**one.partitions, other: offsets(high, epoch=epoch, second=s)})
        for s, high, epoch in ((0, 900, 0), (5, 800, 1), (10, 800, 1))
        for one in [at_second(s, 219, end=163 if s else None)]
    ]

    assert {one.kind for one in findings(*rounds)} == {CUT, Kind.LOG_TRUNCATED}


def test_an_end_that_is_answered_anew_does_not_open_it_twice():
    rounds = [at_second(0, 219, end=163), at_second(5, 219, end=163), *(at_second(s, 219, end=165) for s in (10, 15))]

    assert [one.anchor for one in findings(*rounds, kind=CUT)] == ["epoch 0 ends at 163"]
