"""Ranges of batch headers as rows of the store, and back."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from collectors.rows import Row, known_or_reason
from guarantees.batches import Batch, HeaderScan, Marker
from guarantees.findings import Place
from guarantees.unknown import Unknown

BATCHES, RANGES = "batch_headers", "header_ranges"
_OF_BATCH = tuple(name for name in Batch.__dataclass_fields__ if name != "marker")


@dataclass(frozen=True, slots=True)
class ReadRange:
    """What one round read of one partition. `break_reason`: why it does not follow; `problem`: why nothing was read."""

    scan: HeaderScan
    break_reason: str | None = None
    problem: str | None = None


def batch_rows(scan: HeaderScan) -> list[Row]:
    """One row a batch, in the order of the log."""
    return [
        {
            **_place(scan.place),
            **{name: getattr(batch, name) for name in _OF_BATCH},
            "marker": None if batch.marker is None else batch.marker.value,
            "observed_at": scan.observed_at_ms,
        }
        for batch in scan.batches
    ]


def range_row(read: ReadRange) -> Row:
    """The entry that makes the batches of a range count."""
    scan = read.scan
    return {
        **_place(scan.place),
        "first_offset": scan.first_offset,
        "next_offset": scan.next_offset,
        **known_or_reason("log_start_offset", scan.log_start_offset),
        "cleanup_policy": None if isinstance(scan.cleanup_policy, Unknown) else scan.cleanup_policy,
        "break_reason": read.break_reason,
        "problem": read.problem,
        "observed_at": scan.observed_at_ms,
    }


def scans(ranges: Iterable[Mapping[str, Any]], batches: Iterable[Mapping[str, Any]]) -> list[HeaderScan]:
    """Stored ranges with their batches, in the order they were read.

    Whoever wrote in a range that is read again after a restart is no new producer.
    """
    by_range: dict[tuple[str, int, int], list[Batch]] = {}
    for row in batches:
        by_range.setdefault(_of_range(row), []).append(_batch(row))
    return [_scan(row, by_range.get(_of_range(row), ())) for row in ranges]


def _of_range(row: Mapping[str, Any]) -> tuple[str, int, int]:
    """Offsets may be read again where a log was cut: a batch belongs to the range of its own time."""
    return row["topic_id"], row["partition"], row["observed_at"]


def _scan(row: Mapping[str, Any], batches: Sequence[Batch]) -> HeaderScan:
    start, policy = row["log_start_offset"], row["cleanup_policy"]
    return HeaderScan(
        place=Place(row["cluster_id"], row["topic"], row["topic_id"], row["partition"]),
        first_offset=row["first_offset"],
        next_offset=row["next_offset"],
        batches=tuple(batches),
        log_start_offset=Unknown(row["log_start_offset_unknown"]) if start is None else start,
        cleanup_policy=Unknown("not known when it was read") if policy is None else policy,
        producers_before=frozenset(batch.producer_id for batch in batches if batch.producer_id is not None),
        observed_at_ms=row["observed_at"],
    )


def _batch(row: Mapping[str, Any]) -> Batch:
    marker = row["marker"]
    return Batch(**{name: row[name] for name in _OF_BATCH}, marker=None if marker is None else Marker(marker))


def _place(place: Place) -> Row:
    return {
        "cluster_id": place.cluster_id,
        "topic": place.topic,
        "topic_id": place.topic_id,
        "partition": place.partition,
    }
