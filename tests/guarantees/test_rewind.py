from dataclasses import replace

import pytest

from guarantees.findings import Grade, Kind
from guarantees.places import TopicPartition
from guarantees.thresholds import Thresholds
from tests.guarantees.builders import NOBODY, PARTITION, at, finding, findings, member, offsets, seen, state

REWIND = Kind.REWIND
A, B = seen(0, high=900, committed=500), seen(5, high=900, committed=300)


def test_a_lower_commit_is_a_rewind_of_the_offsets_between():
    found = finding(A, B, kind=REWIND)

    assert (found.severity, found.grade, found.anchor) == (3, Grade.PROVEN, "500->300")
    assert (found.bounds.lower, found.bounds.upper) == (0, 200)
    assert [s.grade for s in found.statements] == [Grade.PROVEN, Grade.PROBABLE, Grade.POSSIBLE]
    assert found.evidence["committed_offset_before"] == 500
    assert found.happened_at_ms == B.commits[next(iter(B.commits))].observed_at_ms


@pytest.mark.parametrize(
    "between",
    [
        seen(3, high=900, committed=NOBODY),
        seen(3, high=900, pending=True),
        seen(3, high=900),
        seen(3, high=900, committed=300, members=NOBODY),
    ],
    ids=["commit failed", "commit pending", "not asked", "group unknown"],
)
def test_answers_that_say_nothing_neither_hide_nor_make_a_rewind(between):
    assert len(findings(A, between, B, kind=REWIND)) == 1
    assert not findings(A, between, seen(5, high=900, committed=500), kind=REWIND)
    assert not findings(A, between, kind=REWIND)


def test_a_group_that_lost_its_commit_and_starts_anew_is_not_rewound():
    assert not findings(A, seen(3, high=900, no_commit=True), B, kind=REWIND)


def test_a_new_coordinator_is_believed_from_its_second_answer_on():
    moved = seen(5, high=900, committed=300, coordinator=2)

    assert not findings(A, moved, kind=REWIND)
    assert not findings(A, moved, seen(10, high=900, committed=500, coordinator=2), kind=REWIND)
    assert len(findings(A, moved, seen(10, high=900, committed=300, coordinator=2), kind=REWIND)) == 1


def test_a_topic_created_anew_is_not_a_rewind():
    assert not findings(A, seen(5, high=10, committed=3, topic_id="topic-id-2"), kind=REWIND)


def test_a_rewind_closes_as_recovered_when_a_commit_reaches_the_old_one():
    almost = finding(A, B, seen(10, high=900, committed=499), kind=REWIND)
    reached = finding(A, B, seen(10, high=900, committed=500), kind=REWIND)

    assert almost.closed_reason is None
    assert reached.closed_reason.startswith("recovered")


def test_a_rewind_closes_when_the_commit_is_gone():
    gone = finding(A, B, seen(10, high=900, no_commit=True), kind=REWIND)

    assert gone.closed_reason == "the group has no commit here any more (expired or deleted)"
    assert gone.last_seen_at_ms == at(10.01)


@pytest.mark.parametrize(
    "later",
    [
        seen(10, high=900, pending=True),
        seen(10, high=900, committed=NOBODY),
        seen(10, high=900),
        seen(10, high=900, no_commit=True, members=NOBODY),
        seen(10, high=900, no_commit=True, coordinator=2),
        seen(10, high=900, committed=500, members=NOBODY),
    ],
    ids=["pending", "failed", "not asked", "group unknown", "new coordinator", "back, but group unknown"],
)
def test_an_answer_that_says_nothing_of_the_commit_leaves_the_rewind_as_it_is(later):
    assert finding(A, B, later, kind=REWIND) == finding(A, B, kind=REWIND)


def test_a_rewind_that_lasts_is_seen_in_every_round():
    assert finding(A, B, seen(10, high=900, committed=310), kind=REWIND).last_seen_at_ms == at(10.01)


def test_two_falls_in_a_row_are_two_findings():
    assert [f.anchor for f in findings(A, B, seen(10, high=900, committed=100), kind=REWIND)] == [
        "500->300",
        "300->100",
    ]


@pytest.mark.parametrize(
    ("before", "after", "is_reset"), [((), (), True), ((), None, False), (None, (), False), (None, None, False)]
)
def test_only_a_group_without_members_on_both_sides_was_reset_by_an_operator(before, after, is_reset):
    def members(given):
        return (member("m1"),) if given is None else given

    rounds = (
        seen(0, high=9000, committed=5000, members=members(before)),
        seen(5, high=9000, committed=300, members=members(after)),
    )
    found = finding(*rounds, kind=REWIND)

    assert found.title.startswith("operator reset") is is_reset
    assert found.evidence["is_operator_reset"] is is_reset
    assert (found.severity == 1) is is_reset


def test_a_small_reset_by_an_operator_does_not_turn_serious():
    left = [seen(s, high=900, committed=c, members=()) for s, c in ((5, 500), (10, 499), (75, 499))]

    assert finding(A, *left, kind=REWIND).severity == 1


def test_a_group_that_looks_dead_is_not_taken_for_empty():
    rounds = [seen(s, high=900, committed=c, members=(), group_state="Dead") for s, c in ((0, 500), (5, 300))]

    assert finding(*rounds, kind=REWIND).severity == 3


SMALL = (
    seen(0, high=900, committed=500, members=[member("m1"), member("m2")]),
    seen(5, high=900, committed=499, members=[member("m1")]),
)


def test_a_small_rewind_within_a_rebalance_is_information():
    assert finding(*SMALL, kind=REWIND).severity == 1


def test_a_small_rewind_within_a_rebalance_that_does_not_recover_is_serious():
    later = [seen(s, high=900, committed=499, members=[member("m1")]) for s in (65, 65.001)]

    assert [finding(*SMALL, *later[:n], kind=REWIND).severity for n in (1, 2)] == [1, 3]


@pytest.mark.parametrize(("fall", "severity"), [(500, 1), (501, 3)])
def test_a_rewind_within_a_rebalance_by_more_than_one_poll_is_serious(fall, severity):
    rounds = (
        seen(0, high=9000, committed=5000, members=[member("m1"), member("m2")]),
        seen(5, high=9000, committed=5000 - fall, members=[member("m1")]),
    )
    assert finding(*rounds, kind=REWIND).severity == severity


@pytest.mark.parametrize(("second", "severity"), [(65.03, 1), (65.031, 3)])
def test_a_rebalance_explains_a_small_rewind_for_a_minute(second, severity):
    rounds = (
        *(SMALL[0], seen(5, high=900, committed=500, members=[member("m1")])),
        seen(second, high=900, committed=499, members=[member("m1")]),
    )
    assert finding(*rounds, kind=REWIND).severity == severity


def test_it_names_who_lost_the_partition_in_the_rebalance_and_on_which_host_that_ran():
    other = TopicPartition("baskets", 0)
    before = [replace(member("m2", other), host="host-2"), replace(member("m1", PARTITION), host="host-1")]
    after = [replace(member("m3", other, PARTITION), host="host-3")]
    rounds = (seen(0, high=900, committed=500, members=before), seen(5, high=900, committed=300, members=after))
    rebalance = finding(*rounds, kind=REWIND).evidence["rebalance"]

    assert (rebalance["old_owner"], rebalance["old_owner_host"]) == ("m1", "host-1")


def test_a_static_member_that_came_back_explains_no_rewind():
    rounds = (
        seen(0, high=900, committed=500, members=[member("m1", instance="i")]),
        seen(5, high=900, committed=499, members=[member("m1b", instance="i")]),
    )
    assert finding(*rounds, kind=REWIND).severity == 3


def test_offsets_below_the_log_start_cannot_be_delivered_again():
    assert finding(A, seen(5, high=900, start=450, committed=300), kind=REWIND).bounds.upper == 50


def test_a_rewind_below_the_log_start_delivers_nothing_again_and_says_so():
    found = finding(A, seen(5, high=900, start=500, committed=300), kind=REWIND)

    assert (found.bounds.lower, found.bounds.upper) == (0, 0)
    assert found.statements[1].text.startswith("Nothing is delivered again")
    assert finding(A, seen(5, high=900, start=499, committed=300), kind=REWIND).bounds.upper == 1


def test_the_log_start_of_a_topic_with_another_id_bounds_nothing():
    other = seen(5, high=900, start=450, committed=300)
    for high in (900, 250):
        answer = replace(other.partitions[PARTITION], topic_id="topic-id-2", high_watermark=high)
        assert finding(A, replace(other, partitions={PARTITION: answer}), kind=REWIND).bounds.upper == 200


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (seen(0, committed=500), B),
        (A, seen(5, committed=300)),
        (A, seen(5, high=900, start=NOBODY, committed=300)),
        *[tuple(replace(one, groups={}) for one in (A, B))],
    ],
    ids=["the end before", "the end now", "the log start", "the group"],
)
def test_a_rewind_is_one_too_where_something_else_is_not_known(before, after):
    assert finding(before, after, kind=REWIND).bounds.upper == 200


def test_a_rewind_to_the_first_offset_delivers_that_again_too():
    assert finding(A, seen(5, high=900, committed=0), kind=REWIND).bounds.upper == 500


def test_a_lower_commit_with_a_higher_leader_epoch_repairs_a_truncation_that_the_end_did_not_show():
    before = seen(0, high=1100, epoch=1, committed=1100, commit_epoch=1)

    assert not findings(before, seen(5, high=1500, epoch=3, committed=1000, commit_epoch=2), kind=REWIND)
    assert findings(before, seen(5, high=1500, epoch=3, committed=1000, commit_epoch=1), kind=REWIND)
    assert findings(before, seen(5, high=1500, epoch=3, committed=1000), kind=REWIND)
    unnamed = seen(0, high=1100, epoch=1, committed=1100)
    assert findings(unnamed, seen(5, high=1500, epoch=3, committed=1000, commit_epoch=2), kind=REWIND)


def test_a_commit_that_comes_back_to_the_end_of_a_cut_log_rereads_nothing():
    rounds = (
        seen(0, high=1500, committed=1500),
        seen(5, high=1100, epoch=1, committed=1500),
        seen(10, high=1110, epoch=1, committed=1105),
    )
    assert not findings(*rounds, kind=REWIND)
    assert findings(*rounds[:2], seen(10, high=1110, epoch=1, committed=5), kind=REWIND)


@pytest.mark.parametrize(("back_to", "is_found"), [(1100, False), (1099, True)])
def test_a_commit_that_comes_back_in_the_round_that_shows_the_cut_is_measured_by_the_new_end(back_to, is_found):
    rounds = (seen(0, high=1500, committed=1500), seen(5, high=1100, epoch=1, committed=back_to))

    assert bool(findings(*rounds, kind=REWIND)) is is_found


@pytest.mark.parametrize(("back_to", "is_found"), [(110, False), (109, True)])
def test_a_commit_from_beyond_the_end_that_stays_there_rereads_nothing(back_to, is_found):
    rounds = (seen(0, high=100, committed=150), seen(5, high=110, committed=back_to))

    assert [one.bounds.upper for one in findings(*rounds, kind=REWIND)] == [1] * is_found


def test_a_cut_of_another_partition_explains_no_rewind():
    other = PARTITION._replace(partition=1)
    rounds = [
        replace(one, partitions={**one.partitions, other: offsets(high, epoch=epoch, second=5 * number)})
        for number, (one, high, epoch) in enumerate(
            [(A, 900, 0), (seen(5, high=900, committed=500), 200, 1), (seen(10, high=900, committed=300), 210, 1)]
        )
    ]

    assert len(findings(*rounds, kind=Kind.LOG_TRUNCATED)) == len(findings(*rounds, kind=REWIND)) == 1


def test_another_finding_on_the_partition_explains_no_rewind():
    low = [replace(one, states={PARTITION: state([1])}) for one in (A, seen(5, high=900, committed=500))]
    fallen = seen(10, high=900, committed=300, isr=state([1], second=10))

    assert {one.kind for one in findings(*low, fallen)} == {Kind.BELOW_MIN_ISR, REWIND}


def test_a_commit_from_below_the_cut_that_falls_is_a_rewind():
    rounds = (seen(0, high=1500, committed=1100), seen(5, high=1100, epoch=1, committed=1099))

    assert findings(*rounds, kind=REWIND)


def test_falls_below_the_threshold_are_not_reported():
    assert not findings(A, B, kind=REWIND, thresholds=Thresholds(min_rewind_offsets=201))
    assert findings(A, B, kind=REWIND, thresholds=Thresholds(min_rewind_offsets=200))


def test_share_groups_have_no_commits_to_rewind():
    rounds = [seen(s, high=900, committed=c, group_type="share") for s, c in ((0, 500), (5, 300))]

    assert not findings(*rounds, kind=REWIND)
