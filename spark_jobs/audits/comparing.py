"""Comparing one bucket of ids of source and sink: extra copies with their causes, missing and surplus ids. Pure numpy.

Exact over what was read: every id of the bucket is there with all its copies. The first copy of an id is the one at the
lowest offset, whatever its partition, as in the live comparison.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from guarantees.audits import DuplicateCause
from spark_jobs.audits.blocks import Copies
from spark_jobs.audits.plans import AuditRange
from spark_jobs.id_hashes import Flags, Ints, in_order, is_among

EXAMPLES = 5
Windows = Mapping[int, tuple[int, int]]  # by partition, the offsets that are judged

# In the order in which the causes are tried; the last holds where none of the others does.
_CAUSES = (
    DuplicateCause.NOT_IDEMPOTENT,
    DuplicateCause.OTHER_PRODUCER_ID,
    DuplicateCause.OTHER_TRANSACTION,
    DuplicateCause.OTHER_EPOCH,
    DuplicateCause.SENT_TWICE,
    DuplicateCause.SAME_SEQUENCE,
)


@dataclass(frozen=True, slots=True)
class Grouped:
    """Copies and their `order`: rows of `copies` by id, offset and partition. The other columns are in that order."""

    copies: Copies
    order: Ints
    id_hash: Ints
    is_first: Flags
    in_window: Flags

    @property
    def judged(self) -> Ints:
        """Where in the order the first copy of an id stands, if it lies in the window."""
        return np.flatnonzero(self.is_first & self.in_window)

    @property
    def ids(self) -> Ints:
        """Every id once, in order."""
        return self.id_hash[self.is_first]

    @property
    def counts(self) -> Ints:
        """How many copies there are of each of the `ids`."""
        return np.diff(np.append(np.flatnonzero(self.is_first), len(self.order)))

    @property
    def first(self) -> Ints:
        """For each copy, where in the order the first one of its id stands."""
        return np.flatnonzero(self.is_first)[np.cumsum(self.is_first) - 1]

    def taken(self, places: Ints) -> Copies:
        """The copies that stand there in the order."""
        return self.copies.taken(self.order[places])

    def partitions(self, places: Ints) -> Ints:
        return self.copies.partition[self.order[places]]


def windows(ranges: tuple[AuditRange, ...]) -> dict[int, tuple[int, int]]:
    return {each.part.partition: (each.window_first, each.window_next) for each in ranges}


def grouped(copies: Copies, judged: Windows) -> Grouped:
    order = in_order(copies.id_hash, copies.offset, copies.partition)
    id_hash = copies.id_hash[order]
    is_first = np.ones(len(copies), dtype=np.bool_)
    is_first[1:] = id_hash[1:] != id_hash[:-1]
    return Grouped(copies, order, id_hash, is_first, _in_window(copies, judged)[order])


def missing(wanted: Grouped, there: Ints) -> Copies:
    """The judged copies of which the id is not among the others, which are sorted and distinct."""
    places = wanted.judged
    return wanted.taken(places[~is_among(wanted.id_hash[places], there)])


def per_partition(partitions: Ints) -> dict[int, int]:
    """How many there are of each."""
    counts = np.bincount(partitions)
    return {partition: int(counts[partition]) for partition in np.flatnonzero(counts).tolist()}


def duplicate_groups(side: Grouped, meant: int = 1) -> list[dict[str, Any]]:
    """Extra copies in the window by partition, cause and producers, with distances to the first copy and examples.

    So many copies of an id as are `meant` to be there, those at the lowest offsets, are none too many.
    """
    if side.is_first.all():
        return []
    first_places = side.first
    places = np.flatnonzero((np.arange(len(first_places)) - first_places >= meant) & side.in_window)
    if not len(places):
        return []
    later, first = side.taken(places), side.taken(first_places[places])
    cause = _cause(first, later)
    keys = np.stack([later.partition, cause, first.producer_id, later.producer_id, later.producer_epoch])
    distinct, member = np.unique(keys, axis=1, return_inverse=True)
    member = member.reshape(-1)
    order = np.lexsort((later.offset, member))
    ends = np.searchsorted(member[order], np.arange(distinct.shape[1]), side="right")
    found, begin = [], 0
    for number, end in enumerate(ends.tolist()):
        own = order[begin:end]
        found.append(_group(distinct[:, number].tolist(), first.taken(own), later.taken(own)))
        begin = end
    return found


def merged_groups(groups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The groups of several buckets as one: an id lies in one bucket only, so the counts add up."""
    found: dict[tuple[object, ...], dict[str, Any]] = {}
    for group in groups:
        key = tuple(group[name] for name in GROUP_KEYS)
        known = found.get(key)
        found[key] = group if known is None else _merged(known, group)
    return [found[key] for key in sorted(found, key=str)]


GROUP_KEYS = ("partition", "cause", "first_producer_id", "producer_id", "producer_epoch")
_LEAST = ("first_copy_offset", "nearest_offsets", "nearest_ms")
_MOST = ("last_copy_offset", "farthest_offsets", "farthest_ms")


def _in_window(copies: Copies, judged: Windows) -> Flags:
    inside = np.zeros(len(copies), dtype=np.bool_)
    for partition, (first, following) in judged.items():
        inside |= (copies.partition == partition) & (copies.offset >= first) & (copies.offset < following)
    return inside


def _cause(first: Copies, later: Copies) -> Ints:
    """Index of the first cause that holds. Sequences are per partition: on two of them equal ones say nothing."""
    other_epoch = first.producer_epoch != later.producer_epoch
    holds = [
        (first.producer_id < 0) | (later.producer_id < 0),
        first.producer_id != later.producer_id,
        other_epoch & later.is_transactional,
        other_epoch,
        (first.sequence != later.sequence) | (first.partition != later.partition),
    ]
    return np.select(holds, range(len(holds)), default=len(holds)).astype(np.int64)


def _group(key: list[int], first: Copies, later: Copies) -> dict[str, Any]:
    partition, cause, first_producer_id, producer_id, producer_epoch = key
    near = first.partition == later.partition
    offsets, apart_ms = (later.offset - first.offset)[near], later.timestamp_ms - first.timestamp_ms
    return {
        "partition": partition,
        "cause": _CAUSES[cause].value,
        "first_producer_id": first_producer_id,
        "producer_id": producer_id,
        "producer_epoch": producer_epoch,
        "extra_copies": len(later),
        "first_copy_offset": int(later.offset[0]),
        "last_copy_offset": int(later.offset[-1]),
        "nearest_offsets": int(offsets.min()) if len(offsets) else None,
        "farthest_offsets": int(offsets.max()) if len(offsets) else None,
        "nearest_ms": int(apart_ms.min()),
        "farthest_ms": int(apart_ms.max()),
        "examples": [_example(first, later, row) for row in range(min(EXAMPLES, len(later)))],
    }


def _example(first: Copies, later: Copies, row: int) -> dict[str, Any]:
    return {"id_hash": int(later.id_hash[row]), "first": stored_copy(first, row), "last": stored_copy(later, row)}


def stored_copy(copies: Copies, row: int) -> dict[str, int | None]:
    """As guarantees.audits.StoredCopy."""
    return {
        "partition": int(copies.partition[row]),
        "offset": int(copies.offset[row]),
        "producer_id": _known(copies.producer_id[row]),
        "producer_epoch": _known(copies.producer_epoch[row]),
        "sequence": _known(copies.sequence[row]),
        "timestamp_ms": int(copies.timestamp_ms[row]),
    }


def _known(value: np.int64) -> int | None:
    return int(value) if value >= 0 else None


def _merged(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    examples = sorted([*one["examples"], *other["examples"]], key=lambda each: each["last"]["offset"])
    return {
        **one,
        "extra_copies": one["extra_copies"] + other["extra_copies"],
        **{name: _extreme(min, one[name], other[name]) for name in _LEAST},
        **{name: _extreme(max, one[name], other[name]) for name in _MOST},
        "examples": examples[:EXAMPLES],
    }


def _extreme(which: Any, *values: int | None) -> int | None:
    known = [value for value in values if value is not None]
    return which(known) if known else None
