"""A group of which a rule has nothing to tell hides none that comes after it in the round."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from guarantees.findings import Kind
from guarantees.observations import Member, Round
from guarantees.places import GroupPartition, TopicPartition
from tests.guarantees.builders import GROUP, TOPIC, findings, seen, steps
from tests.guarantees.test_commit_epochs import at_second
from tests.guarantees.test_falling_behind import slow
from tests.guarantees.test_new_partition_skipped import BEFORE, GROWN, added
from tests.guarantees.test_read_past_stable import AFTER, two
from tests.guarantees.test_stale_subscription import left

FIRST = "first"
MOVING = [seen(s, high=1000 + int(2 * s), committed=100 + int(s)) for s in steps(0, 125)]


def renamed(given: Mapping[Any, Any]) -> dict[Any, Any]:
    """By partition, or by group and partition."""
    return {
        TopicPartition(FIRST, key.partition)
        if isinstance(key, TopicPartition)
        else GroupPartition(FIRST, FIRST, key.partition): value
        for key, value in given.items()
    }


def with_own_topic(member: Member) -> Member:
    return replace(
        member, assignment=frozenset(p._replace(topic=FIRST) if p.topic == TOPIC else p for p in member.assignment)
    )


def beside(quiet: Round, loud: Round) -> Round:
    """Both in one round: the quiet one as another group, on a topic of its own, before the loud one."""
    group = quiet.groups[GROUP]
    own = replace(group, members=tuple(with_own_topic(member) for member in group.members))
    return replace(
        loud,
        partitions={**renamed(quiet.partitions), **loud.partitions},
        commits={**renamed(quiet.commits), **loud.commits},
        states={**renamed(quiet.states), **loud.states},
        epoch_ends={**renamed(quiet.epoch_ends), **loud.epoch_ends},
        groups={FIRST: own, **loud.groups},
    )


def told(kind: Kind, quiet: Iterable[Round], loud: Iterable[Round]) -> list[str | None]:
    rounds = [beside(*both) for both in zip(quiet, loud, strict=True)]
    return [one.place.group_id for one in findings(*rounds, kind=kind)]


BESIDE = {
    "ahead for the first time": (
        Kind.COMMITTED_AHEAD,
        [seen(s, high=100, committed=c) for s, c in ((0, 90), (5, 150))],
        [seen(s, high=100, committed=150) for s in (0, 5)],
    ),
    "overtaken where nothing was known before": (
        Kind.EXPIRED_UNREAD,
        [seen(0), seen(5, high=900, start=400, committed=100)],
        [seen(s, high=900, start=start, committed=100) for s, start in ((0, 0), (5, 400))],
    ),
    "behind without a trend": (
        Kind.FALLING_BEHIND,
        [seen(s, high=900, committed=100) for s in steps(0, 125)],
        slow(125),
    ),
    "behind without members": (Kind.FALLING_BEHIND, slow(125, members=()), slow(125)),
    "a first commit on an old partition": (
        Kind.NEW_PARTITION_SKIPPED,
        [*(seen(s, high=9) for s in (0, 60, 300)), seen(360, high=9, committed=9)],
        [BEFORE, GROWN, added(300, 120, None), added(360, 125, 120)],
    ),
    "behind and moving": (
        Kind.GROUP_STALLED,
        MOVING,
        [seen(s, high=200 + int(s), committed=100) for s in steps(0, 125)],
    ),
    "behind and moving, beside a stale commit": (Kind.STALE_SUBSCRIPTION, MOVING, left(125)),
    "past the end of an epoch for the first time": (
        Kind.WRONG_COMMIT_EPOCH,
        [at_second(0, 160), at_second(5, 219, end=163), at_second(10, 219)],
        [at_second(0, 160, end=163), at_second(5, 700, end=163), at_second(10, 700)],
    ),
}


@pytest.mark.parametrize(("kind", "quiet", "loud"), BESIDE.values(), ids=BESIDE.keys())
def test_what_is_not_told_of_one_group_is_told_of_the_next(kind, quiet, loud):
    assert told(kind, quiet, loud) == [GROUP]


def test_a_finding_that_is_open_hides_no_new_one():
    past = seen(10, high=200, stable=160, committed=190)
    later = [seen(s, high=100, stable=100, committed=100) for s in (0, 5)]

    assert told(Kind.READ_PAST_STABLE_OFFSET, [*two(), past], [*later, seen(10, **AFTER)]) == [FIRST, GROUP]


def test_a_quiet_round_alone_is_quiet_for_its_own_reason():
    assert [told(kind, quiet, quiet) for kind, quiet, _ in BESIDE.values()] == [[]] * len(BESIDE)
