"""What the footers of segments tell of their times: which segments a question about a window need not open.

A footer is read once for as long as the process lives: a committed segment never changes, and one that takes its name
has times of its own.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

import pyarrow as pa
import pyarrow.parquet as pq

from store.contracts import Family, Table
from store.folders import Segment

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Times:
    """The first and the last time of a column, ms since 1970, UTC; both None where all its values are null."""

    first_ms: int | None = None
    last_ms: int | None = None


def may_hold(table: Table, segment: Segment, from_ms: int, to_ms: int) -> bool:
    """Whether the segment may hold rows that the view of a window is made of (store.views.window_query)."""
    if table.family is Family.KEPT:
        return True
    if table.family is Family.INTERVAL:
        return _may_tell(segment, from_ms, to_ms)
    (observed,) = _times(segment, ("observed_at",))
    return observed is None or _reaches(observed, from_ms, to_ms)


def _may_tell(segment: Segment, from_ms: int, to_ms: int) -> bool:
    """A statement from before the window says nothing in it unless it knows the end."""
    started, seen, ended = _times(segment, ("started_at", "last_seen_at", "ended_before"))
    is_later = started is not None and not _begins_before(started, to_ms)
    is_earlier = seen is not None and not _reaches(seen, from_ms)
    return not is_later and (ended != Times() or not is_earlier)


def _reaches(times: Times, from_ms: int, to_ms: int | None = None) -> bool:
    return times.last_ms is not None and times.last_ms >= from_ms and (to_ms is None or _begins_before(times, to_ms))


def _begins_before(times: Times, to_ms: int) -> bool:
    return times.first_ms is not None and times.first_ms < to_ms


@lru_cache(maxsize=50_000)
def _times(segment: Segment, columns: tuple[str, ...]) -> tuple[Times | None, ...]:
    """Of each column; None where the footer does not tell, or cannot be read."""
    try:
        metadata = pq.read_metadata(segment.path)
    except (OSError, pa.ArrowInvalid):
        return (None,) * len(columns)
    names = {metadata.schema.column(number).path: number for number in range(metadata.num_columns)}
    return tuple(_of_column(metadata, names.get(column)) for column in columns)


def _of_column(metadata: pq.FileMetaData, number: int | None) -> Times | None:
    if number is None:  # an older file: the column is null
        return Times()
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    return _together(_of_group(group, number) for group in groups)


def _of_group(group: pq.RowGroupMetaData, number: int) -> Times | None:
    told = group.column(number).statistics
    if told is None or (told.has_min_max and not isinstance(told.min, datetime)):
        return None  # a damaged file: whoever asks for the table is told
    if told.has_min_max:
        return Times(_ms(told.min), _ms(told.max))
    return Times() if told.has_null_count and told.null_count == group.num_rows else None


def _together(times: Iterable[Times | None]) -> Times | None:
    """From the first of all to the last; not told where it is of any."""
    found = list(times)
    known = [one for one in found if one is not None]
    if len(known) < len(found):
        return None
    first = min((one.first_ms for one in known if one.first_ms is not None), default=None)
    return Times(first, max((one.last_ms for one in known if one.last_ms is not None), default=None))


def _ms(moment: datetime) -> int:
    return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH) // _MS
