"""A watched real cluster: topics and clients to move it, rounds to see it."""

import time
import uuid
from collections.abc import Callable, Iterator
from functools import partial

import pyarrow as pa
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from collectors.round import Collected, collect_round, fetch_cluster, unreachable_round
from collectors.signals import Signals
from collectors.watched import Remembered, Watched, open_cluster
from guarantees.observations import Round
from settings import ClusterSettings


class Rounds:
    """Rounds of one cluster as the runner makes them, without a store."""

    def __init__(self, watched: Watched) -> None:
        self.watched = watched
        self.remembered = Remembered()
        self.tick = 0
        self.took_s = 0.0
        self.observed: list[Round] = []

    def next(self) -> Collected:
        started_s = time.monotonic()
        signals = Signals()
        topology = fetch_cluster(self.watched, signals, self.remembered)
        if topology is None:
            collected = unreachable_round(self.watched, signals, self.remembered, "unknown", self.tick)
        else:
            collected = collect_round(self.watched, signals, topology, self.remembered, self.tick)
        self.tick += 1
        self.remembered = collected.remembered
        self.observed.append(collected.round)
        self.took_s = time.monotonic() - started_s
        return collected

    def until(self, holds: Callable[[Collected], bool], within_s: float = 30.0) -> Collected:
        deadline_s = time.monotonic() + within_s
        while True:
            collected = self.next()
            if holds(collected):
                return collected
            assert time.monotonic() < deadline_s, f"not seen within {within_s} s; last round: {collected.round}"
            time.sleep(0.2)

    def until_ended(self, table: str, is_meant: Callable[[dict[str, object]], bool]) -> dict[str, object]:
        """The row with which the meant subject's last interval ended, its value not having changed."""

        def ended(seen: Collected) -> list[dict[str, object]]:
            rows = seen.rows[table]
            rows = rows.to_pylist() if isinstance(rows, pa.Table) else rows
            return [row for row in rows if is_meant(row) and row["ended_reason"] not in (None, "changed")]

        (row,) = ended(self.until(lambda seen: bool(ended(seen))))
        return row


@pytest.fixture
def watch(cluster, watch_at) -> Callable[..., Rounds]:
    """Begin to watch; only the named topics, so that what other tests left behind is not in the way."""
    return partial(watch_at, cluster.bootstrap)


@pytest.fixture
def watch_at() -> Iterator[Callable[..., Rounds]]:
    """The same at the bootstrap address of any cluster."""
    opened: list[Watched] = []

    def begin(bootstrap: str, *topics: str) -> Rounds:
        watched = open_cluster(ClusterSettings(name="lab", bootstrap_servers=bootstrap, include_topics=topics))
        opened.append(watched)
        return Rounds(watched)

    yield begin
    for watched in opened:
        watched.close()


@pytest.fixture
def new_topic(cluster) -> Callable[..., str]:
    """Create a topic and wait until it can be used; `replicas` names the brokers of each partition.

    Settings of the topic are given with underscores: min_insync_replicas="1".
    """
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})

    def create(name: str, replicas: list[list[int]], **settings: str) -> str:
        topic = f"{name}-{uuid.uuid4().hex[:8]}"
        config = {setting.replace("_", "."): value for setting, value in settings.items()}
        created = admin.create_topics([NewTopic(topic, len(replicas), replica_assignment=replicas, config=config)])
        created[topic].result(30)
        return topic

    return create


@pytest.fixture
def produce(cluster) -> Callable[..., None]:
    """Put records into one partition."""

    def send(topic: str, partition: int, count: int, acks: str = "all") -> None:
        producer = Producer({"bootstrap.servers": cluster.bootstrap, "acks": acks})
        for number in range(count):
            producer.produce(topic, str(number), partition=partition)
        assert producer.flush(30) == 0

    return send


@pytest.fixture
def commit(cluster) -> Callable[..., None]:
    """Commit an offset for a group without members."""

    def put(group_id: str, topic: str, partition: int, offset: int) -> None:
        consumer = Consumer({"bootstrap.servers": cluster.bootstrap, "group.id": group_id})
        consumer.commit(offsets=[TopicPartition(topic, partition, offset)], asynchronous=False)
        consumer.close()

    return put
