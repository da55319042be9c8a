"""What is true beside a fault because brokers were away: too few in-sync replicas, as the lab saw them."""

from collections.abc import Iterable, Mapping, Sequence

from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType

from guarantees.findings import Kind
from guarantees.places import TopicPartition
from lab.injected import Demand, Expected, Injected
from lab.partition_log import Seen, is_at, is_below, spans

CODE = "beside"
_HOLDS = {Kind.BELOW_MIN_ISR: is_below, Kind.AT_MIN_ISR: is_at}


def beside(
    changes: Mapping[TopicPartition, Sequence[Seen]],
    minima: Mapping[str, int],
    injected: Iterable[Injected],
    until_ms: int,
) -> list[Injected]:
    """One entry for each span of each partition. A monitor may say it, with the right number of seconds.

    Where a fault expects the same from that moment on, that counts.
    """
    told = {(each.kind, each.topic, each.partition, each.evidence_at_ms) for one in injected for each in one.expected}
    return [
        _entry(kind, partition, start_ms, end_ms)
        for kind, holds in _HOLDS.items()
        for partition, seen in changes.items()
        for start_ms, end_ms in spans(seen, lambda one, p=partition, h=holds: h(one, minima.get(p.topic, 1)), until_ms)
        if (kind, partition.topic, partition.partition, start_ms) not in told
    ]


def minima_of(admin: AdminClient, topics: Iterable[str]) -> dict[str, int]:
    """min.insync.replicas of each topic as it is in force."""
    asked = [ConfigResource(ResourceType.TOPIC, topic) for topic in topics]
    answers = admin.describe_configs(asked, request_timeout=10) if asked else {}
    return {
        resource.name: int(answer.result(timeout=15)["min.insync.replicas"].value)
        for resource, answer in answers.items()
    }


def seconds(start_ms: int, end_ms: int) -> int:
    return round((end_ms - start_ms) / 1000)


def _entry(kind: Kind, partition: TopicPartition, start_ms: int, end_ms: int) -> Injected:
    expected = Expected(
        kind=kind,
        topic=partition.topic,
        partition=partition.partition,
        group_id=None,
        count=seconds(start_ms, end_ms),
        first_offset=None,
        last_offset=None,
        evidence_at_ms=start_ms,
        demand=Demand.NONE,
    )
    return Injected(fault=CODE, injected_at_ms=start_ms, evidence_at_ms=start_ms, expected=(expected,))
