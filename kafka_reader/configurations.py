"""Topic configurations, by confluent-kafka: what a topic's promises rest on. Needs DESCRIBE_CONFIGS on the topic."""

from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource

from guarantees.topic_settings import (
    CLEANUP_POLICY,
    MIN_INSYNC_REPLICAS,
    RETENTION_BYTES,
    RETENTION_MS,
    UNCLEAN_LEADER_ELECTION,
)
from guarantees.unknown import Unknown
from kafka_reader.connection import CLIENT_ID
from kafka_reader.errors import unknown_because
from kafka_reader.security import librdkafka_options
from settings import Security, SettingsError

NAMES = (
    MIN_INSYNC_REPLICAS,
    UNCLEAN_LEADER_ELECTION,
    CLEANUP_POLICY,
    RETENTION_MS,
    RETENTION_BYTES,
    "message.timestamp.type",
)

# Per request: librdkafka keeps a Python object for each of about 35 entries of every topic.
TOPICS_AT_ONCE = 500


class Configurations:
    """Reads topic configurations of one cluster; asked rarely, so it keeps a client of its own.

    The client is made when it is first needed, and again when a secret has changed: it never forgets a wrong one.
    """

    def __init__(self, bootstrap_servers: str, security: Security) -> None:
        self._bootstrap_servers = bootstrap_servers
        self._security = security
        self._secrets: Mapping[str, Any] = {}
        self._admin: AdminClient | None = None

    def fetch(self, topics: Iterable[str], timeout_s: float) -> dict[str, dict[str, str] | Unknown]:
        """Of every topic the configurations in NAMES, or why they are unknown."""
        names = sorted(topics)
        try:
            admin = self._client()
        except (KafkaException, SettingsError) as exc:
            return dict.fromkeys(names, Unknown(f"no client for them: {exc}"))
        found: dict[str, dict[str, str] | Unknown] = {}
        for start in range(0, len(names), TOPICS_AT_ONCE):
            resources = [
                ConfigResource(ConfigResource.Type.TOPIC, name) for name in names[start : start + TOPICS_AT_ONCE]
            ]
            answers = admin.describe_configs(resources, request_timeout=timeout_s) if resources else {}
            found |= {resource.name: _entries(answer) for resource, answer in answers.items()}
        return found

    def _client(self) -> AdminClient:
        options = librdkafka_options(self._security)
        secrets = {name: value for name, value in options.items() if isinstance(value, str)}
        if self._admin is None or secrets != self._secrets:
            # log_level 0: an unreachable broker is reported by the round, not by the library on the terminal.
            # Its metrics are nothing to push into a cluster that is only read (KIP-714).
            quiet = {"log_level": 0, "enable.metrics.push": False}
            own = {"bootstrap.servers": self._bootstrap_servers, "client.id": CLIENT_ID, **quiet}
            self._admin, self._secrets = AdminClient(own | options), secrets
        return self._admin


def _entries(answer: "Future[dict[str, Any]]") -> dict[str, str] | Unknown:
    try:
        return parse_entries(answer.result())
    except KafkaException as exc:
        return parse_error(exc.args[0].code(), exc.args[0].str())


def parse_entries(entries: dict[str, Any]) -> dict[str, str]:
    """Those of NAMES the broker gave."""
    return {name: entries[name].value for name in NAMES if name in entries}


def parse_error(code: int, text: str) -> Unknown:
    """Codes below zero are librdkafka's own: nobody answered."""
    return unknown_because(code) if code > 0 else Unknown(text)
