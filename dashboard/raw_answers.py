"""Which stored answers stand behind a finding, and how their rows are read: every column, every digit, as text."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from dashboard import wording
from dashboard.facts import label
from guarantees.findings import Finding, Kind, Place
from store.contracts import TABLES, Column, Type

Row = Mapping[str, Any]
STEPS_AROUND = 3  # sampling steps before and after the moment

OF_COMMITS = ("committed_offsets", "partition_offsets", "group_members", "group_state")
OF_LOG = ("partition_offsets", "replica_offsets", "epoch_ends", "partition_state")
OF_REPLICAS = ("partition_state", "replica_offsets", "topic_configuration")
OF_TRANSACTIONS = ("partition_offsets", "open_producers", "open_transactions")
OF_HEADERS = ("batch_headers", "partition_offsets")
OF_COMMITS_AND_LOG = ("committed_offsets", "partition_offsets", "epoch_ends", "partition_state")

_BY_KIND: Mapping[Kind, tuple[str, ...]] = {
    Kind.LOG_TRUNCATED: OF_LOG,
    Kind.TAIL_TRUNCATED: OF_LOG,
    Kind.UNCLEAN_ELECTION: OF_LOG,
    Kind.COMMIT_IN_TRUNCATED_LOG: OF_COMMITS_AND_LOG,
    Kind.WRONG_COMMIT_EPOCH: OF_COMMITS_AND_LOG,
    Kind.COMMITTED_AHEAD: OF_COMMITS_AND_LOG,
    Kind.COMMIT_OF_OLD_TOPIC: OF_COMMITS_AND_LOG,
    Kind.BELOW_MIN_ISR: OF_REPLICAS,
    Kind.AT_MIN_ISR: OF_REPLICAS,
    Kind.MIN_ISR_ABOVE_REPLICAS: OF_REPLICAS,
    Kind.TOPIC_RECREATED: ("partition_offsets", "partition_state"),
    Kind.PARTITIONS_ADDED: ("partition_offsets", "partition_state"),
    Kind.STABLE_OFFSET_FROZEN: OF_TRANSACTIONS,
    Kind.COMMIT_PENDING: ("committed_offsets", *OF_TRANSACTIONS),
    Kind.READ_PAST_STABLE_OFFSET: ("committed_offsets", *OF_TRANSACTIONS),
    Kind.ABORTED_AT_SINK: ("batch_headers", "committed_offsets", *OF_TRANSACTIONS),
    Kind.OUT_OF_ORDER: OF_HEADERS,
    Kind.CONFLICTING_OFFSET: ("batch_headers", *OF_LOG),
    Kind.DUPLICATE_WRITE: ("batch_headers", "partition_offsets", "open_producers"),
    Kind.LOST_WRITE: OF_COMMITS,
    Kind.RESENT_BATCH: OF_HEADERS,
    Kind.MISSING_SEQUENCES: OF_HEADERS,
    Kind.SEQUENCE_GAP: OF_HEADERS,
    Kind.PRODUCER_RECOVERED: OF_HEADERS,
    Kind.ODD_TIMESTAMPS: OF_HEADERS,
    Kind.PRODUCER_FENCED: (*OF_HEADERS, "open_producers", "open_transactions"),
    Kind.UNFENCED_RESTART: (*OF_HEADERS, "open_producers", "open_transactions"),
    Kind.TRANSACTION_TIMED_OUT: (*OF_HEADERS, "open_producers", "open_transactions"),
    Kind.TORN_TRANSACTION: (*OF_HEADERS, "open_producers", "open_transactions"),
}
# Columns that say nothing beside the finding's own place; a topic id may be another than the finding's.
_OF_PLACE = frozenset({"cluster_id", "topic", "partition", "group_id"})


def tables(kind: Kind) -> tuple[str, ...]:
    """The tables whose rows a finding of that kind rests on; a fact about a group rests on its commits."""
    return _BY_KIND.get(kind, OF_COMMITS)


def window(finding: Finding, step_ms: int) -> tuple[int, int]:
    """The rounds just before and just after the moment it happened."""
    return finding.happened_at_ms - STEPS_AROUND * step_ms, finding.happened_at_ms + STEPS_AROUND * step_ms


def about(place: Place, at_ms: int) -> dict[str, object]:
    """The parameters of the questions; what a place leaves open narrows nothing."""
    is_partition = place.topic is not None and place.partition is not None
    return {
        "topic": place.topic,
        "partition": place.partition,
        "group_id": place.group_id,
        "held": json.dumps([place.topic, place.partition]) if is_partition else None,
        "at_ms": at_ms,
    }


def rows(table: str, found: Sequence[Row], finding: Finding) -> list[dict[str, str]]:
    """The rows by time, each with its relation to the moment; an unknown value is its reason."""
    columns = _columns(table, finding.place)
    time = next(name for name in ("observed_at", "started_at") if any(c.name == name for c in TABLES[table].columns))
    return [
        {"": _relation(_ms(row[time]), finding.happened_at_ms)}
        | {label(column.name): cell(column, row) for column in columns}
        for row in sorted(found, key=lambda row: row[time])
    ]


def cell(column: Column, row: Row) -> str:
    """One value in full: a moment in UTC to the millisecond, a number with every digit, a gap with its reason."""
    value, reason = row[column.name], row.get(f"{column.name}_unknown")
    if value is None:
        return f"unknown: {reason}" if reason else "–"
    if column.type is Type.TIME:
        return wording.utc(_ms(value)).removesuffix(" UTC")
    if column.type is Type.INTS:
        return ", ".join(str(number) for number in value)
    return {True: "yes", False: "no"}[value] if column.type is Type.FLAG else str(value)


def _columns(table: str, place: Place) -> list[Column]:
    """Times and broker first, as they say who answered when; then the values."""
    fixed = {name for name in _OF_PLACE if name == "cluster_id" or getattr(place, name) is not None}
    kept = [c for c in TABLES[table].columns if c.name not in fixed and not c.name.endswith("_unknown")]
    first = ("requested_at", "observed_at", "started_at", "last_seen_at", "ended_before", "broker", "tick")
    order = {name: number for number, name in enumerate(first)}
    return sorted(kept, key=lambda column: order.get(column.name, len(order)))


def _relation(at_ms: int, happened_at_ms: int) -> str:
    return "before" if at_ms < happened_at_ms else "at or after"


def _ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
