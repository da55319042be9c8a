"""The segment log: append-only Parquet files, one writer per producer name, nobody waits for anybody."""

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Lock

import pyarrow as pa
import pyarrow.compute as pc

from store.contracts import TABLES, Family, Table
from store.folders import all_folders, list_folder
from store.locks import RoleLock
from store.publish import publish, sweep, temporary_folder
from store.rows import Row, arrow_table, contract
from store.segments import HOUR_MS, SegmentName, folder, range_producer

__all__ = ["SegmentLog", "arrow_table"]

logger = logging.getLogger(__name__)


class SegmentLog:
    """One producer's end of the log. Serves several threads, one append at a time.

    A sequence number is used once: a batch that was committed but not acknowledged before the process died stays, and
    what is appended after the restart gets the next number. So nobody may append the same rows again after a restart.
    """

    def __init__(self, data_dir: Path, producer: str) -> None:
        """Raises StoreLockedError where another process appends under this name."""
        if SegmentName.parse(f"{producer}.0.0-0.parquet") is None:
            raise ValueError(f"{producer!r} is no producer name: build it with producer_name(host, role)")
        self.producer = producer
        self._data_dir = data_dir
        self._appending = Lock()
        self._lock = RoleLock(data_dir / f"{producer}.lock")
        self._sequence = max(self._lock.number(), _highest_sequence(data_dir, producer))
        self._unsettled_ranges: dict[str, list[Path]] | None = None
        if swept := sweep(temporary_folder(data_dir, producer).iterdir()):
            logger.info("%s: removed %d unfinished files of an earlier run", producer, swept)

    def append(self, table: str, rows: Sequence[Row] | pa.Table) -> str | None:
        """Commit the rows, each in the folder of its own time; returns the segment's name, None for no rows.

        After return they are on the disk. Rows of several hours become one segment of the same name in each hour.
        """
        kept = _appendable(table, is_ranged=False)
        parts = list(_by_folder(kept, arrow_table(table, rows)))
        if not parts:
            return None
        with self._appending:
            self._sequence += 1
            self._lock.keep_number(self._sequence)
            name = SegmentName(self.producer, 0, self._sequence, self._sequence)
            for where, part in parts:
                publish(self._data_dir, where, name, part, written_by=self.producer)
        return str(name)

    def append_range(
        self,
        table: str,
        rows: Sequence[Row] | pa.Table,
        *,
        topic_id_hex: str,
        partition: int,
        first: int,
        last: int,
        observed_at_ms: int,
    ) -> str:
        """Commit the rows of the offsets `first` to `last`, both included; committing them again changes nothing.

        Commit the next range of a partition only once this one is in the ledger: the newest range alone may be read
        again, shorter or longer, after a death between the two commits. What is left of it then is replaced, by
        covering it or, where it does not lie inside the new one, by removing it.
        """
        kept = _appendable(table, is_ranged=True)
        name = SegmentName(range_producer(topic_id_hex, partition), 0, first, last)
        arrow = arrow_table(table, rows)
        with self._appending:
            where = folder(kept, observed_at_ms)
            publish(self._data_dir, where, name, arrow, written_by=self.producer)
            self._settle(kept, name)
        return str(name)

    def close(self) -> None:
        """Give the producer name back."""
        self._lock.close()

    def _settle(self, table: Table, name: SegmentName) -> None:
        """Remove what an earlier process left of these offsets; only the first range of a partition can meet any."""
        if self._unsettled_ranges is None:
            self._unsettled_ranges = _segments_by_producer(self._data_dir, table)
        for path in self._unsettled_ranges.pop(name.producer, []):
            left = SegmentName.parse(path.name)
            if left is not None and left.overlaps(name) and not name.covers(left):
                logger.warning("%s was never entered in the ledger and is replaced by %s", path, name)
                path.unlink(missing_ok=True)


def _appendable(table: str, *, is_ranged: bool) -> Table:
    kept = contract(table)
    if kept.family is Family.METRIC:
        raise ValueError(f"{table} lives in metrics.duckdb, not in the segment log")
    if kept.is_ranged is not is_ranged:
        raise ValueError(f"segments of {table} are named by {'ranges' if kept.is_ranged else 'sequence numbers'}")
    return kept


def _by_folder(table: Table, rows: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    times = rows.column(table.time_column)
    if times.null_count:
        raise ValueError(f"{table.name}.{table.time_column} may not be null: it decides where a row lies")
    hours = pc.divide(times.cast(pa.int64()), HOUR_MS)
    hours_of: dict[str, list[int]] = {}
    for hour in pc.unique(hours).to_pylist():
        hours_of.setdefault(folder(table, hour * HOUR_MS), []).append(hour)
    for where, its_hours in hours_of.items():
        is_here = pc.is_in(hours, value_set=pa.array(its_hours, pa.int64()))
        yield where, rows if len(hours_of) == 1 else rows.filter(is_here)


def _highest_sequence(data_dir: Path, producer: str) -> int:
    numbers = (
        segment.name.last
        for table in TABLES.values()
        if table.family is not Family.METRIC and not table.is_ranged
        for where in all_folders(data_dir, table)
        for segment in list_folder(where).segments
        if segment.name.producer == producer
    )
    return max(numbers, default=0)


def _segments_by_producer(data_dir: Path, table: Table) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for where in all_folders(data_dir, table):
        # Not the live ones alone: one leftover may hide another, which would show once the first is gone.
        for segment in list_folder(where).segments:
            found.setdefault(segment.name.producer, []).append(segment.path)
    return found
