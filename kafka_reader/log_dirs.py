"""DescribeLogDirs: how much each replica stores and where, asked of every broker. Needs DESCRIBE on the cluster."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kafka.protocol.admin import DescribeLogDirsRequest

from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.answer import Answer
from kafka_reader.connection import Connections
from kafka_reader.errors import CollectionError, unknown_after, unknown_because

KAFKA_STORAGE_ERROR = 56

OFFLINE = Unknown("the log directory is offline")
NO_VOLUME = Unknown("no volume in the answer: brokers before 3.3 give none (KIP-827)")
NOT_THERE = Unknown("the broker does not give it: the replica is offline")


@dataclass(frozen=True, slots=True)
class StoredReplica:
    """A replica's log in one directory. `offset_lag`: offsets by which its log end is below the high watermark this
    broker knows; of a future replica (it is being moved between directories) below the current replica's log end.
    """

    partition: TopicPartition
    size_bytes: int
    offset_lag: int | Unknown
    is_future: bool


@dataclass(frozen=True, slots=True)
class LogDir:
    """One log directory of a broker. `replicas` is Unknown where the directory is offline or refused."""

    path: str
    total_bytes: int | Unknown
    usable_bytes: int | Unknown
    replicas: tuple[StoredReplica, ...] | Unknown


@dataclass(frozen=True, slots=True)
class LogDirs:
    """The log directories of one broker, or why they are unknown."""

    directories: tuple[LogDir, ...] | Unknown
    requested_at_ms: int | None
    observed_at_ms: int | None


def log_dirs_request() -> DescribeLogDirsRequest:
    """Every topic and partition the broker holds; v2 and later answer alike, older ones know no offline directory."""
    return DescribeLogDirsRequest(topics=None)


def fetch_log_dirs(connections: Connections, brokers: Iterable[int]) -> dict[int, LogDirs]:
    """One entry per broker."""
    answers = connections.send_all({broker: log_dirs_request() for broker in brokers})
    return {broker: parse_log_dirs(answer) for broker, answer in answers.items()}


def parse_log_dirs(answer: Answer | CollectionError) -> LogDirs:
    """Without the right v3 and later answer with an error; older ones with no directory at all, which nobody has."""
    if isinstance(answer, CollectionError):
        return LogDirs(unknown_after(answer), None, None)
    found = _directories(answer.response)
    return LogDirs(found, answer.requested_at_ms, answer.observed_at_ms)


def _directories(response: Any) -> tuple[LogDir, ...] | Unknown:
    if response.error_code:
        return unknown_because(response.error_code)
    if not response.results:
        return Unknown("not permitted: the broker names no log directory")
    return tuple(_directory(each) for each in response.results)


def _directory(given: Any) -> LogDir:
    """Error 56 (KAFKA_STORAGE_ERROR) is how an offline directory looks."""
    if given.error_code:
        reason = OFFLINE if given.error_code == KAFKA_STORAGE_ERROR else unknown_because(given.error_code)
        return LogDir(given.log_dir, reason, reason, reason)
    replicas = tuple(_replica(topic.name, part) for topic in given.topics for part in topic.partitions)
    return LogDir(given.log_dir, _bytes(given.total_bytes), _bytes(given.usable_bytes), replicas)


def _bytes(given: int) -> int | Unknown:
    return NO_VOLUME if given < 0 else given


def _replica(topic: str, part: Any) -> StoredReplica:
    lag = NOT_THERE if part.offset_lag < 0 else part.offset_lag
    return StoredReplica(TopicPartition(topic, part.partition_index), part.partition_size, lag, part.is_future_key)
