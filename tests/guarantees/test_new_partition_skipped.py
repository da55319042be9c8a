from dataclasses import replace

import pytest

from guarantees.findings import Grade, Kind
from guarantees.places import GroupPartition, TopicPartition
from tests.guarantees.builders import (
    GROUP,
    NOBODY,
    PARTITION,
    TOPIC,
    TOPIC_ID,
    commit,
    finding,
    findings,
    group,
    member,
    offsets,
    seen,
    state,
)

SKIPPED = Kind.NEW_PARTITION_SKIPPED
ADDED = TopicPartition(TOPIC, 1)


def added(second, high, committed, *, owns=True, start=0, topic_id=TOPIC_ID, partition=ADDED):
    """The topic has a second partition."""
    first = seen(second, high=9, committed=9, isr=state())
    key = GroupPartition(GROUP, TOPIC, partition.partition)
    return replace(
        first,
        partitions={**first.partitions, partition: offsets(high, start=start, second=second, topic_id=topic_id)},
        states={**first.states, partition: state(topic_id=topic_id)},
        commits={**first.commits, key: commit(committed, second=second, topic_id=topic_id)},
        groups={GROUP: group([member("m1", PARTITION, *([partition] if owns else []))])},
    )


BEFORE = seen(0, high=9, committed=9, isr=state())
GROWN = added(60, 0, None, owns=False)


def test_a_first_commit_at_exactly_the_end_at_discovery_is_where_the_group_began():
    found = finding(BEFORE, GROWN, added(300, 120, None), added(360, 125, 120), kind=SKIPPED)

    assert (found.severity, found.grade, found.anchor) == (4, Grade.PROBABLE, "first commit 120")
    assert (found.bounds.lower, found.bounds.estimate, found.bounds.upper) == (0, None, 120)
    assert found.place.partition == 1


@pytest.mark.parametrize(("high", "committed"), [(125, 121), (120, 120)], ids=["above it", "nothing more was there"])
def test_a_first_commit_that_a_quick_reader_may_have_reached_is_a_possibility(high, committed):
    found = finding(BEFORE, GROWN, added(300, 120, None), added(360, high, committed), kind=SKIPPED)

    assert (found.severity, found.grade, found.bounds.upper) == (2, Grade.POSSIBLE, 120)
    assert found.statements[-1].grade is Grade.NOT_OBSERVABLE


SILENT = {
    "empty at discovery": (BEFORE, GROWN, added(300, 0, None), added(360, 125, 120)),
    "read from the start": (BEFORE, GROWN, added(300, 120, None), added(360, 125, 119)),
    "the partition was always there": (GROWN, added(300, 120, None), added(360, 125, 120)),
    "nobody was seen to own it": (BEFORE, GROWN, added(300, 120, None, owns=False), added(360, 125, 120, owns=False)),
    "the topic is another": (BEFORE, *(added(s, 120, c, topic_id="other") for s, c in ((300, None), (360, 120)))),
    "nothing below its start": (BEFORE, GROWN, added(300, 120, None, start=120), added(360, 125, 120, start=120)),
    "the log start is unknown": (BEFORE, GROWN, added(300, 120, None), added(360, 125, 120, start=NOBODY)),
}


@pytest.mark.parametrize("rounds", SILENT.values(), ids=SILENT.keys())
def test_nothing_was_skipped_where(rounds):
    assert not findings(*rounds, kind=SKIPPED)


def test_a_partition_below_a_known_one_was_not_added():
    third = TopicPartition(TOPIC, 2)
    known = added(0, 120, None, partition=third)

    assert not findings(known, GROWN, added(300, 120, None), added(360, 125, 120), kind=SKIPPED)


def test_it_is_over_with_the_next_commit():
    rounds = (BEFORE, GROWN, added(300, 120, None), added(360, 125, 120), added(365, 130, 130))

    assert "130" in finding(*rounds, kind=SKIPPED).closed_reason
