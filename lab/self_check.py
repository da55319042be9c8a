"""Does the cluster hold what the lab believes it injected, and nothing else? Read with a plain consumer.

Where this disagrees with the ground truth the lab is wrong, not the monitor it judges.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, IsolationLevel, KafkaError, TopicPartition
from confluent_kafka.admin import OffsetSpec

from guarantees.findings import Kind
from lab.clients import admin_client
from lab.deeds import Spot
from lab.injected import Injected
from lab.topics import LEDGER, ORDERS, ORDERS_FLOW, PARTITIONS, PAYMENTS, SHIPMENTS, SHIPMENTS_FLOW, Flow
from lab.workload.messages import message_id

# Partition -> offset before which everything counts.
Ends = Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Stored:
    """What the topics of both pipelines hold before `ends`; sources only as far as their group has committed."""

    records: Mapping[str, Sequence[Spot]]
    ends: Mapping[str, Ends]


def self_check(bootstrap: str, injected: Iterable[Injected]) -> list[str]:
    """Every disagreement between the cluster and the ground truth, one sentence each."""
    return disagreements(read_stored(bootstrap), list(injected))


def disagreements(stored: Stored, injected: Sequence[Injected]) -> list[str]:
    """Compare, id by id: copies beyond the first, and source ids the sink does not have."""
    found: list[str] = []
    for topic in (ORDERS, PAYMENTS, SHIPMENTS, LEDGER):
        expected = _expected_ids(injected, Kind.DUPLICATE_WRITE, topic)
        found += _differences(f"extra copies in {topic}", expected, extra_copies(stored.records[topic]))
    for flow in (ORDERS_FLOW, SHIPMENTS_FLOW):
        expected = _expected_ids(injected, Kind.LOST_WRITE, flow.source)
        absent = missing(stored.records[flow.source], stored.records[flow.sink])
        found += _differences(f"ids lost between {flow.source} and {flow.sink}", expected, absent)
    return found


def extra_copies(spots: Iterable[Spot]) -> list[Spot]:
    """All stored copies of an id but the first of them; copies of an id lie in one partition here."""
    seen: set[str] = set()
    extra: list[Spot] = []
    for spot in sorted(spots):
        if spot.message_id in seen:
            extra.append(spot)
        seen.add(spot.message_id)
    return extra


def missing(source: Iterable[Spot], sink: Iterable[Spot]) -> list[Spot]:
    """Source records whose id the sink does not hold."""
    arrived = {spot.message_id for spot in sink}
    return [spot for spot in source if spot.message_id not in arrived]


def read_stored(bootstrap: str) -> Stored:
    """Read commits first: what a group has committed must have reached its sink, whatever moves meanwhile."""
    ends: dict[str, Ends] = {}
    for flow in (ORDERS_FLOW, SHIPMENTS_FLOW):
        ends[flow.source] = committed_offsets(bootstrap, flow)
        ends[flow.sink] = stable_offsets(bootstrap, flow.sink)
    return Stored({topic: read_topic(bootstrap, topic, its) for topic, its in ends.items()}, ends)


def committed_offsets(bootstrap: str, flow: Flow) -> Ends:
    """What the flow's group has committed of its source."""
    admin = admin_client(bootstrap)
    asked = [TopicPartition(flow.source, partition) for partition in range(PARTITIONS[flow.source])]
    group = ConsumerGroupTopicPartitions(flow.group_id, asked)
    answer = admin.list_consumer_group_offsets([group], require_stable=True)[flow.group_id].result(timeout=30)
    return {each.partition: max(0, each.offset) for each in answer.topic_partitions}


def stable_offsets(bootstrap: str, topic: str) -> Ends:
    """The last stable offset of each partition."""
    admin = admin_client(bootstrap)
    partitions = admin.list_topics(topic, timeout=30).topics[topic].partitions
    asked = {TopicPartition(topic, partition): OffsetSpec.latest() for partition in partitions}
    answers = admin.list_offsets(asked, isolation_level=IsolationLevel.READ_COMMITTED)
    return {each.partition: answer.result(timeout=30).offset for each, answer in answers.items()}


def read_topic(bootstrap: str, topic: str, ends: Ends) -> list[Spot]:
    """The committed records before `ends`, of the whole topic."""
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "lab-self-check",  # required by the client; it never commits
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(topic, partition, 0) for partition, end in ends.items() if end > 0])
    unread = {partition for partition, end in ends.items() if end > 0}
    spots: list[Spot] = []
    while unread:
        message = consumer.poll(30)
        if message is None:
            raise TimeoutError(f"{topic} could not be read to {dict(ends)}")
        partition, offset = message.partition(), message.offset()
        if message.error() is None and offset < ends[partition]:
            spots.append(Spot(partition, offset, message_id(message.headers())))
        elif message.error() is not None and message.error().code() != KafkaError._PARTITION_EOF:
            raise RuntimeError(f"{topic} could not be read: {message.error().str()}")
        if offset + (message.error() is None) >= ends[partition]:
            unread.discard(partition)
    consumer.close()
    return spots


def _expected_ids(injected: Iterable[Injected], kind: Kind, topic: str) -> list[str]:
    expected = [each for fault in injected for each in fault.expected if (each.kind, each.topic) == (kind, topic)]
    return [message_id for each in expected for message_id in each.message_ids]


def _differences(what: str, expected: Iterable[str], found: Iterable[Spot]) -> list[str]:
    wanted, present = sorted(expected), sorted(spot.message_id for spot in found)
    if wanted == present:
        return []
    unexplained, absent = sorted(set(present) - set(wanted)), sorted(set(wanted) - set(present))
    counts = f"{what}: {len(wanted)} injected, {len(present)} stored"
    return [f"{counts}; not injected {unexplained[:5]}, absent {absent[:5]}"]
