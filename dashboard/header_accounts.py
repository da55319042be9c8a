"""Rows and sentences of what batch headers say of producers and their transactions. Pure."""

from collections.abc import Mapping
from typing import Any

from dashboard import wording
from dashboard.names import cut
from dashboard.view import View

Row = Mapping[str, Any]

INTERVAL_MS = 10 * 60_000  # what the jobs over batch headers count at a time
NOT_WANTED = "No topic's batch headers are read."
DECLARE = 'Name topics in tidemark.toml: header_topics = ["orders"] under [[clusters]].'
GAPS = (
    "Numbers passed over are no loss by themselves: a broker that knows the producer refuses a gap, so they were "
    "removed since, or the broker had forgotten the producer. Repeated ones are stored twice."
)
TORN = (
    "Torn: aborted on one partition, committed on another; told only of producers whose every transaction has an epoch "
    "of its own. Counted on each partition; a marker without data is mostly a partition that was not written to."
)


def span(view: View, longest_ms: int) -> tuple[int, int]:
    """What to ask about for the intervals that ended after the window began and by its end: each is in one window.

    The store keeps what was observed from the first time up to, not including, the second (ms since 1970).
    """
    return max(view.from_ms, view.to_ms - longest_ms) + 1, view.to_ms + 1


def windows(row: Row) -> str:
    """What was computed and what was passed over, in one sentence: jobs that were down count only the newest of it."""
    if not row["windows"]:
        return (
            "No interval of batch headers that ended in this window has been counted yet: each waits for ten minutes."
        )
    counted = f"Counted from {wording.utc(row['from_ms'])} to {wording.utc(row['to_ms'])}, in intervals of 10 minutes"
    spanned, without = round((row["to_ms"] - row["from_ms"]) / INTERVAL_MS), row["windows"] - row["with_headers"]
    if spanned > row["windows"]:
        counted += (
            f": {wording.count(row['windows'])} of {wording.count(spanned)} intervals; the others were not counted"
        )
    return counted + (f"; in {wording.plural(without, 'interval')} no header was read." if without else ".")


def sequence_row(row: Row) -> dict[str, object]:
    return {
        "Topic": cut(row["topic"]),
        "Producer": str(row["producer_id"]),
        "Epoch": row["producer_epoch"],
        "Passed over": row["passed_over"],
        "Repeated": row["repeated"],
        "Gaps": row["gaps"],
        "Records": row["records"],
        "Batches": row["batches"],
        "Partitions": row["partitions"],
    }


def transaction_row(row: Row) -> dict[str, object]:
    lasted = row["longest_ms"]
    return {
        "Topic": cut(row["topic"]),
        "Producer": str(row["producer_id"]),
        "Committed": row["committed"],
        "Aborted": row["aborted"],
        "Open": row["open"],
        "Torn": row["torn"],
        "Records wasted": row["records_aborted"],
        "Records committed": row["records_committed"],
        "Longest": None if lasted is None else wording.duration(max(0, lasted)),
        "Without data": row["without_data"],
        "Partitions": row["partitions"],
    }
