"""Views that several questions ask of: their rows, kept for the process within a time and an amount of memory.

What is kept are the newest statements of all intervals that the segments tell of, from which each window takes those
that held in it. They are found by the segments: with another segment, or one that was made again, they are others.
"""

from collections.abc import Sequence
from threading import Lock
from typing import Any

import duckdb
import pyarrow as pa
from cachetools import TTLCache, cached

from store.contracts import Table
from store.folders import Segment
from store.segments import MINUTE_MS
from store.views import newest_query

MOST_BYTES = 64 * 2**20
KEPT_FOR_S = 120
# Windows that begin and end within the same spans share what is kept. Older statements, of which there are many, tell
# none of them anything.
SPAN_MS = 5 * MINUTE_MS


def _size(rows: pa.Table) -> int:
    return int(rows.nbytes)


# A view that is larger than all of it is read anew each time.
_kept: TTLCache[Any, pa.Table] = TTLCache(MOST_BYTES, KEPT_FOR_S, getsizeof=_size)


def span_of(from_ms: int, to_ms: int) -> tuple[int, int]:
    """The window whose statements are kept for this one, ms since 1970."""
    return from_ms - from_ms % SPAN_MS, -(-to_ms // SPAN_MS) * SPAN_MS


def _key(
    connection: duckdb.DuckDBPyConnection, table: Table, segments: Sequence[Segment], since_ms: int
) -> tuple[object, ...]:
    return table.name, tuple(segments), since_ms


@cached(_kept, key=_key, lock=Lock())
def newest_intervals(
    connection: duckdb.DuckDBPyConnection, table: Table, segments: Sequence[Segment], since_ms: int
) -> pa.Table:
    """Of the segments, what `store.views.held` takes the view of a later window from; nobody changes it.

    Raises duckdb.IOException where a file has gone.
    """
    return connection.sql(newest_query(table, [segment.path for segment in segments], since_ms)).to_arrow_table()
