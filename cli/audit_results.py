"""An exact audit as one line of JSON, and the exit code a scheduler acts on. Pure."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from cli.findings import utc
from store.audit_requests import RunState

CLEAN, FOUND, NOT_DONE = 0, 1, 3  # 2 is a mistake of the caller
VERDICTS = {CLEAN: "clean", FOUND: "found", NOT_DONE: "incomplete"}

COUNTED = (
    "without_id", "not_json", "ids", "extra_copies", "lost", "late", "waiting", "surplus",
    "without_key", "without_place", "ordered", "keys", "keys_elsewhere", "out_of_order", "repeated", "numbers_missing",
    "batches", "batches_compared", "batches_differing", "copies_silent",
)  # fmt: skip
ACCOUNTED = ("visible", "aborted", "markers", "compacted", "unexplained", "below_log_start", "undecided")
BROKEN = ("extra_copies", "lost", "surplus", "out_of_order", "batches_differing")

Row = Mapping[str, Any]


def exit_code(run: Row, ranges: Iterable[Row]) -> int:
    """0: done, nothing found, nothing unseen. 1: something was found. 3: not done, or nothing found in a part."""
    if run["state"] != RunState.DONE:
        return NOT_DONE
    if any(row[name] for row in ranges for name in BROKEN):
        return FOUND
    return CLEAN if run["is_whole"] else NOT_DONE


def as_json(run: Row, ranges: Iterable[Row]) -> dict[str, object]:
    """The result; what was not counted is null, never 0."""
    rows = list(ranges)
    return {
        "run_id": run["run_id"],
        "job": run["job"],
        "pipeline": run["pipeline"],
        "from": utc(run["window_from"]),
        "to": utc(run["window_to"]),
        "state": run["state"],
        "reason": run["reason"],
        "verdict": VERDICTS[exit_code(run, rows)],
        "is_whole": run["is_whole"],
        **{side: _side([row for row in rows if row["side"] == side]) for side in ("source", "sink")},
        "slices": run["slices_done"],
        "offsets_read": run["offsets_read"],
        "records_compared": run["records"],
        "busy_s": round(run["busy_s"], 3),
        "cpu_s": round(run["cpu_s"], 3),
        "blind_spots": json.loads(run["blind_spots"] or "[]"),
    }


def progress(run: Row) -> str:
    """One line for a person who waits."""
    if run["state"] != RunState.RUNNING:
        return f"{run['state']}: {run['reason']}" if run["reason"] else str(run["state"])
    return (
        f"{run['step']}: slice {run['slices_done']} of about {run['slices_planned']}, "
        f"{run['offsets_read']:,} of {run['offsets_planned']:,} offsets"
    )


def _side(rows: list[Row]) -> dict[str, object] | None:
    if not rows:
        return None
    return {
        "topic": rows[0]["topic"],
        "partitions": len(rows),
        "offsets": sum(row["next_offset"] - row["first_offset"] for row in rows),
        **{name: sum(row[name] for row in rows) for name in ACCOUNTED},
        **{name: _counted(rows, name) for name in COUNTED},
    }


def _counted(rows: list[Row], name: str) -> int | None:
    known = [row[name] for row in rows if row[name] is not None]
    return sum(known) if len(known) == len(rows) else None
