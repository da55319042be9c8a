"""`python -m benchmarks.large_store DIRECTORY`: the store of a large cluster, through the store's own interface.

A day of minute roll-ups and the last 15 minutes of raw samples up to now; then rounds are written ahead, so that a page
looked at during the next minutes sees them appear as if somebody collected. What lies in the past is written as the
maintainer leaves it: a minute of rounds is one segment.
"""

import argparse
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks import large_samples, large_story
from benchmarks.large_cluster import LARGE, SMALL, Cluster, Size
from store.contracts import TABLES
from store.findings import append_events
from store.lag_minute import TABLE, RollUp
from store.log import SegmentLog
from store.maintenance import roll_up
from store.merging import ROLE
from store.metrics import METRICS_FILE, MetricsWriter
from store.publish import publish
from store.rows import Row
from store.segments import HOUR_MS, MINUTE_MS, folder, producer_name

DAY_MS = 24 * HOUR_MS
SETTINGS = """
[[clusters]]
name = "production"
bootstrap_servers = "127.0.0.1:9092"
interval_s = {interval_s}

[store]
data_dir = "data"
"""


@dataclass(frozen=True, slots=True)
class Times:
    """Raw samples from `raw_ms`, roll-ups from a day before `now_ms`, rounds written ahead to `end_ms`."""

    now_ms: int
    step_ms: int
    raw_minutes: int
    ahead_minutes: int
    hours: int

    @property
    def from_ms(self) -> int:
        return self.now_ms - self.hours * HOUR_MS

    @property
    def raw_ms(self) -> int:
        return self.now_ms - self.now_ms % MINUTE_MS - self.raw_minutes * MINUTE_MS

    @property
    def end_ms(self) -> int:
        return self.now_ms - self.now_ms % MINUTE_MS + self.ahead_minutes * MINUTE_MS

    def ticks(self, from_ms: int, to_ms: int) -> list[tuple[int, int]]:
        """(tick, start) of the rounds that began then."""
        first = -(-from_ms // self.step_ms)
        return [(tick, tick * self.step_ms) for tick in range(first, -(-to_ms // self.step_ms))]


def build(folder_: Path, size: Size, times: Times) -> Path:
    """Write the store; returns the settings to start the page with."""
    settings, data_dir = folder_ / "tidemark.toml", folder_ / "data"
    data_dir.mkdir(parents=True, exist_ok=True)
    settings.write_text(SETTINGS.format(interval_s=times.step_ms / 1_000))
    cluster = Cluster(size, times.now_ms)
    log = SegmentLog(data_dir, producer_name("host-1", "collect"))
    _rounds(log, data_dir, cluster, times)
    _samples(log, data_dir, cluster, times)
    _what_lasts(log, data_dir, cluster, times)
    log.append("rebalances", large_story.rebalances(cluster))
    log.append("part_events", large_story.parts(times.from_ms))
    append_events(log, large_story.events(cluster))
    log.close()
    _roll_ups(data_dir, cluster, times)
    writer = MetricsWriter(data_dir / METRICS_FILE)
    with writer.transaction() as metrics:
        metrics.replace("ledger", large_story.ledger(cluster, times.now_ms - 4_000))
    writer.close()
    return settings


def _rounds(log: SegmentLog, data_dir: Path, cluster: Cluster, times: Times) -> None:
    for from_ms, to_ms in _spans(times.from_ms, times.end_ms, HOUR_MS):
        if ticks := times.ticks(from_ms, to_ms):
            starts = np.array([at for _, at in ticks])
            rows = large_samples.rounds(ticks[0][0], starts, times.step_ms, cluster)
            _append(log, data_dir, "rounds", rows, min(to_ms, times.now_ms))


def _samples(log: SegmentLog, data_dir: Path, cluster: Cluster, times: Times) -> None:
    """Merged minutes up to now, single rounds from there on; log ends of replicas for the newest rounds only."""
    this_minute = times.now_ms - times.now_ms % MINUTE_MS
    past = [times.ticks(*span) for span in _spans(times.raw_ms, this_minute, MINUTE_MS)]
    for ticks in [*past, *([tick] for tick in times.ticks(this_minute, times.end_ms))]:
        for table, rows in (
            ("committed_offsets", large_samples.committed_offsets(ticks, cluster)),
            ("partition_offsets", large_samples.partition_offsets(ticks, cluster)),
        ):
            _append(log, data_dir, table, rows, ticks[-1][1] + 1_000)
        if ticks[0][1] >= this_minute - 3 * MINUTE_MS:
            rows = large_samples.replica_offsets(ticks, cluster)
            _append(log, data_dir, "replica_offsets", rows, ticks[-1][1] + 1_000)


def _what_lasts(log: SegmentLog, data_dir: Path, cluster: Cluster, times: Times) -> None:
    """Running intervals, stated once for each hour that is over, each minute that is over, and each round to come."""
    this_hour, this_minute = times.now_ms - times.now_ms % HOUR_MS, times.now_ms - times.now_ms % MINUTE_MS
    hours = [to_ms for _, to_ms in _spans(this_hour - 2 * HOUR_MS, this_hour, HOUR_MS)]
    minutes = [to_ms for _, to_ms in _spans(this_hour, this_minute, MINUTE_MS)]
    ahead = [at for _, at in times.ticks(this_minute, times.end_ms)]
    running = large_story.intervals(times.now_ms, times.from_ms, cluster)
    for at_ms in [*(one - 1_000 for one in (*hours, *minutes)), *ahead]:
        for table, rows in running.items():
            _append(log, data_dir, table, large_story.seen_again(rows, at_ms), at_ms)
    for at_ms in (*hours, *minutes[-1:], times.end_ms):
        log.append("topic_configuration", large_story.configurations(at_ms - 1_000, times.from_ms, cluster))


def _roll_ups(data_dir: Path, cluster: Cluster, times: Times) -> None:
    """Whole hours, and the minutes of the running one; what is derived from them is made by the maintainer."""
    newest_ns = time.time_ns()
    for from_ms, to_ms in _spans(times.from_ms, times.end_ms, HOUR_MS):
        due = RollUp(2 if to_ms % HOUR_MS == 0 else 0, from_ms // MINUTE_MS, to_ms // MINUTE_MS - 1)
        if due.first_minute <= due.last_minute:
            rows = large_samples.lag_minutes(due.first_minute, due.last_minute, cluster)
            publish(data_dir, folder(TABLE, from_ms), due.name, rows, written_by=ROLE, modified_ns=newest_ns)
    roll_up(data_dir, times.now_ms)


def _spans(from_ms: int, to_ms: int, length_ms: int) -> list[tuple[int, int]]:
    """The time in pieces that end where an hour or a minute ends, or at `to_ms`."""
    edges = [from_ms, *range(from_ms - from_ms % length_ms + length_ms, to_ms, length_ms), to_ms]
    return [(start, end) for start, end in zip(edges, edges[1:], strict=False) if start < end]


def _append(log: SegmentLog, data_dir: Path, table: str, rows: Sequence[Row] | pa.Table, at_ms: int) -> None:
    """Append, and let the file look as old as its rows."""
    name = log.append(table, rows)
    for hour in {folder(TABLES[table], at_ms), folder(TABLES[table], at_ms - MINUTE_MS)}:
        path = data_dir / hour / str(name)
        if path.exists():
            os.utime(path, (at_ms / 1_000, at_ms / 1_000))


def main(arguments: Iterable[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large_store", description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--small", action="store_true", help="2,000 partitions x 100 groups and two hours")
    parser.add_argument("--interval", type=float, default=5.0, help="sampling interval, s")
    parser.add_argument("--ahead", type=int, default=15, help="minutes of rounds written ahead")
    given = parser.parse_args(None if arguments is None else list(arguments))
    started = time.monotonic()
    times = Times(time.time_ns() // 1_000_000, round(given.interval * 1_000), 15, given.ahead, 2 if given.small else 24)
    settings = build(given.directory, SMALL if given.small else LARGE, times)
    size = sum(path.stat().st_size for path in given.directory.rglob("*") if path.is_file())
    print(f"{settings}: {size / 2**30:.2f} GiB in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
