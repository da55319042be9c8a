"""What each replica stores and where, asked in every Nth round: brokers look at their disks to answer."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from collectors.rows import Row, known_or_reason
from guarantees.unknown import Unknown
from kafka_reader.connection import Connections
from kafka_reader.log_dirs import LogDir, LogDirs, fetch_log_dirs
from kafka_reader.metadata import Topology

DIRECTORY_TABLE = "log_dirs"
REPLICA_TABLE = "replica_sizes"

Answers = Mapping[int, LogDirs]


def collect(relayed: Connections, brokers: Iterable[int]) -> dict[int, LogDirs]:
    return fetch_log_dirs(relayed, brokers)


def values(found: Answers) -> Iterator[object]:
    """Every directory, or its broker where none is known."""
    for dirs in found.values():
        if isinstance(dirs.directories, Unknown):
            yield dirs.directories
        else:
            yield from (directory.replicas for directory in dirs.directories)


def directory_rows(cluster_id: str, tick: int, found: Answers, ended_at_ms: int) -> list[Row]:
    """A broker that names no directory has one row that says why."""
    return [
        {
            "cluster_id": cluster_id,
            "tick": tick,
            "broker": broker,
            "log_dir": directory.path or None,
            "unreadable": directory.replicas.reason if isinstance(directory.replicas, Unknown) else None,
            **known_or_reason("total_bytes", directory.total_bytes),
            **known_or_reason("usable_bytes", directory.usable_bytes),
            "requested_at": dirs.requested_at_ms,
            "observed_at": ended_at_ms if dirs.observed_at_ms is None else dirs.observed_at_ms,
        }
        for broker, dirs in found.items()
        for directory in _directories(dirs)
    ]


def _directories(dirs: LogDirs) -> tuple[LogDir, ...]:
    unknown = dirs.directories
    return (LogDir("", unknown, unknown, unknown),) if isinstance(unknown, Unknown) else unknown


def replica_rows(
    cluster_id: str, tick: int, topology: Topology, found: Answers, is_watched: Callable[[str], bool]
) -> list[Row]:
    """Of watched topics and Kafka's own."""
    return [
        {
            "cluster_id": cluster_id,
            "tick": tick,
            "topic": stored.partition.topic,
            "topic_id": topology.topic_ids.get(stored.partition.topic),
            "partition": stored.partition.partition,
            "replica": broker,
            "log_dir": directory.path,
            "size_bytes": stored.size_bytes,
            **known_or_reason("offset_lag", stored.offset_lag),
            "is_future": stored.is_future,
            "requested_at": dirs.requested_at_ms,
            "observed_at": dirs.observed_at_ms,
        }
        for broker, dirs in found.items()
        for directory in _directories(dirs)
        if not isinstance(directory.replicas, Unknown)
        for stored in directory.replicas
        if stored.partition.topic in topology.internal_topics or is_watched(stored.partition.topic)
    ]
