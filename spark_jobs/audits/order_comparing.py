"""Comparing one bucket of keys for the order of their records, as spark_jobs.transforms.order does. Pure numpy.

A tenth of what Spark's windows cost where all of it fits into memory; both give the same rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from spark_jobs.transforms.order import EXAMPLES

MOST = 2**63 - 1
NUMBERS = ("partition", "key_hash", "offset", "place", "timestamp_ms", "producer_id", "producer_epoch", "sequence")
_OF_RECORD = ("place", "offset", "timestamp_ms", "producer_id", "producer_epoch", "sequence")
_OF_PRODUCER = frozenset({"producer_id", "producer_epoch", "sequence"})  # −1: the batch has none

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Judged:
    """Records by side, partition, key and offset, and what is known of each beside the others of its key.

    `highest`: where the record with the highest place before it stands; it means something where `has_before`.
    """

    sides: list[str]
    side: Ints
    number: dict[str, Ints]
    in_window: Flags
    is_first_of_key: Flags
    is_elsewhere: Flags
    highest: Ints
    is_out_of_order: Flags
    is_repeat: Flags
    missing: Ints


def compare(records: pa.Table, *, is_numbered: bool) -> dict[str, list[dict[str, Any]]]:
    """`accounts` by partition and `groups` of violations of whole keys, rows as of the transforms."""
    judged = _judged(records, is_numbered=is_numbered)
    return {"accounts": list(_accounts(judged, is_numbered=is_numbered)), "groups": list(_groups(judged))}


def _judged(records: pa.Table, *, is_numbered: bool) -> Judged:
    side_of = records["side"].combine_chunks().dictionary_encode()
    side = side_of.indices.to_numpy().astype(np.int64)
    number = {name: _numbers(records[name]) for name in NUMBERS}
    order = np.lexsort((number["offset"], number["key_hash"], number["partition"], side))
    side, number = side[order], {name: column[order] for name, column in number.items()}
    in_window = records["in_window"].to_numpy()[order]
    begins = _changes(side, number["partition"], number["key_hash"])  # of a key on one partition
    key = np.cumsum(begins) - 1
    is_elsewhere = _is_elsewhere(side, number)
    highest, is_first, lower = _before(key, begins, number["place"])
    place = number["place"]
    is_behind = ~begins & (place[highest] > place)
    follows = is_first & (lower >= 0) & ~is_elsewhere
    return Judged(
        sides=side_of.dictionary.to_pylist(),
        side=side,
        number=number,
        in_window=in_window,
        is_first_of_key=_earlier(in_window, begins, key) == 0,
        is_elsewhere=is_elsewhere,
        highest=highest,
        is_out_of_order=in_window & is_first & is_behind,
        is_repeat=in_window & ~is_first & (is_behind | is_numbered),
        missing=np.where(follows & in_window, place - place[lower] - 1, 0),
    )


def _numbers(column: pa.ChunkedArray) -> Ints:
    filled = column.fill_null(-1) if column.null_count else column
    return filled.to_numpy().astype(np.int64)


def _changes(*columns: Ints) -> Flags:
    """Where any of the sorted columns has another value than in the row before; the first row is a change."""
    changed = np.ones(len(columns[0]), dtype=np.bool_)
    if len(changed):
        changed[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return changed


def _is_elsewhere(side: Ints, number: dict[str, Ints]) -> Flags:
    """Whether the key lies on another partition of its side too."""
    partition, key_hash = number["partition"], number["key_hash"]
    order = np.lexsort((partition, key_hash, side))
    key = np.cumsum(_changes(side[order], key_hash[order])) - 1
    is_another = _changes(side[order], key_hash[order], partition[order])
    found = np.empty(len(order), dtype=np.bool_)
    found[order] = np.bincount(key, weights=is_another)[key] > 1 if len(order) else False
    return found


def _before(key: Ints, begins: Flags, place: Ints) -> tuple[Ints, Flags, Ints]:
    """Of each record: where the one with the highest place before it stands; whether its place is new to its key; and
    where the record with the next lower place stands, −1 where there is none.

    Rows of each key are in the order of offsets. Sorted by key and place they are numbered on, so that the highest
    number so far is the highest place so far, and one of a later key is higher than all before.
    """
    order = np.lexsort((np.arange(len(key)), place, key))
    sorted_key, sorted_place = key[order], place[order]
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    is_first = _changes(sorted_key, sorted_place)[rank]
    running = np.maximum.accumulate(np.where(is_first, rank, -1)) if len(order) else rank
    highest = order[np.concatenate([[0], running[:-1]])[: len(order)]]
    previous = np.concatenate([[-1], order[:-1]])[: len(order)]
    lower = np.where(_changes(sorted_key), -1, previous)[rank]
    return np.where(begins, 0, highest), is_first, lower


def _earlier(in_window: Flags, begins: Flags, key: Ints) -> Ints:
    """How many records of the key lie in the window before each."""
    before = np.cumsum(in_window) - in_window
    return before - before[begins][key]


def _accounts(judged: Judged, *, is_numbered: bool) -> Iterator[dict[str, Any]]:
    """Of partitions with a record in the window."""
    for rows in _by(judged.in_window, judged.side, judged.number["partition"]):
        first = judged.is_first_of_key[rows]
        yield {
            **_where(judged, rows[0]),
            "ordered": len(rows),
            "keys": int(first.sum()),
            "keys_elsewhere": int((first & judged.is_elsewhere[rows]).sum()),
            "out_of_order": int(judged.is_out_of_order[rows].sum()),
            "repeated": int(judged.is_repeat[rows].sum()),
            "numbers_missing": _sum(judged.missing[rows]) if is_numbered else None,
        }


def _groups(judged: Judged) -> Iterator[dict[str, Any]]:
    """Of the producers of both records."""
    number = judged.number
    producer = {name: number[name] for name in ("producer_id", "producer_epoch")}
    first_producer_id = number["producer_id"][judged.highest]
    for rows in _by(judged.is_out_of_order, judged.side, number["partition"], first_producer_id, *producer.values()):
        offsets, earlier = number["offset"][rows], judged.highest[rows]
        apart = offsets - number["offset"][earlier]
        yield {
            **_where(judged, rows[0]),
            "first_producer_id": int(first_producer_id[rows[0]]),
            **{name: int(column[rows[0]]) for name, column in producer.items()},
            "out_of_order": len(rows),
            "keys": len(np.unique(number["key_hash"][rows])),
            "first_offset": int(offsets.min()),
            "last_offset": int(offsets.max()),
            "nearest_offsets": int(apart.min()),
            "farthest_offsets": int(apart.max()),
            "examples": [_example(judged, row) for row in rows[np.argsort(offsets, kind="stable")[:EXAMPLES]]],
        }


def _by(chosen: Flags, *columns: Ints) -> Iterator[Ints]:
    """The chosen rows, in parts that have the same values."""
    rows = np.flatnonzero(chosen)
    rows = rows[np.lexsort([column[rows] for column in columns[::-1]])]
    begins = np.flatnonzero(_changes(*(column[rows] for column in columns)))
    yield from np.split(rows, begins[1:]) if len(rows) else ()


def _where(judged: Judged, row: int) -> dict[str, Any]:
    return {"side": judged.sides[judged.side[row]], "partition": int(judged.number["partition"][row])}


def _example(judged: Judged, row: int) -> dict[str, Any]:
    later = _record(judged, row)
    key_hash = int(judged.number["key_hash"][row])
    return {
        "at": later["offset"],
        "key_hash": key_hash,
        "earlier": _record(judged, judged.highest[row]),
        "later": later,
    }


def _record(judged: Judged, row: int) -> dict[str, int | None]:
    found = {name: int(judged.number[name][row]) for name in _OF_RECORD}
    return {name: None if name in _OF_PRODUCER and value < 0 else value for name, value in found.items()}


def _sum(values: Ints) -> int | None:
    """None where the metrics cannot hold it."""
    total = (int((values >> 32).sum()) << 32) + int((values & 0xFFFFFFFF).sum())
    return total if total <= MOST else None
