"""Which leader epochs are asked about: after an election, for commits of old epochs, twice each, and no more."""

import pytest

from collectors import epoch_ends
from collectors.epoch_ends import EpochsKnown, known_after, questions
from guarantees.observations import PartitionOffsets, Round
from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.epoch_ends import EpochQuestion
from tests.collectors.fake_cluster import FakeCluster, FakeGroup
from tests.collectors.test_round import one_round

P0, P1 = TopicPartition("orders", 0), TopicPartition("orders", 1)


def offsets(epoch, broker=1, topic_id="id"):
    return PartitionOffsets(topic_id, 0, 9, 9, epoch, broker, 0, 0)


def after(*partitions):
    """What is known after one round that saw these."""
    seen = Round(cluster_id="c", tick=0, started_at_ms=0, ended_at_ms=0, partitions=dict(partitions))
    return known_after(EpochsKnown(), seen)


def committed(**epochs):
    """What commits on these partitions name."""
    return {(TopicPartition("orders", int(name[1:])), epoch) for name, epoch in epochs.items()}


def test_after_an_election_the_new_leader_is_asked_for_the_end_of_the_epoch_before():
    assert questions(after((P0, offsets(4))), {P0: offsets(7, broker=3)}, set()) == {EpochQuestion(P0, 4, 7): 3}


@pytest.mark.parametrize(
    "now",
    [offsets(4), offsets(3), offsets(Unknown("OFFSET_NOT_AVAILABLE"), None), offsets(5, topic_id="other")],
    ids=["no election", "a replaced leader", "not ready yet", "made anew"],
)
def test_without_an_election_of_which_the_leader_answers_nobody_is_asked(now):
    assert questions(after((P0, offsets(4))), {P0: now}, set()) == {}


def test_a_partition_met_for_the_first_time_raises_no_question():
    assert questions(EpochsKnown(), {P0: offsets(4)}, set()) == {}


def test_the_epoch_of_an_old_commit_is_asked_for_and_that_of_a_current_one_is_not():
    assert questions(after((P0, offsets(4))), {P0: offsets(4)}, committed(p0=2)) == {EpochQuestion(P0, 2, 4): 1}
    assert questions(after((P0, offsets(4))), {P0: offsets(4)}, committed(p0=4)) == {}
    assert questions(after((P0, offsets(4))), {P0: offsets(4)}, committed(p1=2)) == {}


def test_one_question_per_partition_and_the_election_comes_first():
    asked = questions(after((P0, offsets(4))), {P0: offsets(5)}, committed(p0=2))

    assert list(asked) == [EpochQuestion(P0, 4, 5)]


def test_a_round_asks_no_more_than_it_may_and_the_rest_later(monkeypatch):
    monkeypatch.setattr(epoch_ends, "MOST_QUESTIONS", 1)
    known = after((P0, offsets(4)), (P1, offsets(4)))

    assert len(questions(known, {P0: offsets(5), P1: offsets(5)}, {})) == 1


def test_a_replaced_leaders_answer_changes_nothing_that_is_known():
    seen = Round(cluster_id="c", tick=1, started_at_ms=0, ended_at_ms=0, partitions={P0: offsets(4)})

    assert questions(known_after(after((P0, offsets(5))), seen), {P0: offsets(5)}, {}) == {}


@pytest.mark.parametrize("now", [{P0: offsets(4)}, {}])
def test_a_question_waits_while_the_leader_it_is_for_does_not_answer(now):
    waiting = EpochQuestion(P0, 3, 5)
    known = EpochsKnown(after((P0, offsets(5))).led, {waiting: epoch_ends.Tried(1, 0)})

    assert questions(known, {P0: offsets(5)}, {}) == {waiting: 1}
    assert questions(known, now, {}) == {}


def rounds_of(cluster, count):
    collected, remembered = [], None
    for tick in range(count):
        collected.append(one_round(cluster, remembered, tick))
        remembered = collected[-1].remembered
    return collected


def test_after_an_election_two_answers_are_taken_in_two_rounds():
    cluster = FakeCluster()
    before = one_round(cluster)
    cluster.epochs, cluster.epoch_ends = {0: 1}, {(0, 0): (0, 100)}
    answers, remembered = [], before.remembered
    for tick in (1, 2, 3):
        seen = one_round(cluster, remembered, tick)
        remembered = seen.remembered
        answers.append([(end.asked_epoch, end.end_offset) for end in seen.round.epoch_ends.get(P0, ())])

    assert before.round.epoch_ends == {}
    assert answers == [[(0, 100)], [(0, 100)], []]


def test_what_was_not_answered_is_asked_again_until_it_was_twice():
    cluster = FakeCluster(epochs={0: 1}, groups={"g": FakeGroup({0: 5})})
    unanswered = rounds_of(cluster, 3)
    cluster.epoch_ends = {(0, 0): (0, 100)}
    remembered = unanswered[-1].remembered
    asked = []
    for tick in (3, 4, 5):
        seen = one_round(cluster, remembered, tick)
        remembered = seen.remembered
        asked.append(P0 in seen.round.epoch_ends)

    assert [seen.round.epoch_ends[P0][0].end_offset for seen in unanswered] == [
        Unknown("the log knows no such epoch")
    ] * 3
    assert asked == [True, True, False]


def test_another_election_asks_again():
    cluster = FakeCluster(epochs={0: 1}, epoch_ends={(0, 0): (0, 100)}, groups={"g": FakeGroup({0: 5})})
    remembered = rounds_of(cluster, 3)[-1].remembered
    cluster.epochs, cluster.epoch_ends = {0: 2}, {(0, 0): (0, 100), (0, 1): (0, 100)}
    asked = []
    for tick in range(3, 9):
        seen = one_round(cluster, remembered, tick)
        remembered = seen.remembered
        asked += [end.asked_epoch for end in seen.round.epoch_ends.get(P0, ())]

    assert asked == [1, 1, 0, 0]
