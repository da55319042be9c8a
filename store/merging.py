"""Merging: a reader opens a few wide files instead of hundreds of small ones.

Ticks become minutes and minutes hours (and hours days, in what is kept for good), each row rewritten once per tier,
sorted by key, in minutes a few rounds at a time. The wide file is committed first; its inputs, now covered, are
unlinked after a grace, for readers that listed them just before. Nothing has to be remembered: what is left to do is
seen in the names and times of the files.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

import duckdb
import pyarrow as pa

from store.contracts import TABLES, Family, Table
from store.folders import Listing, Segment, all_folders, list_folder
from store.publish import ROW_GROUP, publish, temporary_folder
from store.segments import HOUR_MS, MINUTE_MS, SegmentName
from store.types import arrow_schema
from store.views import files_query, literal, newest_restatements, quoted

logger = logging.getLogger(__name__)

# Longer than any page or job works on the files it has listed.
GRACE_MS = 600_000
ROLE = "maintain"
WIDE_ROLE = "maintain-wide"  # of the same holder: where wide merges, which take minutes, keep what memory cannot hold

# Level → the time whose segments become one. A segment belongs to the time its newest data was committed.
OF_A_MINUTE = 1
RAW_TIERS: Mapping[int, int] = {OF_A_MINUTE: MINUTE_MS, 2: HOUR_MS}
KEPT_TIERS: Mapping[int, int] = {**RAW_TIERS, 3: 24 * HOUR_MS}

MINUTES, WIDER = frozenset({OF_A_MINUTE}), frozenset({2, 3})

# Rounds that lie together in a minute's file, and rows of its row groups: few enough to skip the other rounds, and the
# other groups in these.
ROUNDS_TOGETHER = 4
ROW_GROUP_OF_ROUNDS = 65_536

_MEMORY = "1GB"


def merge(data_dir: Path, now_ms: int, grace_ms: int = GRACE_MS, levels: frozenset[int] = MINUTES | WIDER) -> int:
    """Merge what is due and unlink what has been covered for the grace; returns the number of files made.

    For the one holder of `maintain.lock`. Minutes and what is wider may be merged side by side, the minutes with the
    later time: those of an hour that is over are left to the wider. Roll-ups are not merged but made again, wider.
    """
    merged = 0
    with _database(data_dir, ROLE if levels & MINUTES else WIDE_ROLE) as connection:
        for table in TABLES.values():
            if table.family is Family.METRIC or table.writer == ROLE:
                continue
            for folder in all_folders(data_dir, table):
                for level, period_ms in _tiers(table, levels).items():
                    listing, of_hours = _mergeable(table, list_folder(folder)), levels >= WIDER
                    runs = due_runs(listing, level, period_ms, now_ms, of_hours=of_hours)
                    merged += sum(_merge_run(connection, data_dir, table, run, level) for run in runs)
                unlink_covered(list_folder(folder), now_ms, grace_ms)
    return merged


def due_runs(
    listing: Listing, level: int, period_ms: int, now_ms: int, *, of_hours: bool = True
) -> list[list[Segment]]:
    """Neighbours of lower level whose newest data was committed in the same period, which is over.

    Only neighbours: a wide segment must not cover one that is not in it. `of_hours` false leaves alone what was
    committed in an hour that is over.
    """

    def same_file(segment: Segment) -> tuple[str, bool, int]:
        period = segment.modified_ns // (period_ms * 1_000_000)
        is_due = segment.name.level < level and (period + 1) * period_ms <= now_ms
        if not of_hours:
            is_due &= (segment.modified_ns // (HOUR_MS * 1_000_000) + 1) * HOUR_MS > now_ms
        return segment.name.producer, is_due, period

    grouped = ((key, list(run)) for key, run in groupby(listing.live, key=same_file))
    return [run for (_, is_due, _), run in grouped if is_due and len(run) > 1]


def unlink_covered(listing: Listing, now_ms: int, grace_ms: int) -> int:
    """Unlink the segments that a wider one has covered for the grace; returns how many."""
    settled_ns = (now_ms - grace_ms) * 1_000_000
    settled = [segment.name for segment in listing.live if segment.published_ns <= settled_ns]
    gone = [segment for segment in listing.covered if any(name.covers(segment.name) for name in settled)]
    for segment in gone:
        segment.path.unlink(missing_ok=True)
    return len(gone)


def _tiers(table: Table, levels: frozenset[int]) -> Mapping[int, int]:
    tiers = KEPT_TIERS if table.family is Family.KEPT else RAW_TIERS
    return {level: period_ms for level, period_ms in tiers.items() if level in levels}


def _mergeable(table: Table, listing: Listing) -> Listing:
    """Without the newest range of each partition: it may not be in the ledger yet, so it may be read again, further."""
    if not table.is_ranged:
        return listing
    newest = {segment.name.producer: segment for segment in listing.live}
    live = tuple(segment for segment in listing.live if newest[segment.name.producer] is not segment)
    return Listing(live, listing.covered, listing.unfit)


def _merge_run(
    connection: duckdb.DuckDBPyConnection, data_dir: Path, table: Table, run: Sequence[Segment], level: int
) -> bool:
    """Make one file of the run. An input that cannot be read leaves the run as it is, and is said."""
    folder = run[0].path.parent
    name = SegmentName(run[0].name.producer, level, run[0].name.first, run[-1].name.last)
    modified_ns = max(segment.modified_ns for segment in run)
    row_group = ROW_GROUP_OF_ROUNDS if _is_by_rounds(table, level) else ROW_GROUP
    batches = _batches(connection, table, merge_query(table, [segment.path for segment in run], level), row_group)
    try:
        where = str(folder.relative_to(data_dir))
        publish(data_dir, where, name, batches, written_by=ROLE, modified_ns=modified_ns)
    except duckdb.Error as exc:
        logger.warning("%s stays unmerged: %s", folder / str(name), exc)
        return False
    return True


def merge_query(table: Table, files: Sequence[Path], level: int) -> str:
    """All rows of the files, of an interval only the newest restatement, in the order of the level."""
    rows = files_query(table, files)
    if table.family is Family.INTERVAL:
        rows = newest_restatements(table, rows)
    return f"SELECT * FROM ({rows}) ORDER BY {', '.join(_order(table, level))}"


def _order(table: Table, level: int) -> Iterable[str]:
    """By key, so that one subject lies together; the samples of a minute a few rounds at a time.

    So who asks about one round need not read twelve, and who asks about one subject finds it in few places.
    """
    by_key = [quoted(name) for name in dict.fromkeys((*table.key, table.time_column))]
    by_rounds = ["cluster_id", f"tick // {ROUNDS_TOGETHER}"] if _is_by_rounds(table, level) else []
    return (*by_rounds, *by_key)


def _is_by_rounds(table: Table, level: int) -> bool:
    return level == OF_A_MINUTE and "tick" in table.key


def _database(data_dir: Path, role: str) -> duckdb.DuckDBPyConnection:
    """A small one: Tidemark may run beside what it watches."""
    connection = duckdb.connect(":memory:")
    for setting in (
        "TimeZone = 'UTC'",
        "threads = 1",
        f"memory_limit = '{_MEMORY}'",
        f"temp_directory = {literal(temporary_folder(data_dir, role))}",
    ):
        connection.execute(f"SET {setting}")
    return connection


def _batches(connection: duckdb.DuckDBPyConnection, table: Table, query: str, row_group: int) -> pa.RecordBatchReader:
    schema = arrow_schema(table)

    def in_contract() -> Iterator[pa.RecordBatch]:
        for batch in connection.sql(query).to_arrow_reader(row_group):
            yield from pa.Table.from_batches([batch]).cast(schema).to_batches()

    return pa.RecordBatchReader.from_batches(schema, in_contract())
