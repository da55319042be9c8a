"""What the principal may do, as far as brokers tell: operations they name, and answers about names that nobody has.

Lists leave out what may not be described without a word. Asked for a name, though, a broker says "not permitted" before
it looks whether the name exists (KafkaApis: handleTopicMetadataRequest, handleDescribeGroupsRequest,
handleDescribeTransactionsRequest); so a name nobody has tells whether a right covers more than what was listed.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from kafka.protocol.admin import DescribeClusterRequest, DescribeGroupsRequest, DescribeTransactionsRequest
from kafka.protocol.metadata import MetadataRequest

from guarantees.unknown import Unknown
from kafka_reader.answer import Answer
from kafka_reader.connection import Connections
from kafka_reader.errors import CollectionError, is_refusal, unknown_after, unknown_because

# Kafka's AclOperation, as far as Tidemark has a use for it; the others change something.
READ = 3
DESCRIBE = 8
DESCRIBE_CONFIGS = 10
CHANGES: Mapping[int, str] = {
    4: "WRITE",
    5: "CREATE",
    6: "DELETE",
    7: "ALTER",
    9: "CLUSTER_ACTION",
    11: "ALTER_CONFIGS",
    12: "IDEMPOTENT_WRITE",
}

# May the name be described; Unknown where nobody answered.
Permitted = Mapping[str, bool | Unknown]
Operations = frozenset[int]


def topics_request(topics: Iterable[str], *, with_operations: bool = False) -> MetadataRequest:
    """v10 and later, like every Metadata request."""
    return MetadataRequest(
        topics=[MetadataRequest.MetadataRequestTopic(name=topic) for topic in sorted(topics)],
        allow_auto_topic_creation=False,
        include_topic_authorized_operations=with_operations,
        min_version=10,
    )


def groups_request(group_ids: Iterable[str]) -> DescribeGroupsRequest:
    """Of any type and at any broker: whether it may be described is asked first, then whether the broker knows."""
    return DescribeGroupsRequest(groups=sorted(group_ids), include_authorized_operations=False)


def transactional_ids_request(transactional_ids: Iterable[str]) -> DescribeTransactionsRequest:
    """At any broker, as above."""
    return DescribeTransactionsRequest(transactional_ids=sorted(transactional_ids))


def cluster_request() -> DescribeClusterRequest:
    """Needs no right; the operations are none where the cluster may not be described."""
    return DescribeClusterRequest(include_cluster_authorized_operations=True)


def fetch_permitted_topics(connections: Connections, topics: Iterable[str]) -> Permitted:
    return _fetch_permitted(connections, topics, topics_request, lambda r: ((t.name, t.error_code) for t in r.topics))


def fetch_permitted_groups(connections: Connections, group_ids: Iterable[str]) -> Permitted:
    return _fetch_permitted(
        connections, group_ids, groups_request, lambda r: ((g.group_id, g.error_code) for g in r.groups)
    )


def fetch_permitted_transactional_ids(connections: Connections, transactional_ids: Iterable[str]) -> Permitted:
    return _fetch_permitted(
        connections,
        transactional_ids,
        transactional_ids_request,
        lambda r: ((t.transactional_id, t.error_code) for t in r.transaction_states),
    )


def fetch_cluster_operations(connections: Connections) -> Operations | Unknown:
    """What may be done with the cluster as a resource; empty without DESCRIBE on it."""
    try:
        response = connections.send_any(cluster_request()).response
    except CollectionError as exc:
        return unknown_after(exc)
    return _operations(response.error_code, response.authorized_operations)


def fetch_topic_operations(connections: Connections, topics: Iterable[str]) -> dict[str, Operations | Unknown]:
    """What may be done with each of the topics."""
    names = list(topics)
    try:
        response = connections.send_any(topics_request(names, with_operations=True)).response
    except CollectionError as exc:
        return dict.fromkeys(names, unknown_after(exc))
    return {topic.name: _operations(topic.error_code, topic.authorized_operations) for topic in response.topics}


def _fetch_permitted(connections: Connections, names: Iterable[str], build: Any, errors_of: Any) -> Permitted:
    asked = sorted(names)
    if not asked:
        return {}
    try:
        answer: Answer = connections.send_any(build(asked))
    except CollectionError as exc:
        return dict.fromkeys(asked, unknown_after(exc))
    return parse_permitted(asked, dict(errors_of(answer.response)))


def parse_permitted(asked: Iterable[str], errors: Mapping[str, int]) -> Permitted:
    """Every answer but a refusal says that the name may be described, whatever else stands in the way."""
    absent = Unknown("the broker's answer does not name it")
    return {name: not is_refusal(errors[name]) if name in errors else absent for name in asked}


def _operations(error_code: int, operations: Iterable[int]) -> Operations | Unknown:
    return frozenset(operations) if error_code == 0 else unknown_because(error_code)
