"""Things that persist over time, kept as intervals: pure steps from one observation to the next.

An interval ends when its value changes or its subject is surely gone; the running ones are stated again in each round.
A value that could not be observed neither ends nor extends one. After a time nobody looked, the same value starts a new
interval: what happened in between is not known.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import pyarrow as pa

from store.contracts import TABLES
from store.tables.intervals import NOT_OBSERVED
from store.types import arrow_schema

Key = tuple[object, ...]
Columns = Mapping[str, object]

CHANGED = "changed"

# Bounds of an interval, as columns of every interval table.
TIMES = ("started_at", "started_after", "last_seen_at", "ended_before", "ended_reason")


# One for all of them: most subjects have none.
NO_DETAIL: Columns = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Seen:
    """A subject as observed: another `value` ends its interval, `detail` is only kept up to date."""

    value: Columns
    at_ms: int
    detail: Columns = field(default_factory=lambda: NO_DETAIL)


@dataclass(frozen=True, slots=True)
class Interval:
    """A value while it lasts. Times are ms since 1970, UTC; `ended_before_ms` is None while it lasts."""

    key: Key
    value: Columns
    detail: Columns
    started_at_ms: int
    started_after_ms: int | None
    last_seen_at_ms: int
    ended_before_ms: int | None = None
    ended_reason: str | None = None


Running = Mapping[Key, Interval]


@dataclass(frozen=True, slots=True)
class Step:
    """The intervals that run on, and those to be written: the ended ones and the ones seen again."""

    running: Running
    written: Sequence[Interval]


def advance(
    running: Running,
    seen: Mapping[Key, Seen],
    *,
    gap_ms: int,
    now_ms: int,
    gone: Callable[[Interval], str | None] = lambda _: None,
) -> Step:
    """One observation. `gone` says why a subject that was not seen has surely ended, or None where that is not sure."""
    after = dict(running)
    written: list[Interval] = []
    for key, sight in seen.items():
        ended, after[key] = _follow(running.get(key), key, sight, gap_ms)
        written += [ended, after[key]] if ended is not None else [after[key]]
    for key in running.keys() - seen.keys():
        reason = gone(running[key])
        if reason is not None:
            written.append(replace(after.pop(key), ended_before_ms=now_ms, ended_reason=reason))
    return Step(after, written)


def _follow(before: Interval | None, key: Key, sight: Seen, gap_ms: int) -> tuple[Interval | None, Interval]:
    if before is None:
        return None, Interval(key, sight.value, sight.detail, sight.at_ms, None, sight.at_ms)
    if sight.at_ms - before.last_seen_at_ms > gap_ms:
        reason = NOT_OBSERVED
    elif before.value != sight.value:
        reason = CHANGED
    else:
        return None, replace(before, detail=sight.detail, last_seen_at_ms=max(before.last_seen_at_ms, sight.at_ms))
    ended = replace(before, ended_before_ms=sight.at_ms, ended_reason=reason)
    return ended, Interval(key, sight.value, sight.detail, sight.at_ms, before.last_seen_at_ms, sight.at_ms)


def key_columns(table: str) -> tuple[str, ...]:
    """The columns that name an interval's subject within one cluster."""
    return tuple(name for name in TABLES[table].key if name != "cluster_id")


def rows(table: str, cluster_id: str, intervals: Sequence[Interval]) -> list[dict[str, object]]:
    """The intervals as rows of their table."""
    names = key_columns(table)
    return [
        {
            "cluster_id": cluster_id,
            **dict(zip(names, interval.key, strict=True)),
            **interval.value,
            **interval.detail,
            "started_at": interval.started_at_ms,
            "started_after": interval.started_after_ms,
            "last_seen_at": interval.last_seen_at_ms,
            "ended_before": interval.ended_before_ms,
            "ended_reason": interval.ended_reason,
        }
        for interval in intervals
    ]


def columns(table: str, cluster_id: str, intervals: Sequence[Interval]) -> pa.Table:
    """The same as columns: for intervals of which there are as many as partitions."""
    schema, names = arrow_schema(TABLES[table]), key_columns(table)
    given: dict[str, list[object]] = {"cluster_id": [cluster_id] * len(intervals)}
    given |= {name: [each.key[place] for each in intervals] for place, name in enumerate(names)}
    given |= {
        "started_at": [each.started_at_ms for each in intervals],
        "started_after": [each.started_after_ms for each in intervals],
        "last_seen_at": [each.last_seen_at_ms for each in intervals],
        "ended_before": [each.ended_before_ms for each in intervals],
        "ended_reason": [each.ended_reason for each in intervals],
    }
    for name in schema.names:
        if name not in given:
            given[name] = [each.value[name] if name in each.value else each.detail.get(name) for each in intervals]
    return pa.table({name: pa.array(given[name], schema.field(name).type) for name in schema.names}, schema=schema)


def interval(table: str, row: Mapping[str, object], details: Sequence[str]) -> Interval:
    """The inverse of `rows`; `details` names the columns that do not end an interval."""
    names = key_columns(table)
    apart = {"cluster_id", *names, *TIMES, *details}
    return Interval(
        key=tuple(row[name] for name in names),
        value={name: _fixed(value) for name, value in row.items() if name not in apart},
        detail={name: _fixed(row[name]) for name in details} or NO_DETAIL,
        started_at_ms=_time(row["started_at"]),
        started_after_ms=None if row["started_after"] is None else _time(row["started_after"]),
        last_seen_at_ms=_time(row["last_seen_at"]),
        ended_before_ms=None if row["ended_before"] is None else _time(row["ended_before"]),
        ended_reason=None if row["ended_reason"] is None else str(row["ended_reason"]),
    )


def _fixed(value: object) -> object:
    """Lists of the store are tuples here, as what is seen has them."""
    return tuple(value) if isinstance(value, list) else value


def _time(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(f"a time is ms since 1970, not {value!r}")
    return value
