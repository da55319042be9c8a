"""How far a stored interval speaks: until it was seen to be over, or as far as it was seen."""

from collections.abc import Mapping
from typing import Any

from store.tables.intervals import NOT_OBSERVED

Row = Mapping[str, Any]

ROUNDS_LATE = 2  # a running interval is restated in every round: so late it still holds, as it was last seen


def is_seen_over(row: Row) -> bool:
    """Whether a sample saw it ended; after a time nobody looked only a new interval begins."""
    return row["ended_before_ms"] is not None and row["ended_reason"] != NOT_OBSERVED


def drawn_to_ms(row: Row) -> int:
    """Where its bar ends: when it was first seen to be over, else when it was last seen."""
    return int(row["ended_before_ms"] if is_seen_over(row) else row["last_seen_at_ms"])


def speaks_of(row: Row, at_ms: int, step_ms: int) -> bool:
    """Whether it tells what held at a moment. `step_ms`: the sampling interval, of which a running one may be late."""
    if is_seen_over(row):
        return bool(row["started_at_ms"] <= at_ms < row["ended_before_ms"])
    late_ms = ROUNDS_LATE * step_ms if row["ended_before_ms"] is None else 0
    return bool(row["started_at_ms"] <= at_ms <= row["last_seen_at_ms"] + late_ms)
