"""log_truncated by what a new leader says of old epochs (L3 b): the high watermark need not fall at a loss."""

import pytest

from guarantees.findings import Grade, Kind
from tests.guarantees.builders import NOBODY, PARTITION, at, epoch_end, finding, findings, replica, seen, watch
from tests.guarantees.test_watch import as_written, written

CUT = Kind.LOG_TRUNCATED

# Epoch 4 was read from 1,000 to 1,500; the leader of epoch 5 has written to 1,600 when it is first seen.
OLD = (seen(0, high=1000, epoch=4), seen(5, high=1500, epoch=4))


def asked(second, answered, end, *, epoch=4, current=5, high=1600, **given):
    told = epoch_end(epoch, answered, end, current=current, second=second)
    return seen(second, high=high, epoch=current, broker=3, epoch_ends=(told,), **given)


def test_an_old_epoch_that_ends_below_what_was_read_in_it_was_cut_though_the_high_watermark_rose():
    found = finding(*OLD, asked(10, 4, 1400), asked(15, 4, 1400), kind=CUT)

    assert (found.severity, found.grade, found.anchor) == (4, Grade.PROVEN, "leader epoch 5")
    assert (found.bounds.lower, found.bounds.upper) == (100, None)
    assert found.evidence["first_lost_offset"] == 1400
    assert found.evidence["epoch_end"] == [4, 1400]
    assert (found.evidence["observed_before_at_ms"], found.evidence["observed_at_ms"]) == (at(5.02), at(10.02))
    assert "epoch 4 ends at 1,400" in found.statements[0].text


def test_an_epoch_that_is_gone_takes_with_it_what_rose_within_it_whatever_the_end_that_is_answered():
    """Seen live: 100 records of epoch 1 vanished while the high watermark rose from 1,100 to 1,500."""
    epoch_1 = (seen(0, high=1000, epoch=1), seen(5, high=1100, epoch=1))
    gone = [asked(s, 0, 1500, epoch=1, current=3, high=1500, committed=1050) for s in (10, 15)]
    found = finding(*epoch_1, *gone, kind=CUT)

    assert (found.bounds.lower, found.evidence["first_lost_offset"]) == (100, 1000)
    assert found.evidence["groups_beyond_end"] == [{"group_id": "payments", "committed_offset": 1050}]


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ([(4, 1500), (4, 1500)], "ends where it was read to"),
        ([(4, 1700), (4, 1700)], "ends above: more was written after the last sample"),
        ([(4, 1400)], "answered once"),
        ([(4, 1400), (4, 1500)], "answered too low while recovering"),
        ([(4, 1400), (NOBODY, NOBODY)], "the second answer failed"),
        ([(NOBODY, NOBODY), (NOBODY, NOBODY)], "the log knows no such epoch"),
        ([(4, 1550), (4, 1550)], "aged out: the end is the log start"),
    ],
)
def test_what_is_no_cut_by_epochs(answers, why):
    rounds = [asked(10 + 5 * number, *answer) for number, answer in enumerate(answers)]

    assert not findings(*OLD, *rounds, kind=CUT), why


def test_an_epoch_in_which_nothing_rose_may_have_had_no_records():
    still = (seen(0, high=1500, epoch=4), seen(5, high=1500, epoch=4))

    assert not findings(*still, asked(10, 3, 1500), asked(15, 3, 1500), kind=CUT)
    assert findings(seen(0, high=1499, epoch=4), still[1], asked(10, 3, 1500), asked(15, 3, 1500), kind=CUT)


def test_one_answer_about_the_newest_epoch_judges_those_before_it_too():
    rounds = (*OLD, seen(10, high=1500, epoch=5), asked(15, 3, 1500, epoch=5, current=6))

    found = finding(*rounds, asked(20, 3, 1500, epoch=5, current=6), kind=CUT)

    assert (found.anchor, found.bounds.lower) == ("leader epoch 6", 500)


def test_answers_of_two_leaders_do_not_confirm_each_other():
    for end in (1400, 1410):
        assert not findings(*OLD, asked(10, 4, 1400), asked(15, 4, end, current=6), kind=CUT)


def test_the_answer_of_another_topic_id_says_nothing():
    anew = [
        seen(s, high=1600, epoch=5, epoch_ends=(epoch_end(4, 4, 1400, current=5, topic_id="topic-id-2"),))
        for s in (10, 15)
    ]
    assert not findings(*OLD, *anew, kind=CUT)


def test_a_cut_is_told_once_and_not_again_at_the_next_election():
    rounds = (*OLD, asked(10, 4, 1400), asked(15, 4, 1400), seen(20, high=1600, epoch=6))
    later = [asked(s, 5, 1600, epoch=5, current=6) for s in (25, 30)]
    once_more = [asked(s, 4, 1400, current=6) for s in (35, 40)]

    assert [one.anchor for one in findings(*rounds, *later, *once_more, kind=CUT)] == ["leader epoch 5"]


def test_a_second_cut_is_a_finding_of_its_own():
    rounds = (*OLD, asked(10, 4, 1400), asked(15, 4, 1400), seen(20, high=1600, epoch=6))
    later = [asked(s, 4, 1300, epoch=5, current=6) for s in (25, 30)]
    first, second = findings(*rounds, *later, kind=CUT)

    assert (first.bounds.lower, second.bounds.lower, second.anchor) == (100, 300, "leader epoch 6")


def test_a_cut_by_a_fall_is_not_counted_again_in_the_next_and_keeps_its_own_figure():
    fallen = seen(10, high=1450, epoch=5, broker=3)
    second_cut = [asked(s, 5, 1440, epoch=5, current=6, high=1490) for s in (15, 20)]
    first, second = findings(*OLD, fallen, *second_cut, kind=CUT)

    assert (first.anchor, first.bounds.lower, first.closed_reason) == ("leader epoch 5", 50, None)
    assert (second.anchor, second.bounds.lower) == ("leader epoch 6", 10)
    grown = seen(25, high=1500, epoch=6, broker=3)
    assert findings(*OLD, fallen, *second_cut, grown, kind=CUT)[0].closed_reason


def test_a_fall_that_has_closed_is_not_opened_again_by_a_late_answer():
    rounds = (*OLD, asked(10, 4, 1400, high=1450), seen(15, high=1500, epoch=5, broker=3), asked(20, 4, 1400))

    assert "grown past" in finding(*rounds, kind=CUT).closed_reason


def test_a_high_watermark_that_fell_opens_it_at_once_and_the_epochs_end_adds_to_it():
    fallen = asked(10, 4, 1400, high=1450)
    (opened,) = findings(*OLD, fallen, kind=CUT)
    (told,) = findings(*OLD, fallen, asked(15, 4, 1400, high=1460), kind=CUT)

    assert (opened.bounds.lower, told.bounds.lower) == (50, 100)
    assert opened.finding_id == told.finding_id
    assert told.happened_at_ms == opened.happened_at_ms


def test_the_old_leaders_tail_is_told_apart_from_what_could_be_read():
    tail = seen(5, high=1500, epoch=4, replicas=(replica(1, 1530, epoch=4),))
    found = finding(OLD[0], tail, asked(10, 4, 1400), asked(15, 4, 1400), kind=CUT)

    assert found.evidence["offsets_above_high_watermark_before"] == 30
    assert any("130 in all" in statement.text for statement in found.statements)


def test_it_closes_once_the_log_has_grown_past_its_old_end():
    cut = (*OLD, asked(10, 4, 1400), asked(15, 4, 1400))

    assert finding(*cut, kind=CUT).closed_reason is None
    assert finding(*cut, seen(20, high=1600, epoch=5), kind=CUT).closed_reason


def test_a_restart_between_the_two_answers_changes_nothing():
    rounds = [*OLD, asked(10, 4, 1400), asked(15, 4, 1400), seen(20, high=1600, epoch=5)]
    whole = as_written(written(rounds))

    assert any(one[1] == "leader epoch 5" for one in whole.values())
    assert all(as_written(written(rounds, {restart})) == whole for restart in (1, 2, 3, 4))


def test_the_memory_of_old_epochs_is_bounded_and_ends_with_the_topic():
    memory, _ = watch([seen(epoch, high=100, epoch=epoch) for epoch in range(9)])
    anew, _ = watch([seen(10, high=9, topic_id="topic-id-2")], memory)

    assert [sight.leader_epoch for sight in memory.epochs.former[PARTITION]] == [4, 5, 6, 7]
    assert PARTITION not in anew.epochs.former


def test_a_replaced_leaders_answers_neither_tell_a_cut_nor_hide_it_from_the_next():
    """Its offsets are no sample any more; what it says of an old epoch is told of a log that is no more."""
    replaced = [
        seen(s, high=1600, epoch=6, broker=3, epoch_ends=(epoch_end(4, 4, 1400, current=5, second=s),))
        for s in (10, 15)
    ]
    leading = [asked(s, 4, 1400, current=6) for s in (20, 25)]

    assert not findings(*OLD, *replaced, kind=CUT)
    assert finding(*OLD, *replaced, *leading, kind=CUT).anchor == "leader epoch 6"
