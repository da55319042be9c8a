"""Cases of people whose consumers repeated, lost or stopped: what offsets show, and what only ids at the sink show."""

from dataclasses import replace

import pytest

from guarantees.findings import Grade, Kind
from guarantees.places import TopicPartition
from guarantees.promises import Guarantee, Verdict
from guarantees.verdicts import judged_as
from tests.guarantees.builders import (
    GROUP,
    OWNER,
    PARTITION,
    TOPIC,
    at,
    finding,
    findings,
    lag_of,
    member,
    seen,
    steps,
    watch,
)
from tests.guarantees.cases.sinks import duplicates, losses, pipeline, repeated_ids

OTHER = TopicPartition("returns", 0)
REWIND = Kind.REWIND


def series(commits, *, every=5, first=0, high=2_000_000, **given):
    return [seen(first + every * n, high=high, committed=c, **given) for n, c in enumerate(commits)]


def rebalance_of(*rounds):
    memory, _ = watch(rounds)
    return memory.groups[GROUP].rebalance


# C16: a manual commit, then commits at the client's own position; epoch 0 always committed

C16 = [1_285_125, 1_285_080, 1_285_085, 1_285_090, 1_285_095]


def test_case_C16_a_commit_behind_the_manual_one_is_a_rewind_in_an_active_group():
    (rewind,) = findings(*series(C16, commit_epoch=0, epoch=7))

    assert (rewind.kind, rewind.severity, rewind.grade) == (REWIND, 3, Grade.PROVEN)
    assert (rewind.anchor, rewind.bounds.upper) == ("1285125->1285080", 45)
    assert (rewind.evidence["is_operator_reset"], rewind.evidence["members"]) == (False, 1)
    assert rewind.closed_reason is None


def test_case_C16_without_the_manual_commit_the_series_is_silent():
    assert not findings(*series(C16[1:], commit_epoch=0, epoch=7))


def test_case_C16_the_same_fall_in_an_empty_group_is_an_operators():
    (rewind,) = findings(*series(C16, commit_epoch=0, epoch=7, members=()))

    assert (rewind.severity, rewind.evidence["is_operator_reset"]) == (1, True)


# C19: a.2 moved from m1 to m2; m1's next flush writes its old offset

M1, M2 = replace(OWNER, host="host-1"), member("m2")
C19 = [(10, (M1, M2)), *((c, (replace(M1, assignment=frozenset({OTHER})), member("m2", PARTITION))) for c in (25, 41))]
AFTER = C19[-1][1]


def moved(*commits):
    return [seen(5 * n, high=60, committed=c, members=owners) for n, (c, owners) in enumerate([*C19, *commits])]


def test_case_C19_a_commit_by_the_old_owner_is_a_rewind_that_names_it():
    (rewind,) = findings(*moved((10, AFTER), (12, AFTER)))

    assert (rewind.kind, rewind.anchor, rewind.bounds.upper) == (REWIND, "41->10", 31)
    assert rewind.evidence["rebalance"]["old_owner"] == "m1"
    assert rewind.evidence["rebalance"]["old_owner_host"] == "host-1"
    assert rewind.statements[-1].grade is Grade.PROBABLE
    assert "rebalance" in rewind.statements[-1].text


def test_case_C19_a_rewind_of_few_offsets_in_a_rebalance_turns_serious_when_it_lasts():
    early = finding(*moved((10, AFTER)), kind=REWIND)
    late = finding(*moved((10, AFTER)), *[seen(s, high=60, committed=12, members=AFTER) for s in (20, 80)], kind=REWIND)

    assert (early.severity, late.severity) == (1, 3)
    assert early.finding_id == late.finding_id


def test_case_C19_without_the_old_owners_flush_the_move_is_silent():
    assert not findings(*moved((45, AFTER), (50, AFTER)))


def test_case_C19_an_old_owner_that_is_gone_has_no_host_to_name():
    gone = (member("m2", PARTITION),)
    rewind = finding(*moved((41, gone), (41, gone), (10, gone)), kind=REWIND)

    assert rewind.evidence["rebalance"]["old_owner_host"] is None


# C20: input ids 0..9, C = 8, output ids 0..6 ten minutes later


def test_case_C20_an_offset_stored_before_processing_shows_nothing_in_the_offsets():
    assert not findings(*[seen(s, high=10, committed=8) for s in steps(0, 600)])


def test_case_C20_the_sink_misses_the_one_id_below_the_commit():
    (lost,) = losses(range(10), committed=8, sunk=range(7))

    assert (lost.kind, lost.severity, lost.grade) == (Kind.LOST_WRITE, 4, Grade.PROBABLE)
    assert (lost.bounds.lower, lost.bounds.upper) == (1, 1)
    assert [one["message_id"] for one in lost.evidence["lost"]] == ["7"]
    assert judged_as(pipeline(Guarantee.AT_LEAST_ONCE), lost, at(0)) is Verdict.VIOLATED


@pytest.mark.parametrize(("committed", "sunk"), [(7, range(7)), (8, range(8))], ids=["not committed", "not missing"])
def test_case_C20_an_id_that_is_not_committed_or_not_missing_is_no_loss(committed, sunk):
    assert not losses(range(10), committed=committed, sunk=sunk)


# C21: 1, 2, 3, 5, 6, 7 processed, 4 pending; a rebalance commits up to 3

C21 = [1, 2, 3, 5, 6, 7, 4, 5, 6, 7]


def test_case_C21_out_of_order_completion_repeats_three_and_loses_none():
    (repeated,) = duplicates(C21)

    assert (repeated.kind, repeated.bounds.lower, repeated.bounds.upper) == (Kind.DUPLICATE_WRITE, 3, 3)
    assert repeated_ids(repeated) == [5, 6, 7]
    assert not losses(range(1, 8), committed=8, sunk=C21)


def test_case_C21_three_repeats_break_exactly_once_and_keep_at_least_once():
    (repeated,) = duplicates(C21)
    verdicts = {p: judged_as(pipeline(p), repeated, at(0)) for p in Guarantee}

    assert verdicts == {
        Guarantee.AT_LEAST_ONCE: Verdict.OK,
        Guarantee.EXACTLY_ONCE: Verdict.VIOLATED,
        Guarantee.AT_MOST_ONCE: Verdict.VIOLATED,
    }


def test_case_C21_the_offsets_bound_what_the_member_that_left_may_have_repeated():
    both = (member("m1", PARTITION), member("m2"))
    left = finding(
        seen(0, high=8, committed=4, members=both),
        seen(5, high=8, committed=4, members=[member("m2", PARTITION)]),
        kind=Kind.POSSIBLE_REDELIVERY,
    )

    assert (left.grade, left.bounds.lower, left.bounds.upper) == (Grade.POSSIBLE, 0, 4)


# C23: a second member takes p0; the first goes on reading it until its next heartbeat

C23 = [38, 39, 40, 41, 42, 40, 41, 42, 43]
JOINED = (member("m1", TopicPartition(TOPIC, 1)), member("m2", PARTITION))


def test_case_C23_a_member_that_joins_takes_the_partition_and_the_offsets_show_no_more():
    alone = (member("m1", PARTITION, TopicPartition(TOPIC, 1)),)
    rounds = seen(0, high=43, committed=40, members=alone), seen(5, high=44, committed=44, members=JOINED)
    seen_rebalance = rebalance_of(*rounds)

    assert (seen_rebalance.cause, seen_rebalance.joined) == ("1 member joined", ("m2",))
    assert [(m.partition, m.old_member, m.new_member) for m in seen_rebalance.moved] == [(PARTITION, "m1", "m2")]
    assert not findings(*rounds)


def test_case_C23_the_overlap_repeats_three_ids_at_the_sink():
    (repeated,) = duplicates(C23)

    assert (repeated_ids(repeated), repeated.bounds.upper) == ([40, 41, 42], 3)
    assert not duplicates(C23[:5] + C23[8:])


# C63: one offset in two polls on a partition held all along, in a cooperative rebalance


def cooperative(states, commits=(880, 881, 882)):
    """The members keep what they have; the state flips."""
    return [
        seen(5 * n, high=883, committed=c, group_state=word)
        for n, (word, c) in enumerate(zip(states, commits, strict=True))
    ]


def test_case_C63_a_repeat_without_a_change_of_owner_is_seen_at_the_sink_alone():
    rounds = cooperative(["Stable", "PreparingRebalance", "Stable"])
    (repeated,) = duplicates([880, 881, 881, 882])

    assert rebalance_of(*rounds) is None
    assert not findings(*rounds)
    assert (repeated_ids(repeated), repeated.bounds.upper) == ([881], 1)


def test_case_C63_the_same_commits_with_a_fall_are_a_rewind_without_a_rebalance():
    (rewind,) = findings(*cooperative(["Stable", "PreparingRebalance", "Stable"], commits=(880, 882, 881)))

    assert (rewind.kind, rewind.anchor, rewind.evidence["rebalance"]) == (REWIND, "882->881", None)


# C74: two members with a topic each; every join rebalances both, B's owner keeps its partition

C74 = [*range(100, 110), *range(101, 110), *range(102, 110)]
B_OWNER = member("m2", PARTITION)


def joins(members_in_between=(B_OWNER,)):
    words = ["Stable", "PreparingRebalance", "Stable"] * 3
    commits = [100] * 3 + [101] * 3 + [102] * 3
    return [
        seen(5 * n, high=110, committed=c, group_state=word, members=(B_OWNER,) if n < 3 else members_in_between)
        for n, (word, c) in enumerate(zip(words, commits, strict=True))
    ]


def test_case_C74_a_join_that_leaves_the_partition_with_its_owner_moves_nothing_of_it():
    other = member("m1", OTHER)
    seen_rebalance = rebalance_of(*joins((B_OWNER, other)))

    assert seen_rebalance.joined == ("m1",)
    assert [m.partition for m in seen_rebalance.moved] == [OTHER]


def test_case_C74_commits_that_creep_on_with_their_owner_are_no_finding():
    rounds = joins()
    lags = [lag_of(r).lag_hw for r in rounds]

    assert not findings(*rounds)
    assert lags == [10] * 3 + [9] * 3 + [8] * 3
    assert rebalance_of(*rounds) is None


def test_case_C74_the_sink_shows_the_rest_of_each_fetch_again():
    (repeated,) = duplicates(C74)

    assert repeated.bounds.lower == repeated.bounds.upper == 17
    assert repeated_ids(repeated) == list(range(101, 110))
