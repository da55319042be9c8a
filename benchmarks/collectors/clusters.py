"""A large real cluster to be collected from: the lab's three brokers, topics, records, commits and running members."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from benchmarks import large_cluster
from lab.clients import admin_client
from lab.cluster import Cluster

# The index of each of 20,000 logs takes 10 MB at once otherwise; one replica each keeps under the limit of open maps.
OVERRIDES = {
    "log.index.size.max.bytes": "4096",
    "min.insync.replicas": "1",
    "offsets.topic.num.partitions": "12",
    "group.consumer.max.session.timeout.ms": "600000",
}
PARTITIONS_OF = 50
PARTITIONS_A_REQUEST = 1_000
COMMITS_IN_FLIGHT = 50
RECORDS_AT_MOST = 6
SETTLE_WITHIN_S = 600

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Size:
    """`groups` have commits and no members; of each protocol `members` groups more have one member each.

    Each of `pairs` is a topic with all its partitions that a group has commits on. Every `filled`th topic has records:
    none would make a lag of zero, and filling all of them takes minutes.
    """

    topics: int
    groups: int
    members: int
    pairs: int
    filled: int

    @property
    def partitions(self) -> int:
        return self.topics * PARTITIONS_OF

    @property
    def commits(self) -> int:
        return (self.pairs + 2 * self.members) * PARTITIONS_OF


LARGE = Size(topics=400, groups=1_000, members=10, pairs=2_215, filled=10)
SMALL = Size(topics=40, groups=196, members=2, pairs=219, filled=4)


@contextmanager
def built(size: Size, progress: Callable[[str], None]) -> Iterator[Cluster]:
    """The cluster with everything in it; ends with the block."""
    with Cluster(overrides=OVERRIDES, is_proxied=True, progress=progress) as cluster:
        names = large_cluster.Cluster(large_cluster.Size(size.topics, PARTITIONS_OF, size.groups, size.pairs), 0)
        progress(f"Creating {size.partitions:,} partitions")
        create_topics(cluster.bootstrap, names.topics)
        ends = fill(cluster.bootstrap, names.topics[:: size.filled])
        progress(f"Committing {size.commits:,} offsets of {size.groups + 2 * size.members:,} groups")
        commit_all(cluster.bootstrap, names, ends)
        members = [join(cluster.bootstrap, number, names.topics, ends) for number in range(2 * size.members)]
        try:
            yield cluster
        finally:
            for member in members:
                member.close()


def create_topics(bootstrap: str, topics: Sequence[str]) -> None:
    """One replica each, and a wait until every partition has a leader."""
    admin = admin_client(bootstrap)
    for some in _chunks(topics, PARTITIONS_A_REQUEST // PARTITIONS_OF):
        made = admin.create_topics([NewTopic(topic, PARTITIONS_OF, 1) for topic in some], request_timeout=60)
        for each in made.values():
            each.result(90)
    _until(lambda: _led(admin) >= len(topics) * PARTITIONS_OF)


def _led(admin: AdminClient) -> int:
    topics = admin.list_topics(timeout=30).topics.values()
    return sum(part.leader >= 0 for topic in topics for part in topic.partitions.values())


def fill(bootstrap: str, topics: Sequence[str]) -> dict[tuple[str, int], int]:
    """0 to 6 records in each partition of these topics; their end offsets."""
    ends = {
        (topic, partition): (7 * number + 5 * partition) % (RECORDS_AT_MOST + 1)
        for number, topic in enumerate(topics)
        for partition in range(PARTITIONS_OF)
    }
    failed: list[str] = []
    patience_ms = SETTLE_WITHIN_S * 1_000
    producer = Producer(
        {"bootstrap.servers": bootstrap, "acks": "all", "linger.ms": 100, "message.timeout.ms": patience_ms}
    )
    for (topic, partition), count in ends.items():
        for number in range(count):
            producer.produce(
                topic,
                str(number),
                partition=partition,
                on_delivery=lambda error, _: failed.append(str(error)) if error is not None else None,
            )
        producer.poll(0)
    if producer.flush(SETTLE_WITHIN_S) or failed:
        raise RuntimeError(f"not every record was acknowledged: {failed[:1]}")
    return ends


def commit_all(bootstrap: str, names: large_cluster.Cluster, ends: dict[tuple[str, int], int]) -> None:
    """A commit at or below the end on every partition of the topics each group reads."""
    admin = admin_client(bootstrap)
    wanted: dict[str, list[TopicPartition]] = {}
    for group, topic in names.pairs:
        wanted.setdefault(names.groups[group], []).extend(_positions(names.topics[topic], group, ends))
    for some in _chunks(list(wanted.items()), COMMITS_IN_FLIGHT):
        _until(lambda asked=some: _committed(admin, asked))


def _positions(topic: str, salt: int, ends: dict[tuple[str, int], int]) -> list[TopicPartition]:
    return [
        TopicPartition(topic, partition, (salt + partition) % (ends.get((topic, partition), 0) + 1))
        for partition in range(PARTITIONS_OF)
    ]


def _committed(admin: AdminClient, some: Sequence[tuple[str, list[TopicPartition]]]) -> bool:
    """Whether every commit of these groups was taken: a coordinator that still loads refuses each by itself."""
    asked = [ConsumerGroupTopicPartitions(group, positions) for group, positions in some]
    answers: list[Future[ConsumerGroupTopicPartitions]] = [
        next(iter(admin.alter_consumer_group_offsets([one], request_timeout=30).values())) for one in asked
    ]
    try:
        return not any(part.error for answer in answers for part in answer.result(60).topic_partitions)
    except KafkaException:
        return False


def join(bootstrap: str, number: int, topics: Sequence[str], ends: dict[tuple[str, int], int]) -> Consumer:
    """A running member, alone in its group, with commits on the one topic it reads: classic and KIP-848 in turn."""
    protocol = "consumer" if number % 2 else "classic"
    member = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": f"running-{protocol}-{number:02d}",
            "group.protocol": protocol,
            "enable.auto.commit": False,
            # Nobody polls while others are measured.
            "max.poll.interval.ms": 86_400_000,
            "auto.offset.reset": "earliest",
            "fetch.min.bytes": 100_000,
            "fetch.wait.max.ms": 60_000,
            "socket.timeout.ms": 120_000,
        }
    )
    topic = topics[number * len(topics) // 40]
    member.subscribe([topic])
    _until(lambda: member.poll(0.5) is None and len(member.assignment()) == PARTITIONS_OF)
    member.pause(member.assignment())
    member.commit(offsets=_positions(topic, number, ends), asynchronous=False)
    return member


def _chunks(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def _until(holds: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + SETTLE_WITHIN_S
    while not holds():
        if time.monotonic() > deadline_s:
            raise RuntimeError(f"the cluster did not settle within {SETTLE_WITHIN_S} s")
        time.sleep(0.5)
