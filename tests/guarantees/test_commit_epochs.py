"""A commit beyond the end of the leader epoch it names: a cut log, or a client that names a wrong epoch (L3 c)."""

import pytest

from guarantees.findings import Grade, Kind
from tests.guarantees.builders import NOBODY, epoch_end, finding, findings, seen, steps

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
