"""SQL of the views over segments. Pure: text from contracts and file lists."""

from collections.abc import Sequence
from pathlib import Path

from store.contracts import Family, Table
from store.types import duckdb_columns

_BEYOND_ANY_TIME_MS = 10**15


def quoted(name: str) -> str:
    """An identifier, quoted: a column may be called `offset`."""
    return '"' + name.replace('"', '""') + '"'


def literal(path: Path) -> str:
    """A path as SQL text."""
    return "'" + str(path).replace("'", "''") + "'"


def files_query(table: Table, files: Sequence[Path]) -> str:
    """All rows of the files under the contract's columns; a column older files lack is null, no file is no row.

    The schema is stated, so DuckDB need not open every file to learn it before the first question.
    """
    columns = duckdb_columns(table)
    if not files:
        typed = ", ".join(f"CAST(NULL AS {kind}) AS {quoted(name)}" for name, kind in columns.items())
        return f"SELECT * FROM (SELECT {typed} WHERE false)"
    listed = ", ".join(literal(file) for file in files)
    stated = ", ".join(
        f"'{name}': {{name: '{name}', type: '{kind}', default_value: NULL}}" for name, kind in columns.items()
    )
    return f"SELECT * FROM read_parquet([{listed}], hive_partitioning = false, schema = MAP {{{stated}}})"


def newest_restatements(table: Table, source: str) -> str:
    """One row per interval: the newest of its restatements, where one that knows the end beats one that does not.

    The columns of the key stand apart, so that a condition on them is applied while reading.
    """
    key = (*table.key, "started_at")
    rest = [column.name for column in table.columns if column.name not in key]
    packed = ", ".join(f"{quoted(name)} := {quoted(name)}" for name in rest)
    names = ", ".join(
        quoted(column.name) if column.name in key else f"newest.{quoted(column.name)}" for column in table.columns
    )
    by = ", ".join(quoted(name) for name in key)
    newest = f"SELECT {by}, arg_max(struct_pack({packed}), {_rank()}) AS newest FROM ({source}) GROUP BY {by}"
    return f"SELECT {names} FROM ({newest})"


def _rank() -> str:
    return f"epoch_ms(last_seen_at) + CASE WHEN ended_before IS NULL THEN 0 ELSE {_BEYOND_ANY_TIME_MS} END"


def window_query(table: Table, files: Sequence[Path], from_ms: int, to_ms: int) -> str:
    """What the view of a table shows of a window; what is kept for good is shown whole."""
    rows = files_query(table, files)
    if table.family is Family.KEPT:
        return rows
    if table.family is not Family.INTERVAL:
        return f"{rows} WHERE observed_at >= {instant(from_ms)} AND observed_at < {instant(to_ms)}"
    newest = newest_restatements(table, f"{rows} WHERE started_at < {instant(to_ms)} AND {_tells(from_ms)}")
    return f"SELECT * FROM ({newest}) WHERE {held(from_ms, to_ms)}"


def newest_query(table: Table, files: Sequence[Path], from_ms: int) -> str:
    """What `held` takes the view of every window from that begins then or later; read whole, three times as fast.

    Only the rows of the first rank are read in full. With any condition beside it DuckDB would rank all rows in full.
    """
    names = ", ".join(quoted(column.name) for column in table.columns)
    by = ", ".join(quoted(name) for name in (*table.key, "started_at"))
    telling = f"{files_query(table, files)} WHERE {_tells(from_ms)}"
    return f"SELECT {names} FROM ({telling}) QUALIFY row_number() OVER (PARTITION BY {by} ORDER BY {_rank()} DESC) = 1"


def held(from_ms: int, to_ms: int) -> str:
    """Whether an interval lasted into the window and began before its end, by the newest restatement of it.

    What a restatement from before the window says is nothing `held` would take, whichever is the newest.
    """
    return f"started_at < {instant(to_ms)} AND greatest(last_seen_at, ended_before) >= {instant(from_ms)}"


def _tells(from_ms: int) -> str:
    """A restatement from before the window says nothing in it unless it knows the end, and there are very many."""
    return f"(ended_before IS NOT NULL OR last_seen_at >= {instant(from_ms)})"


def instant(time_ms: int) -> str:
    return f"make_timestamptz({time_ms * 1000}::BIGINT)"
