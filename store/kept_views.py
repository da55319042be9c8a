"""Views that several questions ask of: their rows, kept for the process within a time and an amount of memory.

A kept view is found by its window and its segments: with another segment, or one that was made again, it is another.
"""

from collections.abc import Sequence
from threading import Lock
from typing import Any

import duckdb
import pyarrow as pa
from cachetools import TTLCache, cached

from store.contracts import Family, Table
from store.folders import Segment
from store.views import held, newest_query, window_query

MOST_BYTES = 64 * 2**20
KEPT_FOR_S = 120


def _size(rows: pa.Table) -> int:
    return int(rows.nbytes)


# A view that is larger than all of it is read anew each time.
_kept: TTLCache[Any, pa.Table] = TTLCache(MOST_BYTES, KEPT_FOR_S, getsizeof=_size)


def _key(
    connection: duckdb.DuckDBPyConnection, table: Table, segments: Sequence[Segment], from_ms: int, to_ms: int
) -> tuple[object, ...]:
    return table.name, tuple(segments), from_ms, to_ms


@cached(_kept, key=_key, lock=Lock())
def kept_rows(
    connection: duckdb.DuckDBPyConnection, table: Table, segments: Sequence[Segment], from_ms: int, to_ms: int
) -> pa.Table:
    """What the view of the window shows; nobody changes it. Raises duckdb.IOException where a file has gone."""
    files = [segment.path for segment in segments]
    if table.family is not Family.INTERVAL:
        return connection.sql(window_query(table, files, from_ms, to_ms)).to_arrow_table()
    newest = connection.sql(newest_query(table, files, from_ms, to_ms)).to_arrow_table()
    return connection.from_arrow(newest).filter(held(from_ms)).to_arrow_table()
