"""Commits of one group on one partition as rows of a table, each with who tells of it."""

from collections.abc import Mapping
from typing import Any

from dashboard import wording
from dashboard.view import View
from guarantees.internal_records import SAMPLES

Row = Mapping[str, Any]


def table_row(row: Row, view: View) -> dict[str, object]:
    """Offsets in full digits; a commit that fell says so."""
    return {
        "When (UTC)": wording.since(row["at_ms"], view.to_ms),
        "From": _digits(row["previous_offset"]),
        "To": "deleted" if row["committed_offset"] is None else _digits(row["committed_offset"]),
        "Moved": moved(row),
        "Commits": row["commits"],
        "Producer id": _digits(row["producer_id"]),
        "Told by": teller(row),
    }


def moved(row: Row) -> str:
    """By how many offsets, and which way."""
    if row["previous_offset"] is None or row["committed_offset"] is None:
        return "–"
    step = row["committed_offset"] - row["previous_offset"]
    return f"▼ {-step:,} back" if step < 0 else f"{step:,}"


def teller(row: Row) -> str:
    if row["source"] != SAMPLES:
        return "coordinator"
    return f"samples, within {wording.duration(row['at_ms'] - row['after_ms'])}"


def _digits(value: int | None) -> str:
    return "–" if value is None else str(value)
