"""What a fault of the truth run stands on: brokers that may be hurt, and topics and groups of its own."""

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from confluent_kafka import Consumer, IsolationLevel, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, NewTopic, OffsetSpec, ResourceType

from guarantees.findings import Kind
from guarantees.places import TopicPartition as Partition
from lab.client_history import ClientHistory, NotingConsumer, NotingProducer
from lab.clients import admin_client
from lab.cluster import Cluster
from lab.controls.stated import may_be_said
from lab.errors import LabError
from lab.injected import Expected
from lab.partition_ends import End, listed_end
from lab.partition_log import PartitionLog, Seen, await_change
from lab.paths import LabPaths
from lab.records import patiently, read_until, send
from lab.topics import Flow, flow_of, name_of
from lab.truth import now_ms
from lab.watch import Monitor

# The broker that no fault of the ground touches: the others are asked for nothing while they may be away.
STAYS = 2
HURT = (1, 3)
# Two rounds and a little of a monitor that looks every five seconds: what is to be seen must last as long.
SEEN_AFTER_S = 11.5
_HAPPENS_WITHIN_S = 60.0
# Its record jobs read many topics in a round when many faults run at once.
_JUDGED_WITHIN_S = 180.0


class Ground:
    """One fault's part of a cluster: `code` and `seed` name its topics and groups and decide its counts and brokers."""

    def __init__(
        self,
        cluster: Cluster,
        log: PartitionLog,
        paths: LabPaths,
        code: str,
        seed: int,
        monitor: Monitor | None = None,
    ) -> None:
        """`monitor` for the control that kills it; None where that is not the lab's to do."""
        self.monitor = monitor
        self.paths = paths
        self.cluster = cluster
        self.log = log
        self.code = code
        self.seed = seed
        self.random = random.Random(f"{code}/{seed}")
        self.bootstrap = cluster.address(STAYS)
        self.admin = admin_client(self.bootstrap)
        self.held: tuple[Any, ...] = ()
        self.departures: list[Expected] = []
        self.topics: list[str] = []
        self.history = ClientHistory()
        self.expiring: set[str] = set()

    def name(self, what: str) -> str:
        """Of a topic, a group or a transactional id of this fault."""
        return name_of(self.code, what, self.seed)

    def flow(self, flow: Flow) -> Flow:
        """This fault's own pipeline of that name."""
        return flow_of(self.code, flow, self.seed)

    def some(self, least: int, most: int) -> int:
        """A count that differs between seeds."""
        return self.random.randint(least, most)

    def two_to_hurt(self) -> tuple[int, int]:
        """The brokers that may be hurt, in an order of this seed."""
        first, second = self.random.sample(HURT, 2)
        return first, second

    def create_topic(self, what: str, replicas: Sequence[Sequence[int]] = ((2, 1, 3),), **settings: str) -> str:
        """A topic with these replicas for each partition, once all of them are in sync; `min_insync_replicas="1"`."""
        topic = self.name(what)
        config = {setting.replace("_", "."): value for setting, value in settings.items()}
        wanted = NewTopic(
            topic, len(replicas), replica_assignment=[list(brokers) for brokers in replicas], config=config
        )
        self.topics.append(topic)
        self.history.topic_created(topic)
        self._note_expiry(topic, config)
        self.admin.create_topics([wanted], operation_timeout=30)[topic].result(timeout=60)
        for number in range(len(replicas)):
            self.await_state(topic, number, lambda seen: seen.in_sync == seen.replicas)
        return topic

    def configure_topic(self, topic: str, settings: Mapping[str, str]) -> None:
        """Change settings of a topic as an operator does."""
        self._note_expiry(topic, settings)
        resource = ConfigResource(ResourceType.TOPIC, topic)
        for name, value in settings.items():
            resource.add_incremental_config(ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET))
        self.admin.incremental_alter_configs([resource])[resource].result(timeout=30)

    def producer(self, **settings: object) -> Producer:
        """A producer; librdkafka's settings with underscores. By default acks=all without idempotence."""
        return NotingProducer({**self._client(), "linger.ms": 5, **_dotted(settings)}, self.history)

    def producer_that_may_lose_answers(self, client: str, **settings: object) -> Producer:
        """One that reaches the brokers through the cluster's proxies, under a client id of its own."""
        linger = {"linger_ms": 100, "client_id": client, "bootstrap_servers": self.cluster.proxied_bootstrap}
        return self.producer(**linger, **settings)

    def producer_with_id(self, **settings: object) -> tuple[Producer, list[int]]:
        """A producer, and its producer id as soon as it is served after having one."""
        ids: list[int] = []

        def note(statistics: str) -> None:
            if (found := json.loads(statistics).get("eos", {}).get("producer_id", -1)) >= 0 and found not in ids:
                ids.append(found)

        return self.producer(statistics_interval_ms=200, stats_cb=note, **settings), ids

    def produce(self, topic: str, count: int, *, partition: int = 0, acks: str = "all") -> list[int]:
        """Put records into a partition; the offsets of those acknowledged, all or an error."""
        stored, refused = send(self.producer(acks=acks), topic, partition, count)
        if refused:
            raise LabError(f"{len(refused)} of {count} records for {topic} were not acknowledged: {refused[0]}")
        return stored

    def consumer(self, group_id: str, **settings: object) -> Consumer:
        """A consumer that commits only when it is told to."""
        defaults = {"group.id": group_id, "enable.auto.commit": False, "auto.offset.reset": "earliest"}
        return NotingConsumer({**self._client(), **defaults, **_dotted(settings)}, self.history)

    @contextmanager
    def reading_on(self, group_id: str, topic: str, partition: int = 0) -> Iterator[Consumer]:
        """A consumer without membership that stands at the group's commit."""
        consumer = self.consumer(group_id)
        where = patiently(lambda: consumer.committed([TopicPartition(topic, partition)], timeout=30))[0]
        consumer.assign([TopicPartition(topic, partition, max(0, where.offset))])
        yield consumer
        consumer.close()

    def read_to(self, group_id: str, topic: str, end: int, *, partition: int = 0) -> None:
        """Read from the group's commit up to `end`, and commit what was read."""
        with self.reading_on(group_id, topic, partition) as consumer:
            last = read_until(consumer, end - 1)
            patiently(lambda: consumer.commit(message=last, asynchronous=False))

    def read_as_members(self, topic: str, ends: Mapping[str, int]) -> None:
        """A member of each group reads so far, stays for two rounds of a monitor, and leaves in order."""
        members = []
        for group_id, end in ends.items():
            member = self.consumer(group_id)
            member.subscribe([topic])
            member.commit(message=read_until(member, end - 1), asynchronous=False)
            members.append(member)
        # Heartbeats are sent by the clients' own threads; the next poll is not due for minutes.
        time.sleep(SEEN_AFTER_S)
        for group_id, member in zip(ends, members, strict=True):
            self.leave(group_id, member)

    def leave(self, group_id: str, member: Consumer) -> None:
        """The member leaves in order. A monitor may say that what it had not committed could come again."""
        for each in member.position(member.assignment()):
            committed = member.committed([TopicPartition(each.topic, each.partition)], timeout=30)[0].offset
            count = max(0, each.offset - committed) if committed >= 0 else 0
            left = may_be_said(
                Kind.POSSIBLE_REDELIVERY, each.topic, partition=each.partition, group_id=group_id, count=count
            )
            self.departures.append(left)
        member.close()

    def hold(self, *clients: Any) -> None:
        """Clients that live on until `recover` takes them from `held`."""
        self.held = clients

    def end_of(self, topic: str, partition: int = 0) -> End:
        return listed_end(self.bootstrap, topic, partition, OffsetSpec.latest())

    def await_end(self, topic: str, end: int) -> None:
        """Until partition 0 has reached this offset; not every broker knows at once who leads a new topic."""

        def is_there() -> bool:
            with suppress(KafkaException):
                return self.end_of(topic).offset >= end
            return False

        self.await_that(is_there, f"{topic} should have reached {end}")

    def end_after_election(self, topic: str, before: End, partition: int = 0) -> End:
        """What the leader of a newer epoch says, as soon as it says it: its first answers may be errors."""
        ends: list[End] = []

        def is_led() -> bool:
            with suppress(KafkaException):
                ends.append(self.end_of(topic, partition))
            return bool(ends) and ends[-1].leader_epoch > before.leader_epoch

        self.await_that(is_led, f"{topic}-{partition} should be led in a newer epoch than {before.leader_epoch}")
        return ends[-1]

    def stable_end_of(self, topic: str) -> int:
        """The last stable offset of partition 0: up to where a read_committed reader sees it."""
        return listed_end(self.bootstrap, topic, 0, OffsetSpec.latest(), IsolationLevel.READ_COMMITTED).offset

    def start_of(self, topic: str, partition: int = 0) -> int:
        """The log start offset."""
        return listed_end(self.bootstrap, topic, partition, OffsetSpec.earliest()).offset

    def await_state(self, topic: str, partition: int, holds: Callable[[Seen], bool]) -> Seen:
        """The partition's leader and in-sync replicas, as soon as they are as they should be."""
        seen = await_change(self.log, Partition(topic, partition), holds, _HAPPENS_WITHIN_S)
        if seen is None:
            raise LabError(f"{topic}-{partition} did not get into the state that {self.code} needs")
        return seen

    def await_judged(self, flow: Flow) -> None:
        """Until the monitor, where the lab has one, compares the pipeline's two sides."""
        if (monitor := self.monitor) is not None:
            what = f"{flow.source} to {flow.sink} is not judged"
            self.await_that(lambda: monitor.is_judging(flow), what, within_s=_JUDGED_WITHIN_S)

    def await_that(self, holds: Callable[[], bool], what: str, *, within_s: float = _HAPPENS_WITHIN_S) -> int:
        """The moment it held, looked for ten times a second."""
        deadline = time.monotonic() + within_s
        while not holds():
            if time.monotonic() > deadline:
                raise LabError(f"{what}: not within {within_s:.0f} s")
            time.sleep(0.1)
        return now_ms()

    def _note_expiry(self, topic: str, settings: Mapping[str, str]) -> None:
        """From now on the broker may delete what was acknowledged, in order."""
        if {"cleanup.policy", "retention.ms"} & settings.keys():
            self.expiring.add(topic)

    def _client(self) -> dict[str, object]:
        return {"bootstrap.servers": self.bootstrap, "client.id": self.name("client"), "log_level": 0}


def _dotted(settings: Mapping[str, object]) -> dict[str, object]:
    """librdkafka's names; those of callbacks are the Python client's own."""
    return {name if name.endswith("_cb") else name.replace("_", "."): value for name, value in settings.items()}
