"""metrics.duckdb: small tables that change together. Written by the Spark driver alone, open for milliseconds.

DuckDB locks the whole file: while one process has it open for writing, nobody else can open it, and nobody waits.
Within one process a second opening in another mode fails too, so everything here goes through one lock per process.
"""

import random
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Self, TypeVar

import duckdb
import pyarrow as pa

from store.contracts import SCHEMA_VERSION, TABLES, Family, Table
from store.errors import StoreBusyError, StoreError
from store.locks import RoleLock
from store.publish import sweep, temporary_folder
from store.rows import Row, arrow_table, contract
from store.types import duckdb_columns
from store.views import instant, literal, quoted

METRICS_FILE = "metrics.duckdb"
METRIC_TABLES = tuple(name for name, table in TABLES.items() if table.family is Family.METRIC)
# A row for each covered range, observed once and never changed: millions in a month, of which a window holds few.
GROWING = frozenset({"ledger", "duplicates", "sequence_accounts", "transaction_accounts"})
DEADLINE_S = 5.0

T = TypeVar("T")

_ROLE = "metrics"
_VERSION_TABLE = "schema_version"
# One mode per process: a reader must not meet this process's own writer, nor the other way round.
_one_opening = Lock()


class Transaction:
    """One transaction on the metrics: everything in it becomes visible together, or nothing does."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def replace(self, table: str, rows: Sequence[Row] | pa.Table) -> None:
        """Insert the rows; a row with the same key gives way whole, also in the columns the new one leaves out."""
        name = _metric(table).name
        self._connection.register("incoming", arrow_table(table, rows))
        self._connection.execute(f"INSERT OR REPLACE INTO {quoted(name)} BY NAME SELECT * FROM incoming").fetchall()
        self._connection.unregister("incoming")

    def delete(self, table: str, where: str, parameters: Sequence[object] = ()) -> None:
        """Delete the rows that satisfy `where` (SQL, with `?` for the parameters)."""
        self._connection.execute(
            f"DELETE FROM {quoted(_metric(table).name)} WHERE {where}", list(parameters)
        ).fetchall()

    def query(self, sql: str, parameters: Sequence[object] = ()) -> pa.Table:
        """The rows of a query, as this transaction sees them."""
        return self._connection.sql(sql, params=list(parameters)).to_arrow_table()


class MetricsWriter:
    """The only writer of the metrics, from construction to `close`."""

    def __init__(self, path: Path) -> None:
        """Raises StoreLockedError where another process writes the metrics; makes or migrates the file."""
        self._path = path
        self._lock = RoleLock(path.parent / "metrics.lock")
        try:
            sweep(temporary_folder(path.parent, _ROLE).iterdir())
            if not path.exists():
                _create(path)
            with _opened(path) as connection:
                _migrate(connection)
        except BaseException:
            self._lock.close()
            raise

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Open, one transaction, close. An error inside undoes all of it. Raises StoreBusyError at the deadline.

        The commit may succeed without the caller learning of it (the process dies): write so that it can be repeated.
        """
        with _opened(self._path) as connection:
            connection.execute("BEGIN")
            yield Transaction(connection)
            connection.execute("COMMIT")

    def close(self) -> None:
        """Give the role back."""
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def snapshot(path: Path, tables: Iterable[str] | None = None, *, deadline_s: float = DEADLINE_S) -> dict[str, pa.Table]:
    """A copy of the tables (all by default) as of one commit; they are empty before the first.

    Raises StoreBusyError where the file stays locked until the deadline: show the last answer as stale then.
    """
    wanted = METRIC_TABLES if tables is None else tuple(tables)
    with duckdb.connect(":memory:") as connection:
        connection.execute("SET TimeZone = 'UTC'")
        copy_metrics(connection, path, wanted, deadline_s=deadline_s)
        return {name: arrow_table(name, connection.table(name).to_arrow_table()) for name in wanted}


def copy_metrics(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    tables: Iterable[str],
    *,
    observed: tuple[int, int] | None = None,
    without: Collection[str] = (),
    deadline_s: float = DEADLINE_S,
) -> None:
    """Make the tables, the connection's own, filled with a copy of the metrics as of one commit.

    Columns the file lacks, because its writer has not migrated it yet, and those of `without` are null. `observed`: of
    the tables that grow by the range only what was observed from the first up to, not including, the second (ms).
    """
    wanted = [_metric(name) for name in tables]
    for table in wanted:
        columns = ", ".join(f"{quoted(name)} {kind}" for name, kind in duckdb_columns(table).items())
        connection.execute(f"CREATE TEMP TABLE {quoted(table.name)} ({columns})")
    if not wanted or not path.exists():
        return
    with _attached(connection, path, deadline_s):
        for table in wanted:
            if present := _columns(connection, "metrics", table.name):
                names = ", ".join(quoted(name) for name in duckdb_columns(table) if name in present.difference(without))
                target, source = quoted(table.name), f"metrics.{quoted(table.name)}"
                copied = f"INSERT INTO {target} BY NAME SELECT {names} FROM {source}"
                connection.execute(copied + _within(table, observed)).fetchall()


def _within(table: Table, observed: tuple[int, int] | None) -> str:
    if observed is None or table.name not in GROWING:
        return ""
    first, following = (instant(time_ms) for time_ms in observed)
    return f" WHERE observed_at >= {first} AND observed_at < {following}"


def _metric(table: str) -> Table:
    kept = contract(table)
    if kept.family is not Family.METRIC:
        raise ValueError(f"{table} lives in the segment log, not in metrics.duckdb")
    return kept


@contextmanager
def _opened(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The file, opened for writing as soon as nobody is in the way, closed afterwards."""
    with (
        _only_one_here(path, DEADLINE_S) as until_s,
        _unlocked(path, until_s, lambda: duckdb.connect(str(path))) as connection,
    ):
        connection.execute("SET TimeZone = 'UTC'")
        yield connection


@contextmanager
def _attached(connection: duckdb.DuckDBPyConnection, path: Path, deadline_s: float) -> Iterator[None]:
    """The file as the read-only database `metrics` of an in-memory connection: opening it apart takes 25 ms more."""
    statement = f"ATTACH {literal(path)} AS metrics (READ_ONLY)"
    with _only_one_here(path, deadline_s) as until_s:
        _unlocked(path, until_s, lambda: connection.execute(statement))
        try:
            yield
        finally:
            connection.execute("DETACH metrics")


@contextmanager
def _only_one_here(path: Path, deadline_s: float) -> Iterator[float]:
    """The turn of this thread to open the file; yields the time (monotonic, s) until which it may try."""
    until_s = time.monotonic() + deadline_s
    if not _one_opening.acquire(timeout=deadline_s):
        raise StoreBusyError(f"{path} has been in use by another thread of this process for {deadline_s:g} s")
    try:
        yield until_s
    finally:
        _one_opening.release()


def _unlocked(path: Path, until_s: float, open_it: Callable[[], T]) -> T:
    """DuckDB queues nobody, so wait at random: two that collided should not collide again."""
    while True:
        try:
            return open_it()
        except duckdb.Error as exc:
            if not _is_locked(exc):
                raise StoreError(f"{path} cannot be opened: {exc}") from exc
            if time.monotonic() > until_s:
                raise StoreBusyError(f"{path} is locked: {exc}") from exc
        time.sleep(random.uniform(0.005, 0.05))


def _is_locked(error: duckdb.Error) -> bool:
    """Another process: "Could not set lock on file". This process: "different configuration"."""
    return "lock on file" in str(error) or "different configuration" in str(error)


def _create(path: Path) -> None:
    """Make the file aside: a process that dies while making it leaves no half-made database under its name."""
    temporary = temporary_folder(path.parent, _ROLE) / path.name
    with duckdb.connect(str(temporary)) as connection:
        connection.execute(f"CREATE TABLE {_VERSION_TABLE} (version INTEGER NOT NULL)")
        connection.execute(f"INSERT INTO {_VERSION_TABLE} VALUES ({SCHEMA_VERSION})").fetchall()
        connection.execute("CHECKPOINT")
    temporary.rename(path)


def _migrate(connection: duckdb.DuckDBPyConnection) -> None:
    """Columns and tables are only ever added, so a migration adds what the file lacks and notes the version."""
    (version,) = connection.execute(f"SELECT version FROM {_VERSION_TABLE}").fetchall()[0]
    if version > SCHEMA_VERSION:
        raise StoreError(f"the metrics were written by a newer Tidemark (schema {version}, not {SCHEMA_VERSION})")
    (database,) = connection.execute("SELECT current_database()").fetchall()[0]
    connection.execute("BEGIN")
    for name in METRIC_TABLES:
        for statement in _missing(TABLES[name], _columns(connection, database, name)):
            connection.execute(statement)
    connection.execute(f"UPDATE {_VERSION_TABLE} SET version = {SCHEMA_VERSION}").fetchall()
    connection.execute("COMMIT")


def _columns(connection: duckdb.DuckDBPyConnection, database: str, table: str) -> set[str]:
    query = "SELECT column_name FROM duckdb_columns() WHERE database_name = ? AND table_name = ?"
    return {name for (name,) in connection.execute(query, [database, table]).fetchall()}


def _missing(table: Table, present: set[str]) -> list[str]:
    """The statements that bring a table to its contract."""
    columns = {name: f"{quoted(name)} {kind}" for name, kind in duckdb_columns(table).items()}
    if not present:
        key = ", ".join(quoted(name) for name in table.key)
        return [f"CREATE TABLE {quoted(table.name)} ({', '.join(columns.values())}, PRIMARY KEY ({key}))"]
    added = [definition for name, definition in columns.items() if name not in present]
    return [f"ALTER TABLE {quoted(table.name)} ADD COLUMN {definition}" for definition in added]
