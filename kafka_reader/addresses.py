"""Where the brokers are: the question a connection asks first, and what it keeps of the answer."""

from collections.abc import Iterable
from typing import Any

from kafka.protocol.metadata import MetadataRequest, MetadataResponse


def metadata_of(topics: Iterable[str] | None) -> MetadataRequest:
    """Of these topics, None: of all. v10 or later: topics have ids."""
    return MetadataRequest(
        topics=None if topics is None else [MetadataRequest.MetadataRequestTopic(name=topic) for topic in topics],
        allow_auto_topic_creation=False,
        include_topic_authorized_operations=False,
        min_version=10,
    )


def addresses(brokers: Iterable[Any], cluster_id: str) -> MetadataResponse:
    """An answer with the brokers alone, for kafka-python: partitions and leaders are Tidemark's own business."""
    return MetadataResponse(
        version=MetadataResponse.max_version,
        brokers=[(broker.node_id, broker.host, broker.port, broker.rack) for broker in brokers],
        cluster_id=cluster_id,
        controller_id=-1,
        topics=[],
    )
