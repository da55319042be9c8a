"""Examples by message id: both copies of a duplicate side by side, and what is known of an id that did not arrive."""

import json
from collections.abc import Mapping
from typing import Any

from dashboard import audit_words, wording
from guarantees.audits import DuplicateCause

Row = Mapping[str, Any]
STATES = {"lost": "✕ Lost", "late": "◷ Late"}


def copy_row(row: Row, topic: str) -> dict[str, object]:
    """One example of COPIES_BY_ID, in full: the page cuts it, a download does not."""
    example = json.loads(row["example"])
    first, last = example["first"], example["last"]
    return {
        "Message id": message_id(example["message_id"]),
        "Cause": audit_words.CAUSES[DuplicateCause(row["cause"])],
        "First copy": place(topic, first),
        "Later copy": place(topic, last),
        "First producer": producer(first),
        "Later producer": producer(last),
        "First written (UTC)": _written(first),
        "Later written (UTC)": _written(last),
        "Offsets apart": offsets_apart(first, last),
        "Time apart": time_apart(first, last),
    }


def lost_row(row: Row) -> dict[str, object]:
    """One row of LOST_IDS, in full. Offsets and times are the source's and this monitor's own."""
    return {
        "State": STATES[row["state"]],
        "Message id": message_id(row["message_id"]),
        "Source": f"{row['topic']}-{row['partition']}:{row['offset']}",
        "Stored by (UTC)": _moment(row["observed_at_ms"]),
        "Commit past it by (UTC)": _moment(row["passed_at_ms"]),
        "Decided (UTC)": _moment(row["decided_at_ms"]),
        "Found in the sink at": row["found_at"] or "nowhere",
    }


def message_id(known: str | None) -> str:
    return audit_words.HASH_ONLY if known is None else known


def place(topic: str, copy: Row) -> str:
    """Where a copy is stored: partition and offset in full digits."""
    return f"{topic}-{copy['partition']}:{copy['offset']}"


def producer(copy: Row) -> str:
    """Whose batch it came in; a batch without producer id says nothing of its producer."""
    if copy["producer_id"] is None:
        return "none: not idempotent"
    return f"id {copy['producer_id']} · epoch {copy['producer_epoch']} · sequence {copy['sequence']}"


def offsets_apart(first: Row, last: Row) -> str:
    """How far apart two copies are stored; offsets of two partitions have no distance."""
    if first["partition"] != last["partition"]:
        return "other partition"
    return wording.count(last["offset"] - first["offset"])


def time_apart(first: Row, last: Row) -> str:
    """How much later the later copy says it was written; by its own clock it may be the earlier one."""
    apart_ms = last["timestamp_ms"] - first["timestamp_ms"]
    length = f"{abs(apart_ms)} ms" if abs(apart_ms) < 1000 else wording.duration(abs(apart_ms))
    return length if apart_ms >= 0 else f"{length} earlier"


def _written(copy: Row) -> str:
    return _moment(copy["timestamp_ms"])


def _moment(time_ms: int | None) -> str:
    return wording.utc(time_ms).removesuffix(" UTC")
