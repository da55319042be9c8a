"""DescribeCluster and ApiVersions: the cluster's brokers, what each understands, and which features are in force.

Neither needs a right. A feature in force (finalized) is the cluster's, whatever its brokers could do (KIP-584).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kafka.protocol.admin import DescribeClusterRequest
from kafka.protocol.metadata import ApiVersionsRequest

from guarantees.unknown import Unknown
from kafka_reader.answer import Answer, now_ms
from kafka_reader.connection import CLIENT_ID, Connections
from kafka_reader.errors import CollectionError, unknown_after, unknown_because

BROKERS_ENDPOINT = 1
FENCED_SINCE = 2
NO_FEATURES = Unknown("the broker gives no features: it is older than 2.7 or has none in force")


@dataclass(frozen=True, slots=True)
class Broker:
    """A registered broker. `is_fenced`: it is registered and not in service; None where the answer cannot say it."""

    broker: int
    host: str
    port: int
    rack: str | None
    is_fenced: bool | None


@dataclass(frozen=True, slots=True)
class Understood:
    """What one broker understands, and the features in force as it knows them, by name; epoch of that knowledge."""

    api_versions: Mapping[int, tuple[int, int]]
    features: Mapping[str, int] | Unknown
    features_epoch: int
    observed_at_ms: int


@dataclass(frozen=True, slots=True)
class Described:
    """Who is registered in the cluster, or why that is unknown, and what each broker in service understands."""

    brokers: tuple[Broker, ...] | Unknown
    understood: Mapping[int, Understood | Unknown]
    observed_at_ms: int

    @property
    def features(self) -> Mapping[str, int] | Unknown:
        """Of the broker that knows the newest: the others learn of a change a moment later."""
        known = [each for each in self.understood.values() if isinstance(each, Understood)]
        if not known:
            return next((each for each in self.understood.values() if isinstance(each, Unknown)), NO_FEATURES)
        return max(known, key=lambda each: each.features_epoch).features


def brokers_request() -> DescribeClusterRequest:
    """Brokers out of service too, where the version can say so (v2, KIP-1073)."""
    return DescribeClusterRequest(
        include_cluster_authorized_operations=False, endpoint_type=BROKERS_ENDPOINT, include_fenced_brokers=True
    )


def versions_request() -> ApiVersionsRequest:
    """v3 and later tell the features."""
    return ApiVersionsRequest(client_software_name=CLIENT_ID, client_software_version="1")


def fetch_described(connections: Connections, brokers: Iterable[int]) -> Described:
    """Any broker for the list, each broker in service for what it understands."""
    try:
        listed = parse_brokers(connections.send_any(brokers_request()))
    except CollectionError as exc:
        listed = unknown_after(exc)
    answers = connections.send_all({broker: versions_request() for broker in brokers})
    understood = {broker: parse_understood(answer) for broker, answer in answers.items()}
    return Described(listed, understood, now_ms())


def parse_brokers(answer: Answer) -> tuple[Broker, ...] | Unknown:
    response = answer.response
    if response.error_code != 0:
        return unknown_because(response.error_code)
    tells_fenced = response.API_VERSION >= FENCED_SINCE
    return tuple(
        Broker(each.broker_id, each.host, each.port, each.rack, each.is_fenced if tells_fenced else None)
        for each in sorted(response.brokers, key=lambda each: each.broker_id)
    )


def parse_understood(answer: Answer | CollectionError) -> Understood | Unknown:
    if isinstance(answer, CollectionError):
        return unknown_after(answer)
    response = answer.response
    if response.error_code != 0:
        return unknown_because(response.error_code)
    return Understood(
        api_versions={each.api_key: (each.min_version, each.max_version) for each in response.api_keys},
        features=_features(response),
        features_epoch=response.finalized_features_epoch,
        observed_at_ms=answer.observed_at_ms,
    )


def _features(response: Any) -> dict[str, int] | Unknown:
    """Meaningless below epoch 0 (ApiVersionsResponse)."""
    if response.finalized_features_epoch < 0:
        return NO_FEATURES
    return {each.name: each.max_version_level for each in response.finalized_features}
