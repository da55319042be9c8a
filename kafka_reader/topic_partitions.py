"""DescribeTopicPartitions: eligible leader replicas (KIP-966), which Metadata does not show."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kafka.protocol.admin import DescribeTopicPartitionsRequest

from guarantees.places import TopicPartition
from kafka_reader.connection import Connections
from kafka_reader.errors import RequestRefusedError

UNSUPPORTED_VERSION = "UNSUPPORTED_VERSION"

# The broker's own limit (max.request.partition.size.limit) is the same.
PAGE_PARTITIONS = 2000


@dataclass(frozen=True, slots=True)
class EligibleLeaders:
    """Replicas that may lead without losing data although out of the ISR; None: the feature is off."""

    eligible: tuple[int, ...] | None
    last_known: tuple[int, ...] | None


def eligible_leaders_request(topics: Iterable[str], cursor: Any = None) -> DescribeTopicPartitionsRequest:
    request = DescribeTopicPartitionsRequest
    after = (
        None if cursor is None else request.Cursor(topic_name=cursor.topic_name, partition_index=cursor.partition_index)
    )
    return request(
        topics=[request.TopicRequest(name=name) for name in sorted(topics)],
        response_partition_limit=PAGE_PARTITIONS,
        cursor=after,
    )


def fetch_eligible_leaders(connections: Connections, topics: Iterable[str]) -> dict[TopicPartition, EligibleLeaders]:
    """Ask any broker, page by page. Empty where brokers are older than 3.8 and do not know the request."""
    names = sorted(topics)
    found: dict[TopicPartition, EligibleLeaders] = {}
    cursor = None
    while names:
        try:
            response = connections.send_any(eligible_leaders_request(names, cursor)).response
        except RequestRefusedError as exc:
            if exc.error == UNSUPPORTED_VERSION:
                return {}
            raise
        found |= parse_eligible_leaders(response)
        cursor = response.next_cursor
        # The broker wants the topics before the cursor left out.
        names = [] if cursor is None else [name for name in names if name >= cursor.topic_name]
    return found


def parse_eligible_leaders(response: Any) -> dict[TopicPartition, EligibleLeaders]:
    """Partitions that answered; those with an error are left out, the others say nothing about them."""
    return {
        TopicPartition(topic.name, part.partition_index): EligibleLeaders(
            _replicas(part.eligible_leader_replicas), _replicas(part.last_known_elr)
        )
        for topic in response.topics
        if topic.error_code == 0
        for part in topic.partitions
        if part.error_code == 0
    }


def _replicas(given: list[int] | None) -> tuple[int, ...] | None:
    return None if given is None else tuple(given)
