"""Reading the store: explicit file lists, and an in-memory DuckDB with one view per table. No writer is locked out."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

import duckdb
import pyarrow as pa

from store.contracts import TABLES, Family, Table
from store.folders import Segment, hour_folders, list_folder, month_folders
from store.footers import may_hold
from store.kept_views import newest_intervals, span_of
from store.metrics import METRICS_FILE, copy_metrics
from store.rows import arrow_table, contract
from store.segments import HOUR_MS, live_names
from store.types import arrow_schema
from store.views import files_query, held, quoted, window_query

# An interval that ended after the window is known to have ended only by the hours around it.
INTERVAL_SLACK_MS = HOUR_MS

EVERYTHING_TO_MS = 253_402_300_800_000  # the year 10000


@dataclass(frozen=True, slots=True)
class Window:
    """From `from_ms` up to, not including, `to_ms`; milliseconds since 1970, UTC."""

    from_ms: int
    to_ms: int

    def __post_init__(self) -> None:
        if not 0 <= self.from_ms <= self.to_ms:
            raise ValueError(f"a window ends where it begins or later: {self}")


EVERYTHING = Window(0, EVERYTHING_TO_MS)


def segments(data_dir: Path, table: str, window: Window | None) -> list[Path]:
    """The live files that may hold rows of the window; None means all, and what is kept for good is read whole.

    A file may vanish 10 minutes after it was listed, when a merged one has long taken its place: list again then.
    """
    return [segment.path for segment in _segments(data_dir, contract(table), window)]


def _segments(data_dir: Path, table: Table, window: Window | None) -> list[Segment]:
    if table.family is Family.METRIC:
        raise ValueError(f"{table.name} lives in metrics.duckdb: use store.metrics.snapshot")
    listed = [segment for folder in _folders(data_dir, table, window) for segment in list_folder(folder).live]
    return _live_ranges(listed) if table.is_ranged else listed


def _opened(data_dir: Path, table: Table, window: Window) -> list[Segment]:
    """Of the segments, those that a view of the window must open."""
    return [
        segment
        for segment in _segments(data_dir, table, window)
        if may_hold(table, segment, window.from_ms, window.to_ms)
    ]


def connect(
    data_dir: Path,
    window: Window,
    tables: Iterable[str] | None = None,
    *,
    read_once: Collection[str] = (),
    windows: Mapping[str, Window] = MappingProxyType({}),
    without: Collection[str] = (),
) -> duckdb.DuckDBPyConnection:
    """A connection with a view of each table (all by default), as the store is now and stays for it.

    Samples, events, and the metrics of covered ranges are those observed in the window. Intervals are those that held
    in it, one row each. What is kept for good and the other metrics are whole; metrics are copied. A table without data
    is there and empty. `read_once`: intervals that several questions will be asked of, in this connection or a later
    one, are read now and kept (store.kept_views).
    `windows`: tables with a window of their own; `without`: columns of metrics that are null, and not copied.
    Raises StoreBusyError where the metrics are asked for and stay locked.
    """
    wanted = [contract(name) for name in (TABLES if tables is None else tables)]
    metrics = [table.name for table in wanted if table.family is Family.METRIC]
    connection = _database().cursor()
    connection.execute("SET TimeZone = 'UTC'")
    observed = window.from_ms, window.to_ms
    copy_metrics(connection, data_dir / METRICS_FILE, metrics, observed=observed, without=without)
    for table in wanted:
        if table.family is not Family.METRIC:
            make = _make_kept_view if table.name in read_once else _make_view
            _listed(make, connection, data_dir, table, windows.get(table.name, window))
    return connection


@cache
def _database() -> duckdb.DuckDBPyConnection:
    """One for the process: making it takes most of the time of a small question. What a cursor creates is its own."""
    return duckdb.connect(":memory:")


def connect_listed(
    data_dir: Path, window: Window, tables: Iterable[str]
) -> tuple[duckdb.DuckDBPyConnection, list[Path]]:
    """As `connect`, with the files its views read: once those are allowed, everything else can be forbidden."""
    wanted = [contract(name) for name in tables]
    metrics = [table.name for table in wanted if table.family is Family.METRIC]
    connection = duckdb.connect(":memory:")
    connection.execute("SET TimeZone = 'UTC'")
    copy_metrics(connection, data_dir / METRICS_FILE, metrics, observed=(window.from_ms, window.to_ms))
    listed: list[Path] = []
    for table in (table for table in wanted if table.family is not Family.METRIC):
        opened = _opened(data_dir, table, window)
        _create_view(connection, table, opened, window, "VIEW")
        listed += [segment.path for segment in opened]
    return connection, listed


def read(
    data_dir: Path, table: str, window: Window | None = None, where: str = "", parameters: Sequence[object] = ()
) -> pa.Table:
    """The rows of one view that satisfy `where` (SQL, with `?` for the parameters), in the contract's types."""
    query = f"SELECT * FROM {quoted(contract(table).name)}" + (f" WHERE {where}" if where else "")
    try:
        return _read(data_dir, table, window, query, parameters)
    except duckdb.IOException:  # a listed file has been merged away since
        return _read(data_dir, table, window, query, parameters)


def rows_of_files(table: str, sql: str, source: Table, files: Sequence[Path]) -> pa.Table:
    """What a query makes of the rows of these files, which stand in it as `source`, in the types of `table`."""
    with duckdb.connect(":memory:") as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(f"CREATE VIEW source AS {files_query(source, files)}")
        return arrow_table(table, connection.sql(sql).to_arrow_table())


def _read(data_dir: Path, table: str, window: Window | None, query: str, parameters: Sequence[object]) -> pa.Table:
    with connect(data_dir, window or EVERYTHING, [table]) as connection:
        rows = connection.sql(query, params=list(parameters)).to_arrow_table()
    return rows.cast(arrow_schema(contract(table)))


Make = Callable[[duckdb.DuckDBPyConnection, Path, Table, Window], None]


def _listed(make: Make, connection: duckdb.DuckDBPyConnection, data_dir: Path, table: Table, window: Window) -> None:
    try:
        make(connection, data_dir, table, window)
    except duckdb.IOException:  # a listed file has been merged away since
        make(connection, data_dir, table, window)


def _make_view(connection: duckdb.DuckDBPyConnection, data_dir: Path, table: Table, window: Window) -> None:
    _create_view(connection, table, _opened(data_dir, table, window), window)


def _create_view(
    connection: duckdb.DuckDBPyConnection,
    table: Table,
    opened: Sequence[Segment],
    window: Window,
    kind: str = "TEMP VIEW",
) -> None:
    query = window_query(table, [segment.path for segment in opened], window.from_ms, window.to_ms)
    connection.execute(f"CREATE {kind} {quoted(table.name)} AS {query}")


def _make_kept_view(connection: duckdb.DuckDBPyConnection, data_dir: Path, table: Table, window: Window) -> None:
    """Of an interval: from statements that are kept for the windows of the same span of time."""
    span = Window(*span_of(window.from_ms, window.to_ms))
    source = f"all of {table.name}"
    connection.register(source, newest_intervals(connection, table, _opened(data_dir, table, span), span.from_ms))
    query = f"SELECT * FROM {quoted(source)} WHERE {held(window.from_ms, window.to_ms)}"
    connection.execute(f"CREATE TEMP VIEW {quoted(table.name)} AS {query}")


def _folders(data_dir: Path, table: Table, window: Window | None) -> list[Path]:
    if table.family is Family.KEPT:
        return month_folders(data_dir, table)
    if window is None:
        return hour_folders(data_dir, table)
    slack_ms = INTERVAL_SLACK_MS if table.family is Family.INTERVAL else 0
    return hour_folders(data_dir, table, window.from_ms - slack_ms, window.to_ms + slack_ms)


def _live_ranges(listed: Sequence[Segment]) -> list[Segment]:
    """Ranges count once over all hours: one may have been read again, further, in a later hour."""
    newest = {segment.name: segment for segment in listed}
    return [newest[name] for name in live_names(newest)]
