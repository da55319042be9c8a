"""Brokers of a real cluster that fall silent or die: the others are seen as before, and within the second."""

import pytest
from confluent_kafka import Consumer
from confluent_kafka import TopicPartition as Position

from guarantees.places import GroupPartition, TopicPartition
from guarantees.unknown import Unknown

pytestmark = pytest.mark.integration

LEADER, FOLLOWER, OTHER = 1, 2, 3


def is_complete(seen) -> bool:
    return all(coverage.error is None for coverage in seen.round.coverage)


def test_a_paused_follower_costs_one_timeout_and_hides_nothing_but_itself(cluster, watch, new_topic, produce):
    topic = new_topic("paused", [[LEADER, FOLLOWER, OTHER], [FOLLOWER, LEADER, OTHER]])
    led, lost = TopicPartition(topic, 0), TopicPartition(topic, 1)
    produce(topic, 0, 10)
    produce(topic, 1, 10)
    rounds = watch(topic)
    assert is_complete(rounds.next())

    cluster.pause(FOLLOWER)
    try:
        produce(topic, 0, 50, acks="1")
        first, first_took_s = rounds.next().round, rounds.took_s
        rounds.next()
        second_took_s = rounds.took_s
    finally:
        cluster.resume(FOLLOWER)

    silent = Unknown(f"broker {FOLLOWER} did not answer in time")
    assert first.partitions[led].high_watermark == 10
    assert {r.broker: r.log_end_offset for r in first.replicas[led]} == {LEADER: 60, FOLLOWER: silent, OTHER: 60}
    assert first.partitions[lost].high_watermark == silent
    assert first_took_s < 2.0, "one timeout in the whole round"
    assert second_took_s < 0.8, "no timeout once the broker is known to be silent"

    back = rounds.until(lambda seen: is_complete(seen) and seen.round.partitions[led].high_watermark == 60)
    assert {r.log_end_offset for r in back.round.replicas[led]} == {60}
    rounds.until(lambda seen: all(len(state.in_sync_replicas) == 3 for state in seen.round.states.values()), 60)


def test_coordinators_that_wait_for_a_follower_are_not_taken_for_silent(cluster, watch, new_topic, produce):
    """Each has written a commit that the paused follower has not fetched, and answers for commits once it is out."""
    topic = new_topic("waiting", [[LEADER, OTHER, FOLLOWER], [OTHER, LEADER, FOLLOWER]])
    led = [TopicPartition(topic, 0), TopicPartition(topic, 1)]
    groups = [f"waiting-{number}-{topic}" for number in range(8)]
    consumers = [Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": group}) for group in groups]
    for consumer in consumers:
        consumer.commit(offsets=[Position(topic, 0, 0)], asynchronous=False)
    rounds = watch(topic)
    places = [GroupPartition(group, topic, 0) for group in groups]
    rounds.until(lambda seen: all(place in seen.round.commits for place in places))

    cluster.pause(FOLLOWER)
    try:
        for consumer in consumers:
            consumer.commit(offsets=[Position(topic, 0, 1)], asynchronous=True)
        waiting = rounds.until(
            lambda now: all(isinstance(now.round.commits[place].committed_offset, Unknown) for place in places), 5
        )
    finally:
        cluster.resume(FOLLOWER)

    assert [waiting.round.partitions[each].high_watermark for each in led] == [0, 0]
    rounds.until(lambda now: all(now.round.commits[place].committed_offset == 1 for place in places), 60)
    rounds.until(lambda now: all(len(state.in_sync_replicas) == 3 for state in now.round.states.values()), 60)
    for consumer in consumers:
        consumer.close()


def test_settings_of_a_new_topic_are_known_while_a_broker_hangs(cluster, watch, new_topic):
    known = new_topic("hung", [[LEADER]])
    rounds = watch("hung-*")
    rounds.until(lambda seen: known in seen.round.topic_settings)

    hung = rounds.watched.connections.last_answered
    new = new_topic("hung", [[next(broker for broker in (LEADER, FOLLOWER, OTHER) if broker != hung)]])
    cluster.pause(hung)
    try:
        seen = rounds.until(lambda seen: new in seen.round.topic_settings, within_s=6.0)
    finally:
        cluster.resume(hung)

    assert seen.round.topic_settings[new]["cleanup.policy"] == "delete"
    rounds.until(is_complete)


def test_a_killed_broker_leaves_its_replicas_unknown_and_is_seen_again_when_it_is_back(
    cluster, watch, new_topic, produce
):
    topic = new_topic("killed", [[LEADER, OTHER, FOLLOWER]])
    partition = TopicPartition(topic, 0)
    produce(topic, 0, 10)
    rounds = watch(topic)
    assert is_complete(rounds.next())

    cluster.kill(FOLLOWER)
    try:
        gone = rounds.next().round
        produce(topic, 0, 5)
        shrunk = rounds.until(lambda seen: FOLLOWER not in seen.round.states[partition].in_sync_replicas)
    finally:
        cluster.restart(FOLLOWER)

    ends = {replica.broker: replica.log_end_offset for replica in gone.replicas[partition]}
    assert (ends[LEADER], ends[OTHER]) == (10, 10)
    assert isinstance(ends[FOLLOWER], Unknown)
    assert shrunk.round.partitions[partition].high_watermark == 15
    (ended,) = (
        row
        for row in shrunk.rows["partition_state"].to_pylist()
        if row["topic"] == topic and row["ended_reason"] == "changed" and FOLLOWER in row["in_sync_replicas"]
    )
    assert ended["ended_before"] > ended["last_seen_at"] >= ended["started_at"]

    back = rounds.until(lambda seen: is_complete(seen) and len(seen.round.states[partition].in_sync_replicas) == 3, 60)
    assert {replica.log_end_offset for replica in back.round.replicas[partition]} == {15}
