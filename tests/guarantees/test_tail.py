import pytest

from guarantees.findings import Grade, Kind
from tests.guarantees.builders import NOBODY, epoch_end, finding, findings, replica, seen

TAIL = Kind.TAIL_TRUNCATED


def old(high=1180, end=1200, *, broker=1, epoch=3):
    return seen(0, high=high, epoch=3, replicas=(replica(broker, end, epoch=epoch),))


def new(second, high=1180, end=1180, *, broker=2, epoch=4, ends=()):
    replicas = (replica(broker, end, epoch=epoch),) if end is not None else ()
    return seen(second, high=high, epoch=4, broker=2, replicas=replicas, epoch_ends=ends)


def told(answered, end, second, *, asked=3):
    return (epoch_end(asked, answered, end, current=4, second=second),)


def test_what_only_the_old_leader_had_is_gone_and_lost_if_acks_allowed_it():
    found = finding(old(), new(5), kind=TAIL)

    assert (found.severity, found.grade, found.anchor) == (3, Grade.PROBABLE, "leader epoch 4")
    assert (found.bounds.lower, found.bounds.upper) == (0, 20)
    assert "acks 0 or 1" in found.statements[0].assumption
    assert found.statements[1].grade is Grade.PROVEN
    assert (found.evidence["first_lost_offset"], found.evidence["log_end_offset_before"]) == (1180, 1200)


def silent(second, *brokers):
    """The leader is gone and nobody leads yet."""
    return seen(second, high=NOBODY, epoch=NOBODY, replicas=tuple(replica(each, NOBODY) for each in brokers))


def test_a_tail_is_found_though_rounds_pass_between_the_leaders_death_and_the_election():
    found = finding(old(), silent(5, 1), silent(10, 1), new(15), kind=TAIL)

    assert (found.bounds.upper, found.evidence["log_end_offset_before"]) == (20, 1200)


def test_a_follower_that_does_not_answer_has_no_end_that_is_remembered():
    before = seen(0, high=1180, epoch=3, replicas=(replica(1, 1180, epoch=3), replica(2, 900, epoch=3)))
    (cut,) = findings(
        before,
        seen(5, high=1180, epoch=3, replicas=(replica(1, 1180, epoch=3), replica(2, NOBODY))),
        seen(10, high=1000, epoch=4, broker=2),
        kind=Kind.LOG_TRUNCATED,
    )
    assert (cut.bounds.lower, cut.bounds.upper) == (180, None)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (old(), new(5, high=1200, end=1200)),
        (old(), new(5, high=1200, end=1201)),
        (old(end=1180), new(5)),
        (old(broker=2), new(5)),
        (old(epoch=2), new(5)),
        (old(), new(5, broker=3)),
        (old(), new(5, epoch=3)),
        (old(), new(5, end=None)),
    ],
    ids=[
        "taken over",
        "written on",
        "no tail",
        "a follower's end before",
        "an end of another epoch before",
        "a follower's end after",
        "not yet leader",
        "the new end is not known",
    ],
)
def test_what_is_no_lost_tail(before, after):
    assert not findings(before, after, kind=TAIL)


def test_a_tail_that_was_written_over_is_found_by_the_end_of_the_old_epoch():
    rounds = (old(), new(5, high=1300, end=1300, ends=told(3, 1190, 5)))

    assert not findings(*rounds, kind=TAIL)
    found = finding(*rounds, new(10, high=1300, end=1300, ends=told(3, 1190, 10)), kind=TAIL)
    assert (found.bounds.upper, found.evidence["first_lost_offset"]) == (10, 1190)


def test_the_end_of_the_old_epoch_corrects_what_the_new_log_hid():
    rounds = (old(), new(5, high=1195, end=1195, ends=told(3, 1180, 5)))
    (first,) = findings(*rounds, kind=TAIL)
    (corrected,) = findings(*rounds, new(10, high=1195, end=1195, ends=told(3, 1180, 10)), kind=TAIL)

    assert (first.bounds.upper, corrected.bounds.upper) == (5, 20)
    assert first.finding_id == corrected.finding_id
    assert corrected.closed_reason


def test_an_old_epoch_that_is_gone_takes_the_whole_tail():
    ends = [new(s, high=1300, end=1300, ends=told(2, 1190, s)) for s in (5, 10)]

    assert finding(old(), *ends, kind=TAIL).bounds.upper == 20


@pytest.mark.parametrize("answer", [(3, 1200), (3, 1300), (NOBODY, NOBODY)])
def test_an_old_epoch_that_reaches_the_tail_or_is_not_answered_is_silent(answer):
    ends = [new(s, high=1300, end=1300, ends=told(*answer, s)) for s in (5, 10)]

    assert not findings(old(), *ends, kind=TAIL)


def test_where_visible_offsets_are_gone_too_the_cut_is_the_finding():
    assert not findings(old(), new(5, high=1170, end=1170), kind=TAIL)
    assert findings(old(), new(5, high=1170, end=1170), kind=Kind.LOG_TRUNCATED)

    hidden = [new(s, high=1300, end=1300, ends=told(3, 1170, s)) for s in (5, 10)]
    assert not findings(old(), *hidden, kind=TAIL)
    assert findings(old(), *hidden, kind=Kind.LOG_TRUNCATED)


def test_it_closes_after_a_minute_without_an_answer():
    assert finding(old(), new(5), new(64.96), kind=TAIL).closed_reason is None
    assert "not answered" in finding(old(), new(5), new(64.97), kind=TAIL).closed_reason


def test_a_log_that_stays_shorter_does_not_open_it_again():
    answered = [new(s, ends=told(3, 1180, s)) for s in (5, 10)]

    assert "end of the old epoch is known" in finding(old(), *answered, new(15), kind=TAIL).closed_reason


def test_a_tail_that_the_new_log_holds_after_all_was_not_lost():
    answered = [new(s, ends=told(3, 1200, s)) for s in (5, 10)]

    assert finding(old(), *answered, kind=TAIL).closed_reason == (
        "superseded: the new leader's log holds the old epoch up to 1,200"
    )
