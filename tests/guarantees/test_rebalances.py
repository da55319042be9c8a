import pytest

from guarantees.places import TopicPartition
from guarantees.rebalances import Move, rebalance
from tests.guarantees.builders import at, group, member

P0, P1 = TopicPartition("orders", 0), TopicPartition("orders", 1)


def test_the_difference_names_who_joined_who_left_and_what_moved():
    before = group([member("a", P0), member("b", P1)], second=0)
    after = group([member("a", P0), member("c", P1)], second=5)
    seen = rebalance(before, after)

    assert (seen.joined, seen.left, seen.restarted) == (("c",), ("b",), ())
    assert seen.moved == (Move(P1, "b", "c"),)
    assert (seen.changed_after_ms, seen.observed_at_ms) == (at(0), at(5))
    assert seen.cause == "1 member left, 1 member joined"


NOTHING = {
    "the same": group([member("a", P0)]),
    "another order": group([member("b", P1), member("a", P0)]),
    "unsettled": group([member("b")], state="PreparingRebalance"),
    "completing": group([member("b")], state="CompletingRebalance"),
    "dead or asked in the wrong words": group([], state="Dead"),
}


@pytest.mark.parametrize("after", NOTHING.values(), ids=NOTHING.keys())
def test_nothing_has_happened_where(after):
    before = group([member("a", P0), member("b", P1)]) if len(after.members) == 2 else group([member("a", P0)])

    assert rebalance(before, after) is None


@pytest.mark.parametrize(
    ("before", "after", "cause"),
    [
        ([member("a", P0)], [member("a", P0), member("b")], "1 member joined"),
        ([member("a"), member("b")], [member("a")], "1 member left (by timeout, crash or request: not observable)"),
        ([member("a"), member("b")], [], "all members left"),
        ([member("a", P0)], [member("a", P1)], "partitions moved among the same members"),
    ],
)
def test_the_cause_is_inferred_from_the_difference(before, after, cause):
    assert rebalance(group(before), group(after)).cause.startswith(cause)


def test_a_partition_without_an_owner_moves_to_nobody():
    assert rebalance(group([member("a", P0)]), group([])).moved == (Move(P0, "a", None),)


def test_a_static_member_that_came_back_is_a_restart_and_moves_nothing():
    seen = rebalance(group([member("a1", P0, instance="i")]), group([member("a2", P0, instance="i")]))

    assert (seen.joined, seen.left, seen.moved) == ((), (), ())
    assert seen.restarted == (("a1", "a2"),)
    assert seen.is_static_restart


def test_a_higher_group_epoch_alone_is_a_rebalance_of_the_consumer_protocol():
    seen = rebalance(group(kind="consumer", epoch=3), group(kind="consumer", epoch=4))

    assert seen.group_epoch == 4
    assert not seen.is_static_restart
    assert rebalance(group(kind="consumer", epoch=4), group(kind="consumer", epoch=4)) is None


def test_in_a_share_group_members_come_and_go_and_no_partition_changes_hands():
    before = group([member("a", P0, P1)], kind="share", epoch=1)
    after = group([member("a", P0, P1), member("b", P0)], kind="share", epoch=2)

    seen = rebalance(before, after)

    assert (seen.joined, seen.moved, seen.group_epoch) == (("b",), (), 2)
    assert rebalance(after, before).left == ("b",)
    assert rebalance(after, before).moved == ()
