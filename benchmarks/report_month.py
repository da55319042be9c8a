"""How much memory and time reports of a month take on 20,000 partitions: `python -m benchmarks.report_month FOLDER`.

Writes hour roll-ups of one group that reads 20,000 partitions, its states, and a round every five seconds.
"""

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from store.contracts import TABLES
from store.publish import publish
from store.rows import arrow_table
from store.segments import HOUR_MS, SegmentName, folder

PARTITIONS, DAYS = 20_000, 31
LOW = PARTITIONS // 50
STEP_MS = 5_000
CLUSTER_ID, GROUP, TOPIC, TOPIC_ID = "mOnThOfPaRtItIoNs0001a", "month-reader", "month", "tOpIcOfAmOnTh0000001aA"
SETTINGS = f"""
[[clusters]]
name = "month"
bootstrap_servers = "127.0.0.1:9092"

[[pipelines]]
name = "month"
cluster = "month"
source = "{TOPIC}"
group = "{GROUP}"
sink = "month-out"
"""
REPORTS = (
    *(("delivery", name) for name in ("html", "pdf", "csv", "parquet", "duckdb")),
    ("durability", "pdf"),
)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path)
    place: Path = arguments.parse_args().folder
    place.mkdir(parents=True, exist_ok=True)
    settings = place / "tidemark.toml"
    if not settings.exists():
        write_store(place / "data", time.time_ns() // 1_000_000 // HOUR_MS * HOUR_MS)
        settings.write_text(SETTINGS)
    for kind, format_name in REPORTS:
        out = place / f"{kind}.{format_name}"
        started = time.monotonic()
        command = [sys.executable, "-m", "cli", "report", kind, "month", "--last", "month", "--format", format_name]
        subprocess.run([*command, "--out", str(out), "--settings", str(settings)], check=True, capture_output=True)
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
        size = out.stat().st_size // 1000
        print(f"{kind} {format_name}: {time.monotonic() - started:.1f} s, {size:,} kB; at most {most:,} MB so far")


def write_store(data_dir: Path, end_ms: int) -> None:
    """Hour by hour, as the maintainer leaves them."""
    for hour_ms in range(end_ms - DAYS * 24 * HOUR_MS, end_ms, HOUR_MS):
        for table, rows in _hour(hour_ms).items():
            known = TABLES[table]
            producer, minute = "rollup" if known.is_ranged else "host", hour_ms // 60_000
            name = SegmentName(producer, 2, minute, minute + 59)
            publish(data_dir, folder(known, hour_ms), name, arrow_table(table, rows), written_by="maintain")


def _hour(hour_ms: int) -> dict[str, pa.Table | list[dict[str, object]]]:
    return {
        "lag_hour": _lag(hour_ms),
        "group_lag_hour": [{
            "cluster_id": CLUSTER_ID, "group_id": GROUP, "topic": TOPIC, "observed_at": hour_ms, "lag": 5 * PARTITIONS,
            "lag_max": 9, "partitions": PARTITIONS, "without_commit": 0, "unknown": 0, "unknown_reason": None,
        }],
        "rounds": list(_rounds(hour_ms)),
        "partition_state": _states(hour_ms),
    }  # fmt: skip


def _lag(hour_ms: int) -> pa.Table:
    lag = np.arange(PARTITIONS) % 10
    return pa.table({
        **_constants(PARTITIONS, group_id=GROUP), "partition": np.arange(PARTITIONS, dtype=np.int32),
        "observed_at": _times(hour_ms), "lag_min": lag, "lag_max": lag + 1, "lag_last": lag,
        "samples": np.full(PARTITIONS, 720), "unknown": np.zeros(PARTITIONS, dtype=np.int64),
        "unknown_reason": pa.nulls(PARTITIONS, pa.string()),
    })  # fmt: skip


def _states(hour_ms: int) -> pa.Table:
    """Each hour restates every state; once a day a fiftieth of the partitions is below min ISR for a minute."""
    begun = hour_ms - hour_ms % (24 * HOUR_MS)
    since = pa.array(np.where(np.arange(PARTITIONS) < LOW, begun + 61_000, begun), pa.timestamp("ms", "UTC"))
    well = _state(np.arange(PARTITIONS), [1, 2, 3]) | {
        "started_at": since,
        "last_seen_at": _times(hour_ms + HOUR_MS - 5_000),
    }
    if hour_ms != begun:
        return pa.table(well)
    low = _state(np.arange(LOW), [1]) | {
        "started_at": _times(begun + 1_000, LOW), "started_after": _times(begun - 4_000, LOW),
        "last_seen_at": _times(begun + 56_000, LOW), "ended_before": _times(begun + 61_000, LOW),
    }  # fmt: skip
    return pa.concat_tables([pa.table(low), pa.table(well)], promote_options="default")


def _state(partitions: np.ndarray, in_sync: list[int]) -> dict[str, pa.Array]:
    number = len(partitions)
    lists = {"replicas": [1, 2, 3], "in_sync_replicas": in_sync, "offline_replicas": []}
    small = {"leader": 1, "leader_epoch": 1, "min_insync_replicas": 2}
    return {
        **_constants(number), "partition": pa.array(partitions, pa.int32()),
        **{name: pa.repeat(pa.scalar(value, pa.int32()), number) for name, value in small.items()},
        **{name: pa.array([value] * number, pa.list_(pa.int32())) for name, value in lists.items()},
    }  # fmt: skip


def _rounds(hour_ms: int) -> Iterator[dict[str, object]]:
    for at in range(hour_ms, hour_ms + HOUR_MS, STEP_MS):
        for signal in ("committed_offsets", "end_offsets", "partition_states"):
            yield {
                "cluster_id": CLUSTER_ID, "cluster": "month", "tick": at // STEP_MS, "signal": signal, "started_at": at,
                "observed_at": at + 900, "asked": PARTITIONS, "answered": PARTITIONS, "refused": 0, "failed": 0,
                "interval_ms": STEP_MS,
            }  # fmt: skip


def _constants(number: int, **more: str) -> dict[str, pa.Array]:
    same = {"cluster_id": CLUSTER_ID, "topic": TOPIC, "topic_id": TOPIC_ID, **more}
    return {name: pa.repeat(value, number) for name, value in same.items()}


def _times(at_ms: int, number: int = PARTITIONS) -> pa.Array:
    return pa.repeat(pa.scalar(at_ms, pa.timestamp("ms", "UTC")), number)


if __name__ == "__main__":
    main()
