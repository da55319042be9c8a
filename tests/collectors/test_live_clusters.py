"""Several clusters in one process, one of them of an older Kafka: each with its interval, and its failures its own."""

import threading
import time
import uuid

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import NewTopic

from collectors import runner
from collectors.check import check
from guarantees.observations import GroupState
from guarantees.places import GroupPartition
from guarantees.places import TopicPartition as Place
from lab.clients import admin_client
from lab.cluster import Cluster
from lab.kafka_jars import KAFKA_3_VERSION
from lab.ports import free_ports
from settings import ClusterSettings, Secret, Security, Settings, StoreSettings
from store.reading import read
from store.rows import python_rows

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def old():
    """One broker of the newest 3.x, with a topic, a commit, and an open transaction."""
    with Cluster(brokers=1, kafka_version=KAFKA_3_VERSION) as started:
        yield started


@pytest.fixture(scope="module")
def topic(old):
    name = f"old-{uuid.uuid4().hex[:8]}"
    admin = admin_client(old.bootstrap)
    admin.create_topics([NewTopic(name, 1, 1)])[name].result(30)
    producer = Producer({"bootstrap.servers": old.bootstrap})
    for number in range(10):
        producer.produce(name, str(number))
    assert producer.flush(30) == 0
    return name


def test_an_older_kafka_is_watched_with_what_it_knows_and_what_it_lacks_is_said(old, topic, watch_at):
    boot = {"bootstrap.servers": old.bootstrap}
    consumer = Consumer(boot | {"group.id": topic})
    consumer.commit(offsets=[TopicPartition(topic, 0, 4)], asynchronous=False)
    consumer.close()
    producer = Producer(boot | {"transactional.id": topic})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, "open")
    assert producer.flush(30) == 0
    rounds = watch_at(old.bootstrap, topic)

    # Settings are asked for in every twelfth round: an answer that came late is asked for again.
    seen = rounds.until(lambda each: bool(each.round.producers) and topic in each.round.topic_settings).round
    producer.abort_transaction(30)

    assert rounds.watched.connections.kafka_version == "3.9"
    offsets = seen.partitions[Place(topic, 0)]
    assert (offsets.log_start_offset, offsets.last_stable_offset, offsets.high_watermark) == (0, 10, 11)
    assert seen.commits[GroupPartition(topic, topic, 0)].committed_offset == 4
    assert isinstance(seen.groups[topic], GroupState)
    assert [each.transactional_id for each in seen.transactions] == [topic]
    assert [len(each) for each in seen.producers.values()] == [1]
    assert seen.states[Place(topic, 0)].eligible_leader_replicas is None
    assert "min.insync.replicas" in seen.topic_settings[topic]
    assert [each.error for each in seen.coverage if not each.is_complete] == []
    said = check(ClusterSettings(name="old", bootstrap_servers=old.bootstrap))
    for request in rounds.watched.connections.not_understood:
        assert any(sentence.startswith(f"{request} is not understood") for sentence in said)


def rounds_of(data_dir, name):
    rows = python_rows(
        "rounds", read(data_dir, "rounds", None, "cluster = ? AND signal = ?", (name, "partition_states"))
    )
    return sorted(rows, key=lambda row: row["observed_at"])


def until(holds, within_s=30.0):
    deadline_s = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline_s, "it did not come true in time"
        time.sleep(0.2)


def test_a_cluster_in_trouble_costs_the_others_nothing_and_comes_back(cluster, old, topic, tmp_path):
    password = tmp_path / "password"
    locked = Security(
        protocol="SASL_PLAINTEXT", sasl_mechanism="PLAIN", username="u", password=Secret(file=str(password))
    )
    nobody = f"127.0.0.1:{free_ports(1)[0]}"
    every = {"interval_s": 1.0, "request_timeout_s": 0.5}
    settings = Settings(
        clusters=(
            ClusterSettings(name="healthy", bootstrap_servers=cluster.bootstrap, include_topics=("no-*",), **every),
            ClusterSettings(name="silent", bootstrap_servers=old.bootstrap, include_topics=(topic,), **every),
            ClusterSettings(name="unreachable", bootstrap_servers=nobody, **every),
            ClusterSettings(name="locked", bootstrap_servers=nobody, security=locked, **every),
        ),
        store=StoreSettings(data_dir=str(tmp_path / "data")),
    )
    data_dir, stop = tmp_path / "data", threading.Event()
    thread = threading.Thread(target=runner.run, args=(settings, stop))
    thread.start()
    try:
        until(lambda: all(rounds_of(data_dir, each.name) for each in settings.clusters))
        until(lambda: rounds_of(data_dir, "silent")[-1]["error"] is None)
        old.pause(1)
        try:
            until(lambda: rounds_of(data_dir, "silent")[-1]["error"] is not None)
            silent, healthy = len(rounds_of(data_dir, "silent")), len(rounds_of(data_dir, "healthy"))
            until(lambda: len(rounds_of(data_dir, "silent")) >= silent + 3)
            during = rounds_of(data_dir, "healthy")[healthy:]
        finally:
            old.resume(1)
        until(lambda: rounds_of(data_dir, "silent")[-1]["error"] is None)
        password.write_text("any")
        until(lambda: "no broker answers" in rounds_of(data_dir, "locked")[-1]["error"])
    finally:
        stop.set()
        thread.join(30)

    assert len(during) >= 2
    assert [row["error"] for row in rounds_of(data_dir, "healthy") if row["error"] is not None] == []
    assert {row["answered"] for row in rounds_of(data_dir, "unreachable")} == {0}
    assert "cannot be read" in rounds_of(data_dir, "locked")[0]["error"]
