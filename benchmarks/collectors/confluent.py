"""A loop over confluent-kafka's AdminClient, as one would write it by hand; offsets in chunks of 500.

More partitions in one `list_offsets` call cost librdkafka more than linearly.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, IsolationLevel, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from benchmarks.collectors.measured import Line, Totals, cost, peak_mb

CHUNK = 500
GROUPS_IN_FLIGHT = 50
TIMEOUT_S = 60


def measured(bootstrap: str) -> Iterator[Line]:
    """Of each group commits and state, of each partition log start, last stable offset and high watermark."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    with cost() as spent:
        groups = [group.group_id for group in admin.list_consumer_groups(request_timeout=TIMEOUT_S).result().valid]
        commits = committed(admin, groups)
        described = admin.describe_consumer_groups(groups, request_timeout=TIMEOUT_S)
        states = [each.result().state for each in described.values()]
        partitions = [
            TopicPartition(name, number)
            for name, topic in admin.list_topics(timeout=TIMEOUT_S).topics.items()
            for number in topic.partitions
        ]
        listed(admin, partitions, OffsetSpec.earliest(), IsolationLevel.READ_UNCOMMITTED)
        listed(admin, partitions, OffsetSpec.latest(), IsolationLevel.READ_COMMITTED)
        ends = listed(admin, partitions, OffsetSpec.latest(), IsolationLevel.READ_UNCOMMITTED)
    lag = sum(ends[where] - offset for offsets in commits.values() for where, offset in offsets.items())
    pairs = sum(map(len, commits.values()))
    assert len(states) == len(groups)
    yield Line(
        "confluent-kafka, chunks of 500",
        spent.wall_s,
        spent.cpu_s,
        peak_mb(),
        Totals(len([offsets for offsets in commits.values() if offsets]), pairs, lag),
    )


def committed(admin: AdminClient, groups: Sequence[str]) -> dict[str, dict[tuple[str, int], int]]:
    """By group, what it has committed."""
    found = {}
    for some in _chunks(groups, GROUPS_IN_FLIGHT):
        asked = [
            admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)], request_timeout=TIMEOUT_S)[group]
            for group in some
        ]
        for group, answer in zip(some, asked, strict=True):
            parts: Iterable[Any] = answer.result().topic_partitions
            found[group] = {(part.topic, part.partition): part.offset for part in parts if part.offset >= 0}
    return found


def listed(
    admin: AdminClient, partitions: Sequence[TopicPartition], which: OffsetSpec, isolation: IsolationLevel
) -> dict[tuple[str, int], int]:
    found = {}
    for some in _chunks(partitions, CHUNK):
        answers = admin.list_offsets(dict.fromkeys(some, which), isolation_level=isolation, request_timeout=TIMEOUT_S)
        found.update({(where.topic, where.partition): answer.result().offset for where, answer in answers.items()})
    return found


def _chunks(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    return (items[start : start + size] for start in range(0, len(items), size))
