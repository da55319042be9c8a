"""Topics created anew, partitions added, and settings that ask for more replicas than there are."""

from dataclasses import replace

import pytest

from guarantees.findings import Grade, Kind
from guarantees.observations import Signal
from guarantees.places import GroupPartition, TopicPartition
from tests.guarantees.builders import GROUP, NOBODY, TOPIC, commit, complete, finding, findings, offsets, seen, state

ANEW, CARRIED, ADDED, ABOVE = (
    Kind.TOPIC_RECREATED,
    Kind.COMMIT_OF_OLD_TOPIC,
    Kind.PARTITIONS_ADDED,
    Kind.MIN_ISR_ABOVE_REPLICAS,
)
NEW_ID = "topic-id-2"


def topic(second, topic_id, high, committed=None, start=0):
    given = state(second=second, topic_id=topic_id)
    return seen(second, high=high, start=start, committed=committed, isr=given, topic_id=topic_id)


OLD = topic(0, "topic-id-1", 5, 5)


def test_a_topic_with_another_id_was_created_anew():
    found = finding(OLD, topic(5, NEW_ID, 10), topic(10, NEW_ID, 10), kind=ANEW)

    assert (found.severity, found.grade, found.anchor) == (1, Grade.PROVEN, "after topic-id-1")
    assert (found.place.topic_id, found.place.partition) == (NEW_ID, None)


def test_one_round_of_another_id_is_not_enough_and_it_is_told_once():
    assert not findings(OLD, topic(5, NEW_ID, 10), kind=ANEW)
    found = finding(OLD, *(topic(s, NEW_ID, 10) for s in (5, 10, 15, 20)), kind=ANEW)
    assert found.closed_reason


def test_the_old_id_from_old_metadata_is_no_third_topic():
    rounds = (OLD, topic(5, NEW_ID, 10), topic(10, "topic-id-1", 5), topic(15, NEW_ID, 10), topic(20, NEW_ID, 10))

    assert [one.anchor for one in findings(*rounds, kind=ANEW)] == ["after topic-id-1"]


def test_old_metadata_for_longer_is_no_third_topic_either():
    stale = [topic(s, "topic-id-1", 5) for s in (10, 15)]
    rounds = (OLD, topic(5, NEW_ID, 10), *stale, topic(20, NEW_ID, 10), topic(25, NEW_ID, 10))

    assert not findings(*rounds[:4], kind=ANEW)
    assert [one.anchor for one in findings(*rounds, kind=ANEW)] == ["after topic-id-1"]


def test_a_commit_of_the_old_topic_skips_what_the_new_one_holds_below_it():
    found = finding(OLD, *(topic(s, NEW_ID, 10, 5, start=1) for s in (5, 10)), kind=CARRIED)

    assert (found.severity, found.grade, found.anchor) == (4, Grade.PROBABLE, "commit 5 of topic-id-1")
    assert (found.bounds.lower, found.bounds.estimate, found.bounds.upper) == (0, 4, 4)
    assert (found.evidence["skipped"], found.evidence["ahead"]) == (4, 0)


def test_a_commit_beyond_the_new_end_will_skip_what_is_still_to_come():
    found = finding(OLD, *(topic(s, NEW_ID, 2, 5) for s in (5, 10)), kind=CARRIED)

    assert (found.bounds.upper, found.evidence["skipped"], found.evidence["ahead"]) == (5, 2, 3)


@pytest.mark.parametrize(
    "rounds",
    [
        (topic(5, NEW_ID, 10, 4), topic(10, NEW_ID, 10, 4)),
        (topic(5, NEW_ID, 10, 6), topic(10, NEW_ID, 10, 6)),
        (topic(5, NEW_ID, 10, 5), topic(10, NEW_ID, 10)),
        (topic(5, NEW_ID, 10, 5), topic(10, NEW_ID, 10, 7)),
        (topic(5, NEW_ID, 10, 5, start=5), topic(10, NEW_ID, 10, 5, start=5)),
        (topic(5, "topic-id-1", 10, 5), topic(10, "topic-id-1", 10, 5)),
        (topic(5, NEW_ID, 10, 5), topic(10, NEW_ID, 10, 5, start=NOBODY)),
        (topic(5, NEW_ID, 10, 5), topic(10, NEW_ID, None, 5)),
    ],
    ids=[
        "committed lower",
        "committed higher",
        "deleted with its topic",
        "moved on",
        "nothing below it",
        "same topic",
        "where the new log starts is not known",
        "where the new log ends is not known",
    ],
)
def test_what_is_no_commit_of_an_old_topic(rounds):
    assert not findings(OLD, *rounds, kind=CARRIED)


def test_as_many_offsets_to_come_as_there_are_count_twice():
    old = topic(0, "topic-id-1", 5, 4)
    found = finding(old, *(topic(s, NEW_ID, 2, 4) for s in (5, 10)), kind=CARRIED)

    assert (found.bounds.upper, found.evidence["skipped"], found.evidence["ahead"]) == (4, 2, 2)


@pytest.mark.parametrize(("committed", "reason"), [(5, None), (0, "went back to 0"), (8, "read on from 5")])
def test_it_closes_when_the_group_moves_its_commit(committed, reason):
    rounds = (OLD, *(topic(s, NEW_ID, 10, 5) for s in (5, 10)), topic(15, NEW_ID, 10, committed))
    closed = finding(*rounds, kind=CARRIED).closed_reason

    assert closed is None if reason is None else reason in closed


def partitioned(second, count, *, high=100, committed=None, topic_id="topic-id-1", is_complete=True):
    whole = TopicPartition(TOPIC, 0)
    keys = {GroupPartition(GROUP, TOPIC, n): committed for n in range(count) if committed is not None}
    return replace(
        seen(second, coverage=(complete(Signal.COMMITTED_OFFSETS),) if is_complete else ()),
        partitions={whole._replace(partition=n): offsets(high, second=second) for n in range(count)},
        states={whole._replace(partition=n): state(second=second, topic_id=topic_id) for n in range(count)},
        commits={key: commit(value, second=second) for key, value in keys.items()},
    )


def without_the_first(whole):
    return replace(whole, states={p: one for p, one in whole.states.items() if p.partition})


def test_more_partitions_than_before_may_break_the_order_of_keys():
    found = finding(partitioned(0, 3), partitioned(5, 6), kind=ADDED)

    assert (found.severity, found.anchor) == (2, "3 -> 6 partitions")
    assert [statement.grade for statement in found.statements] == [Grade.PROVEN, Grade.POSSIBLE]
    assert found.evidence["high_watermarks_before"] == {"0": 100, "1": 100, "2": 100}


@pytest.mark.parametrize(
    "rounds",
    [
        (partitioned(5, 3),),
        (partitioned(0, 3, topic_id="topic-id-0"), partitioned(5, 6)),
        (seen(0), partitioned(5, 6)),
        (partitioned(0, 6), partitioned(5, 3), partitioned(10, 6)),
        (partitioned(0, 3), without_the_first(partitioned(5, 6))),
    ],
    ids=["first sight", "created anew", "no states before", "left out for a round", "not named whole"],
)
def test_what_adds_no_partitions(rounds):
    assert not findings(*rounds, kind=ADDED)


def test_it_closes_when_nobody_has_old_records_left_to_read():
    added = (partitioned(0, 3, committed=50), partitioned(5, 6, committed=50))

    assert finding(*added, partitioned(10, 6, committed=97), kind=ADDED).closed_reason is None
    assert finding(*added, partitioned(10, 6, high=200, committed=100), kind=ADDED).closed_reason
    assert finding(*added, partitioned(10, 6, committed=100, is_complete=False), kind=ADDED).closed_reason is None


def each(second, committed, ends=(100, 50, 100)):
    """Old partitions that end at other offsets, and new ones that nobody has read."""
    whole = partitioned(second, len(committed), committed=0)
    highs = dict(enumerate(ends))
    return replace(
        whole,
        partitions={p: offsets(highs.get(p.partition, 100), second=second) for p in whole.partitions},
        commits={k: commit(committed[k.partition], second=second) for k in whole.commits},
    )


def test_each_old_partition_is_read_up_to_its_own_end_and_new_ones_do_not_count():
    added = (each(0, [90, 40, 90]), each(5, [90, 40, 90, 0]))

    assert finding(*added, each(10, [100, 60, 90, 0], [110, 110, 110]), kind=ADDED).closed_reason is None
    assert finding(*added, each(10, [100, 50, 100, 0], [110, 110, 110]), kind=ADDED).closed_reason
    assert finding(*added, each(10, [100, 49, 100, 0], [110, 110, 110]), kind=ADDED).closed_reason is None


def note(second, replicas, minimum, topic_id="topic-id-1"):
    return seen(second, isr=state(replicas, replicas=replicas, second=second, topic_id=topic_id), min_isr=minimum)


@pytest.mark.parametrize(("replicas", "minimum", "is_noted"), [([1], 2, True), ([1, 2], 2, False), ([1], 1, False)])
def test_a_minimum_above_the_replication_factor_is_a_note(replicas, minimum, is_noted):
    noted = findings(note(0, replicas, minimum), note(5, replicas, minimum), kind=ABOVE)

    assert [one.severity for one in noted] == [1] * is_noted


def test_the_note_closes_when_a_number_changes():
    assert finding(note(0, [1], 2), note(5, [1], 1), kind=ABOVE).closed_reason
    assert finding(note(0, [1], 2), note(5, [1, 2], 2), kind=ABOVE).closed_reason
    assert finding(note(0, [1], 2), seen(5), kind=ABOVE).closed_reason is None


def test_findings_of_a_whole_topic_end_with_it():
    anew = [note(s, [1], 2, topic_id=NEW_ID) for s in (5, 10)]
    old, new = findings(note(0, [1], 2), *anew, kind=ABOVE)

    assert "created anew" in old.closed_reason
    assert (new.place.topic_id, new.closed_reason) == (NEW_ID, None)
