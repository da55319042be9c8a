"""Brokers, what they understand and the features in force, asked in every Nth round and kept as intervals."""

import json
from collections.abc import Iterable, Iterator

from collectors import seldom
from collectors.intervals import Interval, Key, Seen
from guarantees.unknown import Unknown
from kafka_reader.connection import Connections
from kafka_reader.features import Broker, Described, Understood, fetch_described

BROKER_TABLE = "brokers"
VERSION_TABLE = "broker_versions"
FEATURE_TABLE = "cluster_features"
DETAILS = ()


def is_due(rounds_done: int, known: Described | None, in_service: Iterable[int]) -> bool:
    """Each Nth round, as soon as other brokers are in service, and again while something is unknown."""
    if known is None or seldom.is_due(rounds_done) or set(in_service) != known.understood.keys():
        return True
    return any(isinstance(value, Unknown) for value in values(known))


def collect(connections: Connections, in_service: Iterable[int]) -> Described:
    return fetch_described(connections, in_service)


def values(described: Described) -> Iterator[object]:
    """Everything asked for."""
    yield described.brokers
    yield from described.understood.values()


def brokers_seen(described: Described | None, at_ms: int) -> dict[Key, Seen]:
    if described is None or isinstance(described.brokers, Unknown):
        return {}
    return {(each.broker,): Seen(value=_columns(each), at_ms=at_ms) for each in described.brokers}


def _columns(broker: Broker) -> dict[str, object]:
    return {"host": broker.host, "port": broker.port, "rack": broker.rack, "is_fenced": broker.is_fenced}


def versions_seen(described: Described | None, at_ms: int) -> dict[Key, Seen]:
    if described is None:
        return {}
    return {
        (broker,): Seen(value={"api_versions": _versions(understood)}, at_ms=at_ms)
        for broker, understood in described.understood.items()
        if isinstance(understood, Understood)
    }


def _versions(understood: Understood) -> str:
    return json.dumps({str(key): list(versions) for key, versions in sorted(understood.api_versions.items())})


def features_seen(described: Described | None, at_ms: int) -> dict[Key, Seen]:
    if described is None or isinstance(described.features, Unknown):
        return {}
    return {(name,): Seen(value={"level": level}, at_ms=at_ms) for name, level in described.features.items()}


def broker_gone(described: Described | None, interval: Interval) -> str | None:
    """Only a list that was read says that a broker is gone."""
    if described is None or isinstance(described.brokers, Unknown):
        return None
    listed = {each.broker: each for each in described.brokers}
    if interval.key[0] in listed:
        return None
    tells_fenced = any(each.is_fenced is not None for each in described.brokers)
    return "no longer registered" if tells_fenced else "no longer in service"


def feature_gone(described: Described | None, interval: Interval) -> str | None:
    is_read = described is not None and not isinstance(described.features, Unknown)
    return "no longer in force" if is_read else None
