"""`python -m benchmarks.large_store DIRECTORY`: the store of a large cluster, through the store's own interface.

A day of minute roll-ups and the last 15 minutes of raw samples up to now; then rounds are written ahead and laid aside,
for `benchmarks.live_store` to let them appear as if somebody collected. The past is rolled up and merged as by the
maintainer. Asked again, it goes on from where it ended.
"""

import argparse
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from benchmarks import large_samples, large_story
from benchmarks.large_cluster import LARGE, SMALL, Cluster, Size
from store.contracts import TABLES
from store.findings import append_events
from store.log import SegmentLog
from store.maintenance import merge, roll_up
from store.merging import ROLE
from store.metrics import METRICS_FILE, MetricsWriter
from store.minutes import RollUp
from store.publish import publish
from store.rows import Row
from store.segments import HOUR_MS, MINUTE_MS, folder, producer_name

RAW_MS = 15 * MINUTE_MS
AHEAD = "ahead"  # a folder like `data`: what is not seen before its time
WRITTEN = "written_to_ms"  # a file: how far the cluster's story was told, and from which moment it is reckoned
SETTINGS = """
[[clusters]]
name = "production"
bootstrap_servers = "127.0.0.1:9092"
interval_s = {interval_s}

[store]
data_dir = "data"
"""


@dataclass(frozen=True, slots=True)
class Span:
    """What is written: roll-ups from `from_ms`, raw samples of the last 15 minutes, rounds ahead to `end_ms`."""

    from_ms: int
    now_ms: int
    end_ms: int
    step_ms: int

    @property
    def raw_ms(self) -> int:
        return max(self.from_ms, self.this_minute_ms - RAW_MS)

    @property
    def this_minute_ms(self) -> int:
        return self.now_ms - self.now_ms % MINUTE_MS

    @property
    def this_hour_ms(self) -> int:
        return self.now_ms - self.now_ms % HOUR_MS

    def ticks(self, from_ms: int, to_ms: int) -> list[tuple[int, int]]:
        """(tick, start) of the rounds that began then."""
        first = -(-from_ms // self.step_ms)
        return [(tick, tick * self.step_ms) for tick in range(first, -(-to_ms // self.step_ms))]


def build(directory: Path, size: Size, hours: int, *, step_ms: int = 5_000, ahead_minutes: int = 30) -> Path:
    """Write the store up to now and ahead, or go on with one that was begun; returns the settings for the page."""
    settings, data_dir, written = directory / "tidemark.toml", directory / "data", directory / WRITTEN
    if not written.exists():
        data_dir.mkdir(parents=True)
        settings.write_text(SETTINGS.format(interval_s=step_ms / 1_000))
        began_ms = _now_ms() - _now_ms() % MINUTE_MS
        cluster = Cluster(size, began_ms)
        log = SegmentLog(data_dir, producer_name("host-1", "collect"))
        _tell(log, data_dir, cluster, hours)
        log.close()
        _roll_ups(data_dir, cluster, Span(began_ms - hours * HOUR_MS, began_ms, began_ms, step_ms))
        written.write_text(f"{began_ms - hours * HOUR_MS} {began_ms}")
    written_to_ms, began_ms = map(int, written.read_text().split())
    end_ms = _now_ms() - _now_ms() % MINUTE_MS + ahead_minutes * MINUTE_MS
    span = Span(written_to_ms, _now_ms(), end_ms, step_ms)
    if span.from_ms < span.this_minute_ms:
        _go_on(directory, Cluster(size, began_ms), span)
        written.write_text(f"{end_ms} {began_ms}")
    return settings


def _tell(log: SegmentLog, data_dir: Path, cluster: Cluster, hours: int) -> None:
    """What happened up to the moment the story is reckoned from."""
    log.append("rebalances", large_story.rebalances(cluster))
    log.append("part_events", large_story.parts(cluster.end_ms - hours * HOUR_MS))
    append_events(log, large_story.events(cluster))
    writer = MetricsWriter(data_dir / METRICS_FILE)
    with writer.transaction() as metrics:
        metrics.replace("ledger", large_story.ledger(cluster, cluster.end_ms - 4_000))
    writer.close()


class Logs:
    """Two logs: of what is over, and of what lies ahead of `now_ms`."""

    def __init__(self, directory: Path, now_ms: int) -> None:
        self._now_ms = now_ms
        self._folders = {True: directory / AHEAD, False: directory / "data"}
        self._logs = {
            True: SegmentLog(directory / AHEAD, producer_name("host-1", "collect_ahead")),
            False: SegmentLog(directory / "data", producer_name("host-1", "collect")),
        }

    def append(self, table: str, rows: Sequence[Row] | pa.Table, at_ms: int) -> None:
        """Append, and let the file look as old as its rows."""
        is_ahead = at_ms > self._now_ms
        name = self._logs[is_ahead].append(table, rows)
        for hour in {folder(TABLES[table], at_ms), folder(TABLES[table], at_ms - MINUTE_MS)}:
            path = self._folders[is_ahead] / hour / str(name)
            if path.exists():
                os.utime(path, (at_ms / 1_000, at_ms / 1_000))

    def close(self) -> None:
        for log in self._logs.values():
            log.close()


def _go_on(directory: Path, cluster: Cluster, span: Span) -> None:
    """The rounds from where the store ends, with the samples a page reads raw; what is over is rolled up and merged."""
    logs = Logs(directory, span.now_ms)
    _rounds(logs, cluster, span)
    _samples(logs, cluster, span)
    _what_lasts(logs, cluster, span)
    logs.close()
    _roll_ups(directory / "data", cluster, span)
    merge(directory / "data", span.now_ms)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _rounds(logs: Logs, cluster: Cluster, span: Span) -> None:
    past = [span.ticks(*hour) for hour in _spans(span.from_ms, max(span.from_ms, span.this_minute_ms), HOUR_MS)]
    ahead = ([tick] for tick in span.ticks(max(span.from_ms, span.this_minute_ms), span.end_ms))
    for ticks in (ticks for ticks in (*past, *ahead) if ticks):
        rows = large_samples.rounds(ticks[0][0], np.array([at for _, at in ticks]), span.step_ms, cluster)
        logs.append("rounds", rows, ticks[-1][1] + 1_000)


def _samples(logs: Logs, cluster: Cluster, span: Span) -> None:
    """Round by round; log ends of replicas for the newest ones only."""
    for tick, start_ms in span.ticks(span.raw_ms, span.end_ms):
        at_ms = start_ms + 1_000
        logs.append("committed_offsets", large_samples.committed_offsets(tick, start_ms, cluster), at_ms)
        logs.append("partition_offsets", large_samples.partition_offsets(tick, start_ms, cluster), at_ms)
        if start_ms >= span.this_minute_ms - 3 * MINUTE_MS:
            logs.append("replica_offsets", large_samples.replica_offsets(tick, start_ms, cluster), at_ms)


def _what_lasts(logs: Logs, cluster: Cluster, span: Span) -> None:
    """Running intervals, stated once for each hour that is over, and for each minute that is over or to come.

    A collector states them in every round; the maintainer keeps one of a minute.
    """
    first_ms = max(span.from_ms, span.this_hour_ms - HOUR_MS)
    hours = [to_ms for _, to_ms in _spans(first_ms, span.this_hour_ms, HOUR_MS)]
    minutes = [to_ms for _, to_ms in _spans(max(first_ms, span.this_hour_ms), span.this_minute_ms, MINUTE_MS)]
    ahead = range(span.this_minute_ms, span.end_ms, MINUTE_MS)
    started_ms = cluster.end_ms - HOUR_MS
    running = large_story.intervals(span.now_ms, started_ms, cluster)
    for at_ms in [*(one - 1_000 for one in (*hours, *minutes)), *ahead]:
        for table, rows in running.items():
            logs.append(table, large_story.seen_again(rows, at_ms), at_ms)
    for at_ms in (*hours, *minutes, *ahead):
        logs.append("topic_configuration", large_story.configurations(at_ms - 1_000, started_ms, cluster), at_ms)


def _roll_ups(data_dir: Path, cluster: Cluster, span: Span) -> None:
    """Whole hours, and minute by minute those of the running one; the maintainer makes what is derived from them.

    So that what is derived is at hand, and of the raw samples' own roll-ups whatever is due.
    """
    whole_from_ms = span.from_ms - span.from_ms % HOUR_MS
    hours = [(from_ms, from_ms + HOUR_MS) for from_ms in range(whole_from_ms, span.this_hour_ms, HOUR_MS)]
    minutes = _spans(max(span.from_ms, span.this_hour_ms), span.this_minute_ms, MINUTE_MS)
    for level, pieces in ((2, hours), (0, minutes)):
        for from_ms, to_ms in pieces:
            due = RollUp(level, from_ms // MINUTE_MS, to_ms // MINUTE_MS - 1)
            rows = large_samples.lag_minutes(due.first_minute, due.last_minute, cluster)
            where = folder(TABLES["lag_minute"], from_ms)
            publish(data_dir, where, due.name, rows, written_by=ROLE, modified_ns=time.time_ns())
    while roll_up(data_dir, span.now_ms):  # of the rounds a few minutes at a time
        pass


def _spans(from_ms: int, to_ms: int, length_ms: int) -> list[tuple[int, int]]:
    """The time in pieces that end where an hour or a minute ends, or at `to_ms`."""
    edges = [from_ms, *range(from_ms - from_ms % length_ms + length_ms, to_ms, length_ms), to_ms]
    return [(start, end) for start, end in zip(edges, edges[1:], strict=False) if start < end]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large_store", description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--small", action="store_true", help="2,000 partitions x 100 groups and two hours")
    parser.add_argument("--ahead", type=int, default=30, help="minutes of rounds written ahead")
    given = parser.parse_args(arguments)
    size, hours = (SMALL, 2) if given.small else (LARGE, 24)
    began_s = time.monotonic()
    settings = build(given.directory, size, hours, ahead_minutes=given.ahead)
    stored = sum(path.stat().st_size for path in given.directory.rglob("*") if path.is_file())
    spent = f"{time.monotonic() - began_s:.0f} s, of which {time.process_time():.0f} s of CPU"
    print(f"{settings}: {stored / 2**30:.2f} GiB in {spent}")


if __name__ == "__main__":
    main()
