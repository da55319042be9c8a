"""The process that answers one query of the SQL door: `python -m store.sql_process`, started by store.sql_door.

Standard input is the request, one JSON object. Standard output is JSON lines: the columns, the rows, and the end, which
says why there are more rows, or what went wrong. Four things stand between a query and everything but its tables:

1. It is exactly one statement, a SELECT, and its parse tree names no table or table function but known ones.
2. It runs inside parentheses, `SELECT … FROM (query)`, where the grammar has no other statement.
3. DuckDB may open the listed segments and no other file or address, and its configuration is locked.
4. The process has given up writing to any file (store.read_only). That matters for the listed segments: DuckDB would
   let COPY overwrite them.
"""

import json
import os
import resource
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from math import ceil
from pathlib import Path
from typing import Any, TextIO

import duckdb

from store.errors import QueryError, StoreError
from store.read_only import give_up_writing
from store.reading import Window, connect_listed
from store.sql_query import tables_of
from store.views import literal, quoted

# What DuckDB and Python take beside the memory a query is allowed: threads, libraries, the rows on their way out.
OWN_BYTES = 1_000_000_000
# The one who asked ends the query at its time; should nobody be there any more, it ends itself a little later.
ALONE_FOR_S = 5.0
FETCHED_ROWS = 256

NUMBERS = frozenset(
    {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"}
)
AS_THEY_ARE = NUMBERS | {"BOOLEAN", "FLOAT", "DOUBLE", "VARCHAR"}


@dataclass(frozen=True, slots=True)
class Limits:
    """What a query may take: seconds from its start, rows and bytes of its answer, bytes of memory."""

    time_s: float
    rows: int
    memory_bytes: int
    answer_bytes: int


@dataclass(frozen=True, slots=True)
class Request:
    """One question: where the store lies, from and up to when (ms since 1970, UTC), the query and its limits."""

    data_dir: str
    from_ms: int
    to_ms: int
    sql: str
    limits: Limits

    @classmethod
    def parse(cls, text: str) -> "Request":
        given = json.loads(text)
        return cls(**given | {"limits": Limits(**given["limits"])})

    def __str__(self) -> str:
        return json.dumps(asdict(self))


def main() -> None:
    """Answer the request on standard input."""
    request = Request.parse(sys.stdin.read())
    contain(request.limits)
    respond(request, sys.stdout)


def respond(request: Request, out: TextIO) -> None:
    """Write the answer, or why there is none."""
    try:
        answer(request, out)
    except (StoreError, duckdb.Error, MemoryError, RecursionError) as exc:
        _say(out, {"error": _words(exc)})


def contain(limits: Limits) -> None:
    """Before the query is looked at: no file can be written, time and memory end, other processes come first."""
    give_up_writing()
    os.nice(10)
    most = limits.memory_bytes + OWN_BYTES
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.alarm(ceil(limits.time_s + ALONE_FOR_S))


def answer(request: Request, out: TextIO) -> None:
    """Write the columns, the rows and the end. Raises QueryError and DuckDB's errors where there is no answer."""
    query, tables = checked(request.sql)
    for is_last_try in (False, True):
        try:
            connection = opened(request, tables)
            names, rows = started(connection, query, request.limits)
            break
        except duckdb.IOException:  # a listed file has been merged away or has expired since
            if is_last_try:
                raise
    _say(out, {"columns": names, "tables": tables})
    _say(out, {"cut": _write(rows, request.limits, out)})


def checked(sql: str) -> tuple[str, tuple[str, ...]]:
    """The query as DuckDB delimits it, and the tables it reads; raises QueryError where it is no single SELECT."""
    with duckdb.connect(":memory:") as parser:
        statements = parser.extract_statements(sql)
        if len(statements) != 1:
            raise QueryError(f"write exactly one SELECT; these are {len(statements)} statements")
        if statements[0].type != duckdb.StatementType.SELECT:
            raise QueryError(f"only SELECT is allowed, not {statements[0].type.name}")
        query = statements[0].query
        ((tree,),) = parser.execute("SELECT json_serialize_sql(?::VARCHAR)", [query]).fetchall()
    parsed = json.loads(tree)
    if parsed["error"]:
        raise QueryError(f"only SELECT is allowed: {parsed['error_message']}")
    return query, tables_of(parsed)


def opened(request: Request, tables: Sequence[str]) -> duckdb.DuckDBPyConnection:
    """The tables over their segments; after this neither another file nor a setting can be reached."""
    window = Window(request.from_ms, request.to_ms)
    connection, files = connect_listed(Path(request.data_dir), window, tables)
    for setting in (
        f"memory_limit = '{request.limits.memory_bytes}B'",
        "temp_directory = ''",  # what does not fit into memory is refused: this process cannot write
        f"allowed_paths = [{', '.join(map(literal, files))}]",
        "enable_external_access = false",  # nor variables of Python, extensions or addresses
        "lock_configuration = true",
    ):
        connection.execute(f"SET {setting}")
    return connection


def started(
    connection: duckdb.DuckDBPyConnection, query: str, limits: Limits
) -> tuple[list[tuple[str, str]], Iterator[Sequence[Any]]]:
    """Name and type of each column, and the rows, at most one more than allowed.

    Values that JSON does not know are text as DuckDB writes them; times are ISO 8601 in UTC.
    """
    found = connection.sql(f"SELECT * FROM (\n{query}\n)")
    columns = [(name, str(kind)) for name, kind in zip(found.columns, found.types, strict=True)]
    values = [_value(f"c{number}", kind) for number, (_, kind) in enumerate(columns)]
    names = ", ".join(f"c{number}" for number in range(len(columns)))
    limited = f"SELECT {', '.join(values)} FROM (\n{query}\n) AS answer({names}) LIMIT {limits.rows + 1}"
    result = connection.execute(limited)
    first = result.fetchmany(FETCHED_ROWS)
    return columns, _rows(result, first)


def _value(column: str, kind: str) -> str:
    if kind in AS_THEY_ARE:
        return quoted(column)
    if kind == "TIMESTAMP WITH TIME ZONE":
        return f"strftime({quoted(column)}, '%Y-%m-%dT%H:%M:%S.%gZ')"
    return f"CAST({quoted(column)} AS VARCHAR)"


def _rows(result: duckdb.DuckDBPyConnection, batch: Sequence[Sequence[Any]]) -> Iterator[Sequence[Any]]:
    while batch:
        yield from batch
        batch = result.fetchmany(FETCHED_ROWS)


def _write(rows: Iterator[Sequence[Any]], limits: Limits, out: TextIO) -> str | None:
    """Write the rows the limits allow; returns why there are more, None where there are not."""
    written = 0
    for number, row in enumerate(rows):
        if number == limits.rows:
            return "rows"
        line = json.dumps(row)
        written += len(line)
        if written > limits.answer_bytes:
            return "bytes"
        out.write(line + "\n")
    return None


def _say(out: TextIO, words: object) -> None:
    out.write(json.dumps(words) + "\n")
    out.flush()


def _words(error: Exception) -> str:
    if isinstance(error, duckdb.OutOfMemoryException | MemoryError):
        return "the query needs more memory than it may take"
    return str(error) or type(error).__name__


if __name__ == "__main__":
    main()
