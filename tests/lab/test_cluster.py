import time

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import NewTopic

from lab.clients import admin_client
from lab.ports import is_listening

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def topic(cluster):
    admin = admin_client(cluster.bootstrap)
    admin.create_topics([NewTopic("lab-cluster-test", 1, 3)], operation_timeout=30)["lab-cluster-test"].result(60)
    return "lab-cluster-test"


def in_sync(cluster, topic):
    metadata = admin_client(cluster.bootstrap).list_topics(topic, timeout=10)
    return set(metadata.topics[topic].partitions[0].isrs)


def until(holds, within_s=40):
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.3)


def produce(cluster, topic, value):
    stored = []
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "acks": "all", "log_level": 0})
    producer.produce(topic, value=value, on_delivery=lambda error, message: stored.append(error or message.offset()))
    assert producer.flush(30) == 0
    return stored[0]


def test_every_broker_knows_every_other(cluster):
    for broker in cluster.broker_ids:
        metadata = admin_client(cluster.address(broker)).list_topics(timeout=10)
        assert set(metadata.brokers) == set(cluster.broker_ids)


def test_a_new_topic_has_three_replicas_in_sync_and_takes_records(cluster, topic):
    until(lambda: in_sync(cluster, topic) == {1, 2, 3})
    offset = produce(cluster, topic, b"hello")

    consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": "lab-cluster-test"})
    consumer.assign([TopicPartition(topic, 0, offset)])
    assert consumer.poll(30).value() == b"hello"
    consumer.close()


def test_topics_are_not_created_by_asking_for_them(cluster):
    metadata = admin_client(cluster.bootstrap).list_topics("no-such-topic", timeout=10)
    assert metadata.topics["no-such-topic"].error is not None


def test_a_killed_broker_leaves_the_replicas_in_sync_and_comes_back(cluster, topic):
    cluster.kill(3)
    assert not is_listening(int(cluster.address(3).rpartition(":")[2]))
    until(lambda: in_sync(cluster, topic) == {1, 2})
    produce(cluster, topic, b"with two replicas")

    cluster.restart(3)

    until(lambda: in_sync(cluster, topic) == {1, 2, 3})


def test_a_paused_broker_accepts_connections_and_answers_nothing_until_it_is_resumed(cluster, topic):
    cluster.pause(2)
    try:
        assert is_listening(int(cluster.address(2).rpartition(":")[2]))
        with pytest.raises(KafkaException):
            admin_client(cluster.address(2)).list_topics(timeout=2)
        others = f"{cluster.address(1)},{cluster.address(3)}"
        until(
            lambda: set(admin_client(others).list_topics(topic, timeout=10).topics[topic].partitions[0].isrs) == {1, 3}
        )
    finally:
        cluster.resume(2)

    until(lambda: in_sync(cluster, topic) == {1, 2, 3})


def test_a_broker_writes_its_log_into_the_clusters_folder(cluster):
    assert "Kafka Server started" in cluster.broker_log(1).read_text()
    assert cluster.broker_log(1).is_relative_to(cluster.directory)
