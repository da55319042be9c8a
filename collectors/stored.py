"""Rounds and intervals read back from the store: what a restart needs to go on as if nothing had happened."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from collectors import committed_offsets, end_offsets, epoch_ends, replica_offsets, rounds
from collectors.intervals import Interval, Running, interval
from collectors.kept_intervals import KEPT, UNKNOWN_GROUPS
from collectors.rows import Row
from guarantees.observations import Signal
from store.reading import Window, read
from store.rows import python_rows

# How far back the rules' memory reaches.
REPLAYED_MS = 15 * 60_000
# Of a large cluster less: it would take minutes and gigabytes, in which nothing is observed. What a rule has to see for
# longer it learns again.
REPLAYED_COMMITS = 500_000
ROWS_AT_A_TIME = 5_000

SAMPLES = (rounds.TABLE, end_offsets.TABLE, committed_offsets.TABLE, replica_offsets.TABLE, epoch_ends.TABLE)


@dataclass(frozen=True, slots=True)
class LastRound:
    """The newest round stored for a cluster."""

    cluster_id: str
    tick: int
    observed_at_ms: int

    @property
    def window(self) -> Window:
        """The time before it that is replayed, and a little after: a round's rows are not all of one moment."""
        return Window(max(0, self.observed_at_ms - REPLAYED_MS), self.observed_at_ms + 60_000)


@dataclass(frozen=True, slots=True)
class Stored:
    """What the store holds of the replayed time: samples as Arrow tables, intervals by their kind."""

    last: LastRound
    samples: Mapping[str, pa.Table]
    intervals: Mapping[str, Sequence[Interval]]

    @property
    def next_tick(self) -> int:
        """One above every tick with rows, also of a round whose storing was cut short."""
        ticks = [pc.max(rows.column("tick")).as_py() for rows in self.samples.values() if rows.num_rows]
        return 1 + max(self.last.tick, *map(int, ticks))

    def samples_by_tick(self) -> Iterator[tuple[int, dict[str, Iterator[Row]]]]:
        """The rows of the replayed rounds, a round and some rows at a time: as Python values they are very many."""
        for tick in pc.unique(self.samples[rounds.TABLE].column("tick")).to_pylist():
            yield tick, {table: _some_at_a_time(table, _of_tick(rows, tick)) for table, rows in self.samples.items()}

    @property
    def running(self) -> dict[str, Running]:
        """The intervals that had not ended, the newest of each subject."""
        return {
            name: {
                each.key: each
                for each in sorted(of_kind, key=lambda each: each.started_at_ms)
                if each.ended_before_ms is None
            }
            for name, of_kind in self.intervals.items()
        }


def last_round(data_dir: Path, cluster: str) -> LastRound | None:
    """By the cluster's name in the settings; None where nothing is stored."""
    where = "cluster = ? AND cluster_id IS NOT NULL ORDER BY observed_at DESC LIMIT 1"
    found = python_rows(rounds.TABLE, read(data_dir, rounds.TABLE, None, where, (cluster,)))
    return _last_round(found[0]) if found else None


def last_round_of(data_dir: Path, cluster_id: str) -> LastRound | None:
    """By Kafka's cluster id."""
    where = "cluster_id = ? ORDER BY observed_at DESC LIMIT 1"
    found = python_rows(rounds.TABLE, read(data_dir, rounds.TABLE, None, where, (cluster_id,)))
    return _last_round(found[0]) if found else None


def load(data_dir: Path, last: LastRound) -> Stored:
    """The replayed time of one cluster, each table read once."""
    covered = read(data_dir, rounds.TABLE, last.window, "cluster_id = ?", (last.cluster_id,))
    tick, started_at_ms = oldest_replayed(python_rows(rounds.TABLE, covered), REPLAYED_COMMITS)
    window = Window(started_at_ms, last.window.to_ms)
    samples = {
        table: read(data_dir, table, window, "cluster_id = ? AND tick >= ? ORDER BY tick", (last.cluster_id, tick))
        for table in SAMPLES
    }
    found: dict[str, list[Interval]] = {name: [] for name in KEPT}
    for table in {kept.table for kept in KEPT.values()}:
        for row in python_rows(table, read(data_dir, table, last.window, "cluster_id = ?", (last.cluster_id,))):
            name = kind(table, row)
            found[name].append(interval(table, row, KEPT[name].details))
    return Stored(last, samples, found)


def oldest_replayed(covered: Iterable[Row], most_commits: int) -> tuple[int, int]:
    """Tick and begin of the oldest round that is replayed, from rows of `rounds`; of the newest at least."""
    begins: dict[int, int] = {}
    commits: Counter[int] = Counter()
    for row in covered:
        tick, started_at_ms = int(str(row["tick"])), int(str(row["started_at"]))
        begins[tick] = min(begins.get(tick, started_at_ms), started_at_ms)
        commits[tick] += int(str(row["answered"])) if row["signal"] == Signal.COMMITTED_OFFSETS else 0
    oldest, left = max(begins), most_commits
    for tick in sorted(begins, reverse=True):
        left -= commits[tick]
        if left < 0:
            break
        oldest = tick
    return oldest, begins[oldest]


def kind(table: str, row: Mapping[str, object]) -> str:
    """Which kind of interval a row is: the groups nobody could describe share a table with the known ones."""
    return UNKNOWN_GROUPS if table == KEPT[UNKNOWN_GROUPS].table and row["state"] is None else table


def _last_round(row: Mapping[str, object]) -> LastRound:
    return LastRound(str(row["cluster_id"]), int(str(row["tick"])), int(str(row["observed_at"])))


def _some_at_a_time(table: str, rows: pa.Table) -> Iterator[Row]:
    for batch in rows.to_batches(max_chunksize=ROWS_AT_A_TIME):
        yield from python_rows(table, pa.Table.from_batches([batch]))


def _of_tick(rows: pa.Table, tick: int) -> pa.Table:
    return rows.filter(pc.equal(rows.column("tick"), tick))
