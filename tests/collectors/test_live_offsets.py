"""Offsets, commits and transactions of a real cluster, as rounds see them."""

import uuid

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka import TopicPartition as Position

from guarantees.lag import consumer_lag
from guarantees.places import GroupPartition, TopicPartition
from guarantees.unknown import Unknown

pytestmark = pytest.mark.integration


def named(prefix: str) -> str:
    return f"{prefix}-{uuid.uuid4().hex[:8]}"


def test_lag_is_what_the_group_has_not_read_and_a_partition_without_a_commit_has_none(
    watch, new_topic, produce, commit
):
    topic, group_id = new_topic("lag", [[1, 2, 3], [2, 3, 1]]), named("lag")
    produce(topic, 0, 100)
    produce(topic, 1, 10)
    commit(group_id, topic, 0, 40)

    seen = watch(topic).next().round

    read, unread = GroupPartition(group_id, topic, 0), GroupPartition(group_id, topic, 1)
    lag = consumer_lag(seen.commits[read], seen.partitions[read.topic_partition])
    assert (lag.lag_hw, lag.lag_lso, lag.purged, lag.blocked, lag.ahead) == (60, 60, 0, 0, 0)
    assert seen.commits[unread].committed_offset is None
    assert consumer_lag(seen.commits[unread], seen.partitions[unread.topic_partition]).lag_hw == Unknown("no commit")
    assert [replica.log_end_offset for replica in seen.replicas[read.topic_partition]] == [100, 100, 100]


def test_an_open_transaction_holds_the_stable_offset_and_its_owner_is_named(cluster, watch, new_topic, produce):
    topic, transactional_id = new_topic("open", [[1, 2, 3]]), named("open")
    produce(topic, 0, 5)
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "transactional.id": transactional_id})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, "held", partition=0)
    producer.flush(30)
    rounds, partition = watch(topic), TopicPartition(topic, 0)

    while_open = rounds.next()

    offsets = while_open.round.partitions[partition]
    assert (offsets.last_stable_offset, offsets.high_watermark) == (5, 6)
    (holder,) = while_open.round.producers[partition]
    assert holder.current_transaction_start_offset == 5
    (transaction,) = (t for t in while_open.round.transactions if t.transactional_id == transactional_id)
    assert (transaction.state, transaction.producer_id) == ("Ongoing", holder.producer_id)
    assert partition in transaction.partitions

    producer.abort_transaction(30)

    ended = rounds.until_ended("open_producers", lambda row: row["topic"] == topic)
    assert ended["ended_reason"] == "the transaction ended"
    rounds.until(lambda seen: seen.round.partitions[partition].last_stable_offset == 7)


def test_an_aborted_transaction_is_no_longer_open(cluster, watch, new_topic):
    topic, transactional_id = new_topic("abort", [[1, 2, 3]]), named("abort")
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "transactional.id": transactional_id})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, "aborted", partition=0)
    producer.flush(30)
    rounds = watch(topic)
    rounds.until(lambda seen: any(t.transactional_id == transactional_id for t in seen.round.transactions))

    producer.abort_transaction(30)

    ended = rounds.until_ended("open_transactions", lambda row: row["transactional_id"] == transactional_id)
    assert ended["ended_before"] > ended["last_seen_at"]


def test_a_transactional_commit_without_its_marker_is_pending_and_not_the_commit_before_it(
    cluster, watch, new_topic, produce, commit
):
    topic, group_id = new_topic("pending", [[1, 2, 3]]), named("pending")
    produce(topic, 0, 10)
    commit(group_id, topic, 0, 3)
    rounds, place = watch(topic), GroupPartition(group_id, topic, 0)
    assert rounds.next().round.commits[place].committed_offset == 3
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": group_id})
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "transactional.id": named("pending")})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.send_offsets_to_transaction([Position(topic, 0, 7)], consumer.consumer_group_metadata(), 30)

    pending = rounds.next().round.commits[place]

    assert pending.is_pending
    assert isinstance(pending.committed_offset, Unknown)

    producer.commit_transaction(30)
    consumer.close()
    rounds.until(lambda seen: seen.round.commits[place].committed_offset == 7)
