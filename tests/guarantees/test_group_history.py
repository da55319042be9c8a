"""Groups followed through their records, as brokers of version 4.2 write them in their order."""

from dataclasses import replace

import pytest

from guarantees.group_history import CONSUMER, SettledGroup, group_changes, of_sample
from guarantees.internal_records import (
    ClassicGroup,
    ClassicGroupRecord,
    CurrentAssignment,
    GroupEpoch,
    Logged,
    LoggedMember,
    MemberMetadata,
    MemberState,
    Owned,
    TargetAssignment,
    TargetEpoch,
)
from guarantees.logged_rebalances import logged_rebalance
from guarantees.places import TopicPartition

ORDERS = frozenset({"orders"})
NAMES = {"id-1": "orders"}
NOTHING = frozenset()
UNREVOKED = MemberState.UNREVOKED_PARTITIONS


def owned_names(*partitions):
    return frozenset(TopicPartition("orders", number) for number in partitions)


def member(name, *partitions, instance=None, host="/10.0.0.1", subscription=ORDERS):
    return LoggedMember(name, instance, "client", host, subscription, owned_names(*partitions))


def generation(number, *members, leader=None):
    group = ClassicGroup(number, "consumer", "range", leader, None, members)
    return ClassicGroupRecord("g", group)


def logged(*contents, from_ms=1_000):
    return [Logged(0, number, from_ms + 100 * number, None, content) for number, content in enumerate(contents)]


def rebalances(*contents, followed=None):
    _, changes = group_changes(followed or {}, logged(*contents), NAMES)
    return [found for change in changes if (found := logged_rebalance(change)) is not None]


def outline(found):
    seen = found.rebalance
    moves = [(move.partition.partition, move.old_member, move.new_member) for move in seen.moved]
    return seen.joined, seen.left, moves, found.epoch


# The classic protocol.


def test_two_generations_show_who_joined_what_moved_and_who_leads():
    (found,) = rebalances(
        generation(1, member("a", 0, 1), leader="a"), generation(2, member("a", 0), member("b", 1), leader="b")
    )

    assert outline(found) == (("b",), (), [(1, "a", "b")], 2)
    assert (found.leader_before, found.leader) == ("a", "b")
    assert (found.rebalance.changed_after_ms, found.rebalance.observed_at_ms) == (1_100, 1_100)
    assert found.rebalance.cause == "1 member joined"


def test_the_first_generation_that_is_read_shows_no_change():
    assert rebalances(generation(7, member("a", 0))) == []


def test_a_static_member_that_came_back_within_its_session_is_no_rebalance():
    before, after = member("a-1", 0, instance="a"), member("a-2", 0, instance="a")

    assert rebalances(generation(3, before), generation(3, after)) == []


def test_a_static_member_that_left_and_a_changed_host_are_told():
    (found,) = rebalances(
        generation(1, member("a", 0), member("s", 1, instance="s")), generation(2, member("a", 0, 1, host="/10.0.0.9"))
    )

    assert outline(found) == ((), ("s",), [(1, "s", "a")], 2)
    assert found.hosts == (("a", "/10.0.0.1", "/10.0.0.9"),)
    assert "not observable" in found.rebalance.cause


def test_a_changed_subscription_is_told_with_the_topics():
    wider = frozenset({"orders", "audit"})

    (found,) = rebalances(generation(1, member("a", 0)), generation(2, member("a", 0, subscription=wider)))

    assert found.subscriptions == (("a", (), ("audit",)),)
    assert found.rebalance.cause == "a member changed its subscription"


def test_members_that_joined_again_to_the_same_partitions_are_a_rebalance_of_their_own():
    (found,) = rebalances(generation(1, member("a", 0)), generation(2, member("a", 0)))

    assert found.rebalance.cause == "the members joined again without a visible change of members or ownership"


def test_a_group_that_was_deleted_is_followed_anew():
    assert rebalances(generation(1, member("a", 0)), ClassicGroupRecord("g", None), generation(1, member("b", 0))) == []


# The consumer protocol.


def metadata(name, **changes):
    return MemberMetadata("g", name, replace(member(name), **changes))


def current(name, epoch, *partitions, state=MemberState.STABLE):
    assigned = frozenset(TopicPartition("id-1", number) for number in partitions)
    return CurrentAssignment("g", name, Owned(epoch, epoch - 1, state, assigned, NOTHING))


def gone(name):
    return (CurrentAssignment("g", name, None), TargetAssignment("g", name, None), MemberMetadata("g", name, None))


CREATED = (metadata("a"), GroupEpoch("g", 1), TargetAssignment("g", "a", NOTHING), TargetEpoch("g", 1),
           current("a", 1, 0, 1))  # fmt: skip
B_JOINS = (metadata("b"), GroupEpoch("g", 2), TargetAssignment("g", "b", NOTHING), TargetEpoch("g", 2),
           current("b", 2, state=MemberState.UNRELEASED_PARTITIONS), current("a", 1, 0, state=UNREVOKED),
           current("a", 2, 0), current("b", 2, 1))  # fmt: skip


def test_a_new_group_begins_empty():
    (found,) = rebalances(*CREATED)

    assert outline(found) == (("a",), (), [(0, None, "a"), (1, None, "a")], 1)


def test_a_rebalance_lasts_from_its_first_record_until_everybody_owns_its_target():
    _, found = rebalances(*CREATED, *B_JOINS)

    assert outline(found) == (("b",), (), [(1, "a", "b")], 2)
    assert (found.rebalance.changed_after_ms, found.rebalance.observed_at_ms) == (1_600, 2_200)


def test_a_member_that_left_is_told_once_the_others_own_what_it_had():
    left = (*gone("b"), GroupEpoch("g", 3), TargetEpoch("g", 3), current("a", 3, 0, 1))

    *_, found = rebalances(*CREATED, *B_JOINS, *left)

    assert outline(found) == ((), ("b",), [(1, "b", "a")], 3)


def test_the_last_member_that_leaves_ends_at_once():
    *_, found = rebalances(*CREATED, *gone("a"), GroupEpoch("g", 2))

    assert outline(found) == ((), ("a",), [(0, "a", None), (1, "a", None)], 2)
    assert found.rebalance.cause == "all members left"


def test_a_rebalance_that_another_overtakes_is_told_with_it():
    another = (metadata("c"), GroupEpoch("g", 3), TargetEpoch("g", 3), current("a", 3, 0), current("b", 3, 1),
               current("c", 3))  # fmt: skip

    found = rebalances(*CREATED, *B_JOINS[:-1], *another)

    assert [outline(one)[0] for one in found] == [("a",), ("b", "c")]


def test_a_group_whose_members_were_not_all_seen_is_not_told():
    assert rebalances(*B_JOINS) == []


def test_a_group_taken_from_a_sample_is_followed_from_there():
    settled = SettledGroup(CONSUMER, 1, None, (member("a", 0, 1, subscription=None),))

    (found,) = rebalances(*B_JOINS, followed={"g": of_sample(settled)})

    assert outline(found) == (("b",), (), [(1, "a", "b")], 2)
    assert found.subscriptions == ()


def test_a_topic_that_is_gone_keeps_its_id():
    followed, _ = group_changes({}, logged(*CREATED), {})

    (a,) = followed["g"].settled.members
    assert a.assignment == frozenset({TopicPartition("id-1", 0), TopicPartition("id-1", 1)})


@pytest.mark.parametrize("cut", range(1, len(CREATED) + len(B_JOINS)))
def test_wherever_a_reading_ends_the_next_one_tells_the_same(cut):
    records = logged(*CREATED, *B_JOINS)
    followed, first = group_changes({}, records[:cut], NAMES)
    _, second = group_changes(followed, records[cut:], NAMES)

    assert [*first, *second] == group_changes({}, records, NAMES)[1]
