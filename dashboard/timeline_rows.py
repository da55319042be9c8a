"""What happened to transactional ids as rows of a table, each with who tells of it."""

import json
from collections.abc import Mapping
from typing import Any

from dashboard import wording
from dashboard.names import cut
from dashboard.view import View
from guarantees.internal_records import SAMPLES

Row = Mapping[str, Any]

# By the words of the store; `ended` is what samples can say of an end.
STEPS: Mapping[str, str] = {
    "initialised": "↻ Initialised",
    "begun": "○ Begun",
    "ending": "◔ Ending",
    "committed": "✓ Committed",
    "aborted": "✕ Aborted",
    "fenced": "⊘ Fenced",
    "timed_out": "▼ Timed out",
    "expired": "– Id expired",
    "ended": "? Ended",
}
SEEN_OPEN = "seen open in samples"
SEEN_ENDED = "committed or aborted: samples do not show how it ended"
SEEN_ABORTED = "its coordinator was seen to abort it; why, samples do not show"
_OF_SAMPLES: Mapping[str, str] = {"begun": SEEN_OPEN, "ended": SEEN_ENDED, "aborted": SEEN_ABORTED}


def table_row(row: Row, view: View) -> dict[str, object]:
    return {
        "When (UTC)": wording.since(row["at_ms"], view.to_ms),
        "Transactional id": cut(row["transactional_id"]),
        "What": STEPS.get(row["step"], cut(row["step"])),
        "Why": cut(row["why"] or _OF_SAMPLES.get(row["step"], "–"), 200),
        "Lasted": lasted(row),
        "Producer": "–" if row["producer_id"] is None else f"{row['producer_id']} · {row['producer_epoch']}",
        "Partitions": None if row["partitions"] is None else len(json.loads(row["partitions"])),
        "Transactions": row["transactions"],
        "Told by": teller(row),
    }


def lasted(row: Row) -> str:
    """From the begin to this step; of an end between two samples at least until the one before it."""
    started, at = row["started_at_ms"], row["at_ms"]
    if started is None or row["step"] == "begun":
        return "–"
    if row["after_ms"] is None:
        return wording.duration(max(0, at - started))
    return f"{wording.duration(max(0, row['after_ms'] - started))} to {wording.duration(max(0, at - started))}"


def teller(row: Row) -> str:
    """The coordinator by its own clock, or samples, with the time between them."""
    if row["source"] != SAMPLES:
        return "coordinator"
    between = row["at_ms"] - row["after_ms"]
    return f"samples, within {wording.duration(between)}" if between else "samples"
