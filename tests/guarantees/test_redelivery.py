from dataclasses import replace

import pytest

from guarantees.findings import Bounds, Grade, Kind, Unit
from guarantees.watch import observe, resume
from tests.guarantees.builders import (
    GROUP,
    KEY,
    NOBODY,
    PARTITION,
    THRESHOLDS,
    at,
    finding,
    findings,
    member,
    seen,
    steps,
)

POSSIBLE = Kind.POSSIBLE_REDELIVERY
OLD, NEW = member("old", PARTITION), member("new", PARTITION)
BEFORE = seen(0, high=150, committed=100, members=[OLD])


def test_what_was_not_committed_when_a_member_left_may_be_delivered_again():
    found = finding(BEFORE, seen(5, high=160, committed=100, members=[NEW]), kind=POSSIBLE)

    assert (found.severity, found.grade, found.anchor) == (1, Grade.POSSIBLE, "old at commit 100")
    assert (found.bounds.lower, found.bounds.upper) == (0, 60)
    assert found.statements[2].grade is Grade.NOT_OBSERVABLE
    assert found.evidence["commit_stood_before_ms"] == 0


def test_a_commit_that_had_stood_while_the_member_was_still_listed_makes_it_a_risk():
    def stood(last):
        rounds = [seen(s, high=150 + s, committed=100, members=[OLD]) for s in steps(0, last)]
        return finding(*rounds, seen(last + 5, high=200, committed=100, members=[NEW]), kind=POSSIBLE)

    assert [stood(last).severity for last in (5, 10)] == [1, 2]


def test_a_member_that_committed_just_before_it_left_is_information():
    rounds = [seen(s, high=150 + s, committed=100 + s, members=[OLD]) for s in steps(0, 20)]

    assert finding(*rounds, seen(25, high=200, committed=125, members=[NEW]), kind=POSSIBLE).severity == 1


def crash(last, *, before=(), committed_after=175, members=(NEW,)):
    rounds = [seen(s, high=150 + s, committed=100, members=[OLD]) for s in steps(0, last)]
    return (*before, *rounds, seen(last + 5, high=175, committed=committed_after, members=members))


def test_a_survivor_that_caught_up_within_one_sample_does_not_hide_the_crash():
    found = finding(*crash(10), kind=POSSIBLE)

    assert (found.severity, found.grade, found.anchor) == (2, Grade.POSSIBLE, "old at commit 100")
    assert (found.bounds.lower, found.bounds.estimate, found.bounds.upper) == (0, None, 75)
    assert found.evidence["committed_offset"] == 175
    later = finding(*crash(10), seen(20, high=175, committed=175, members=[NEW]), kind=POSSIBLE)
    assert later.closed_reason == "the window has been read: commit 175"


CAUGHT_UP = {
    "the commit had not stood as long as living consumers leave it": crash(5),
    "the member is still there": crash(10, members=[OLD]),
    "nothing was left to read": [
        *(seen(s, high=102, committed=100, members=[OLD]) for s in steps(0, 10)),
        seen(15, high=102, committed=102, members=[NEW]),
    ],
    "the group commits as slowly": crash(
        20,
        before=[
            *(seen(s, high=140, committed=20, members=[OLD]) for s in steps(-120, -60)),
            *(seen(s, high=140, committed=60, members=[OLD]) for s in steps(-55, -5)),
        ],
    ),
}


@pytest.mark.parametrize("rounds", CAUGHT_UP.values(), ids=CAUGHT_UP.keys())
def test_a_caught_up_survivor_shows_no_crash_where(rounds):
    assert not findings(*rounds, kind=POSSIBLE)


def test_a_group_that_could_not_be_described_while_the_survivor_caught_up_keeps_the_window():
    rounds = [*crash(10)[:-1]]
    rounds += [seen(15, high=170, committed=165, members=NOBODY), seen(20, high=175, committed=175, members=[NEW])]
    found = finding(*rounds, kind=POSSIBLE)

    assert (found.severity, found.bounds.upper, found.evidence["commit_stood_before_ms"]) == (2, 75, 10_000)


AFTER = {
    "nothing uncommitted": seen(5, high=150, committed=150, members=[NEW]),
    "nothing uncommitted of a growing log": seen(5, high=160, committed=160, members=[NEW]),
    "the member stayed": seen(5, high=160, committed=100, members=[OLD]),
    "another joined and took nothing": seen(5, high=160, committed=100, members=[OLD, member("new")]),
    "it moved to another living member": seen(5, high=160, committed=100, members=[member("old"), NEW]),
    "commit unknown": seen(5, high=160, committed=NOBODY, members=[NEW]),
    "group unknown": seen(5, high=160, committed=100, members=NOBODY),
    "still rebalancing": seen(5, high=160, committed=100, members=[member("new")], group_state="PreparingRebalance"),
    "another topic": seen(5, high=160, committed=100, members=[NEW], topic_id="topic-id-2"),
    "end unknown": seen(5, high=NOBODY, committed=100, members=[NEW]),
    "another coordinator": seen(5, high=160, committed=100, members=[NEW], coordinator=2),
}


@pytest.mark.parametrize("after", AFTER.values(), ids=AFTER.keys())
def test_nothing_to_deliver_again_where(after):
    assert not findings(BEFORE, after, kind=POSSIBLE)


def test_a_static_member_that_came_back_has_not_left():
    static, back = member("m1", PARTITION, instance="i"), member("m2", PARTITION, instance="i")
    rounds = (seen(0, high=150, committed=100, members=[static]), seen(5, high=160, committed=100, members=[back]))

    assert not findings(*rounds, kind=POSSIBLE)


def test_up_to_two_offsets_of_a_standing_log_may_be_markers():
    def leave(high_before, high):
        return (
            seen(0, high=high_before, committed=100, members=[OLD]),
            seen(5, high=high, committed=100, members=[NEW]),
        )

    assert not findings(*leave(102, 102), kind=POSSIBLE)
    assert findings(*leave(101, 102), kind=POSSIBLE)
    assert finding(*leave(100, 101), kind=POSSIBLE).bounds.upper == 1
    assert findings(*leave(103, 103), kind=POSSIBLE)


def test_a_rebalance_over_several_rounds_is_seen_once_when_it_has_settled():
    rounds = (
        BEFORE,
        seen(5, high=160, committed=100, members=[member("new")], group_state="PreparingRebalance"),
        seen(10, high=170, committed=100, members=[NEW]),
    )
    assert finding(*rounds, kind=POSSIBLE).bounds.upper == 70


def test_the_window_starts_at_the_commit_the_new_owner_cannot_have_made():
    assert finding(BEFORE, seen(5, high=160, committed=110, members=[NEW]), kind=POSSIBLE).bounds.upper == 60
    assert finding(BEFORE, seen(5, high=160, committed=90, members=[NEW]), kind=POSSIBLE).bounds.upper == 70


def test_without_a_commit_before_nothing_is_known_of_what_the_member_had_left():
    assert not findings(replace(BEFORE, commits={}), seen(5, high=160, committed=100, members=[NEW]), kind=POSSIBLE)


def test_a_commit_that_fell_unseen_by_the_silence_begins_the_window():
    standing = crash(10)[:-1]
    fallen = (seen(15, high=NOBODY, committed=50, members=[OLD]), seen(20, high=175, committed=60, members=[NEW]))

    assert finding(*standing, *fallen, kind=POSSIBLE).anchor == "old at commit 50"


def test_a_silence_on_a_topic_that_was_created_anew_is_of_another_log():
    standing = crash(10)[:-1]
    anew = (
        seen(15, high=NOBODY, committed=100, members=[OLD], topic_id="topic-id-2"),
        seen(20, high=175, committed=100, members=[NEW], topic_id="topic-id-2"),
    )

    assert finding(*standing, *anew, kind=POSSIBLE).severity == 1


def test_a_silence_that_began_after_the_member_was_last_seen_settled_says_nothing_of_it():
    unsettled = [seen(s, high=150, committed=100, members=[OLD], group_state="PreparingRebalance") for s in (5, 10, 15)]
    rounds = (seen(0, high=100, committed=100, members=[OLD]), *unsettled)
    found = finding(*rounds, seen(20, high=150, committed=100, members=[NEW]), kind=POSSIBLE)

    assert (found.severity, found.evidence["commit_stood_before_ms"]) == (1, 0)


@pytest.mark.parametrize(("late_ms", "most"), [(0, 60), (1, 70)])
def test_an_end_read_when_the_member_was_seen_gone_is_the_last_it_can_have_read(late_ms, most):
    moved = seen(5, high=160, committed=100, members=[NEW])
    gone_at_ms = moved.partitions[PARTITION].observed_at_ms + late_ms
    moved = replace(moved, groups={GROUP: replace(moved.groups[GROUP], observed_at_ms=gone_at_ms)})

    assert finding(BEFORE, moved, seen(10, high=170, committed=100, members=[NEW]), kind=POSSIBLE).bounds.upper == most


def test_the_first_end_read_after_the_move_bounds_what_the_member_can_have_read():
    rounds = [BEFORE, *(seen(5 * n, high=150 + 10 * n, committed=100, members=[NEW]) for n in (1, 2, 3))]

    assert finding(*rounds[:3], kind=POSSIBLE).bounds.upper == 70
    later = finding(*rounds, kind=POSSIBLE)
    assert later.bounds.upper == 70
    assert "up to 70 offsets" in later.title
    assert later.statements[0].text.startswith("Up to 70 offsets")


def test_it_closes_when_commits_have_passed_the_window():
    moved = (BEFORE, seen(5, high=160, committed=100, members=[NEW]))

    assert finding(*moved, seen(10, high=170, committed=169, members=[NEW]), kind=POSSIBLE).closed_reason is None
    assert finding(*moved, seen(10, high=170, committed=170, members=[NEW]), kind=POSSIBLE).closed_reason


def test_a_group_that_all_members_left_is_named_without_a_new_owner():
    found = finding(BEFORE, seen(5, high=160, committed=100, members=()), kind=POSSIBLE)

    assert found.evidence["new_member_id"] is None
    assert found.evidence["cause"] == "all members left"
    assert found.place.group_id == KEY.group_id


def test_what_was_purged_below_the_window_is_not_delivered_again():
    def left(start):
        return findings(BEFORE, seen(5, high=160, start=start, committed=100, members=[NEW]), kind=POSSIBLE)

    assert [left(start)[0].bounds.upper for start in (99, 100, 101, 159)] == [60, 60, 59, 1]
    assert not left(160)
    (one,) = left(159)
    assert one.anchor == "old at commit 100"
    assert one.statements[0].text.startswith("Up to 1 offset of orders-0, from 159 to 159,")
    assert left(NOBODY)[0].bounds.upper == 60


def test_a_later_end_counts_from_the_first_offset_that_was_not_purged():
    rounds = (BEFORE, *(seen(5 * n, high=150 + 10 * n, start=120, committed=100, members=[NEW]) for n in (1, 2)))

    assert finding(*rounds, kind=POSSIBLE).bounds.upper == 50


def test_its_words_hold_when_the_end_is_read_again():
    rounds = (BEFORE, *(seen(5 * n, high=150 + 10 * n, committed=100, members=()) for n in (1, 2)))
    found = finding(*rounds, kind=POSSIBLE)

    assert found.statements[0].text.endswith("may have processed them without committing.")
    assert found.statements[1].text.endswith("; of orders-0, nobody owns it.")
    assert (len(found.statements), found.bounds) == (3, Bounds(0, None, 70, Unit.OFFSETS))
    assert found.last_seen_at_ms == at(10.01)


def test_a_commit_that_stood_for_ten_seconds_is_said_to_have():
    assert finding(*crash(10), kind=POSSIBLE).statements[0].text.endswith("the commit had stood for 10 s before.")


def test_a_finding_stored_before_the_log_start_counted_goes_on_from_its_commit():
    rounds = crash(10)
    found = finding(*rounds, kind=POSSIBLE)
    old = replace(
        found,
        evidence={
            **{name: value for name, value in found.evidence.items() if name != "first_offset"},
            "high_watermark_observed_at_ms": found.evidence["observed_at_ms"] - 1,
        },
    )
    memory, _ = resume([], [old], THRESHOLDS)
    _, (after,) = observe(memory, seen(60, high=180, committed=150, members=[NEW]), THRESHOLDS)

    assert (after.bounds.upper, after.closed_reason) == (80, None)


def test_a_silence_as_long_as_the_groups_last_is_its_custom():
    def before(quiet_s):
        return [seen(s, high=140, committed=60, members=[OLD]) for s in steps(-5 - quiet_s, -5)]

    assert not findings(*crash(10, before=before(5)), kind=POSSIBLE)
    assert findings(*crash(10, before=before(0)), kind=POSSIBLE)
