"""Rows that take only what a test is about."""

import os
from pathlib import Path

from store.reading import Window

# The start of an hour: 2025-11-24 16:00 UTC.
T0 = 1_764_000_000_000
SECOND, MINUTE, HOUR = 1_000, 60_000, 3_600_000
HOUR_WINDOW = Window(T0, T0 + HOUR)


def round_row(tick, at=T0, cluster="c"):
    return {"cluster_id": cluster, "tick": tick, "signal": "offsets", "observed_at": at}


def end_row(tick, at=T0, partition=0, **offsets):
    return {
        "cluster_id": "c",
        "tick": tick,
        "topic": "orders",
        "topic_id": "id",
        "partition": partition,
        "observed_at": at,
        "log_start_offset": 0,
        "last_stable_offset": 100,
        "high_watermark": 100,
        **offsets,
    }


def commit_row(tick, at=T0, partition=0, **commit):
    return {
        "cluster_id": "c",
        "tick": tick,
        "group_id": "g",
        "topic": "orders",
        "topic_id": "id",
        "partition": partition,
        "is_pending": False,
        "observed_at": at,
        "committed_offset": 90,
        **commit,
    }


def leader_row(leader, started_at, last_seen_at, partition=0, **end):
    return {
        "cluster_id": "c",
        "topic": "orders",
        "topic_id": "id",
        "partition": partition,
        "leader": leader,
        "started_at": started_at,
        "last_seen_at": last_seen_at,
        **end,
    }


def id_row(offset, at=T0):
    return {"cluster_id": "c", "topic_id": "id", "partition": 0, "offset": offset, "id_hash": offset, "observed_at": at}


def set_committed(path: Path, time_ms: int) -> None:
    """Make a segment look as if it had been committed then."""
    os.utime(path, ns=(time_ms * 1_000_000, time_ms * 1_000_000))


def files(data_dir: Path, table: str) -> list[str]:
    return sorted(path.name for path in data_dir.rglob(f"{table}/**/*.parquet"))
