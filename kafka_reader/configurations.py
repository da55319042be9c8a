"""DescribeConfigs: what a topic's promises rest on. Needs DESCRIBE_CONFIGS on the topic.

Every broker knows the settings of every topic (KafkaApis: handleDescribeConfigsRequest reads the metadata it holds), so
one that is silent hides none of them.
"""

from collections.abc import Iterable
from typing import Any

from kafka.protocol.admin import DescribeConfigsRequest

from guarantees.topic_settings import (
    CLEANUP_POLICY,
    MIN_INSYNC_REPLICAS,
    RETENTION_BYTES,
    RETENTION_MS,
    UNCLEAN_LEADER_ELECTION,
    TopicSettings,
)
from guarantees.unknown import Unknown
from kafka_reader.connection import Connections
from kafka_reader.errors import CollectionError, unknown_after, unknown_because

NAMES = (
    MIN_INSYNC_REPLICAS,
    UNCLEAN_LEADER_ELECTION,
    CLEANUP_POLICY,
    RETENTION_MS,
    RETENTION_BYTES,
    "message.timestamp.type",
)

# Kafka's ConfigResource.Type.
TOPIC = 2
# Of a cluster of many thousands one answer would keep a broker from the others' questions.
TOPICS_AT_ONCE = 500


def configurations_request(topics: Iterable[str]) -> DescribeConfigsRequest:
    resource = DescribeConfigsRequest.DescribeConfigsResource
    return DescribeConfigsRequest(
        resources=[
            resource(resource_type=TOPIC, resource_name=topic, configuration_keys=list(NAMES))
            for topic in sorted(topics)
        ],
        include_synonyms=False,
        include_documentation=False,
    )


def fetch_configurations(connections: Connections, topics: Iterable[str]) -> dict[str, TopicSettings | Unknown]:
    """Of every topic the configurations in NAMES, or why they are unknown; of any broker that answers."""
    names = sorted(topics)
    found: dict[str, TopicSettings | Unknown] = {}
    for start in range(0, len(names), TOPICS_AT_ONCE):
        some = names[start : start + TOPICS_AT_ONCE]
        try:
            found |= parse_configurations(some, connections.send_any(configurations_request(some)).response)
        except CollectionError as exc:
            found |= dict.fromkeys(some, unknown_after(exc))
    return found


def parse_configurations(asked: Iterable[str], response: Any) -> dict[str, TopicSettings | Unknown]:
    """Of every topic asked about, those of NAMES that the broker gave."""
    absent = Unknown("the broker's answer does not name it")
    given = {result.resource_name: _settings(result) for result in response.results}
    return {topic: given.get(topic, absent) for topic in asked}


def _settings(result: Any) -> TopicSettings | Unknown:
    if result.error_code:
        return unknown_because(result.error_code)
    return {entry.name: entry.value for entry in result.configs if entry.name in NAMES}
