"""An exact audit as one line of JSON, and the exit code a scheduler acts on. Pure."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from cli.findings import utc
from dashboard.names import visible
from guarantees.audits import Job
from store.audit_requests import RunState

CLEAN, FOUND, NOT_DONE = 0, 1, 3  # 2 is a mistake of the caller
VERDICTS = {CLEAN: "clean", FOUND: "found", NOT_DONE: "incomplete"}
OF_COPIES_ALONE = "clean of duplicates"

COUNTED = (
    "without_id", "not_json", "ids", "extra_copies", "lost", "late", "waiting", "surplus",
    "without_key", "without_place", "ordered", "keys", "keys_elsewhere", "out_of_order", "repeated", "numbers_missing",
    "batches", "batches_compared", "batches_differing", "copies_silent",
)  # fmt: skip
ACCOUNTED = ("visible", "aborted", "markers", "compacted", "unexplained", "below_log_start", "undecided")
BROKEN = ("extra_copies", "lost", "surplus", "out_of_order", "batches_differing")
COVERS = {"duplicates": "extra_copies", "losses": "lost", "order": "out_of_order", "content": "batches_differing"}

Row = Mapping[str, Any]


def exit_code(run: Row, ranges: Iterable[Row]) -> int:
    """0: done, and nothing found in all of it. 1: something was found. 3: not done, or nothing found in a part."""
    if run["state"] != RunState.DONE:
        return NOT_DONE
    rows = list(ranges)
    if any(row[name] for row in rows for name in BROKEN):
        return FOUND
    return NOT_DONE if not_judged(run, rows) else CLEAN


def verdict(run: Row, rows: list[Row]) -> str:
    """The exit code as a word; where an audit could judge no losses, what alone is clean."""
    code = exit_code(run, rows)
    is_of_copies_alone = code == CLEAN and run["job"] == Job.AUDIT and covers(rows) == ["duplicates"]
    return OF_COPIES_ALONE if is_of_copies_alone else VERDICTS[code]


def covers(rows: list[Row]) -> list[str]:
    """What was counted at all. Losses are only where a sink is declared."""
    return [what for what, name in COVERS.items() if any(row[name] is not None for row in rows)]


def not_judged(run: Row, rows: list[Row]) -> list[str]:
    """Why a run that is done may not be called clean, in sentences; none: it may."""
    if run["state"] != RunState.DONE:
        return []
    said = [] if run["is_whole"] else ["the window is not whole"]
    said += [] if rows else ["a later audit of the same window has replaced the figures"]
    if waiting := sum(row["waiting"] or 0 for row in rows):
        said.append(f"ids the group had not passed for long enough: {waiting}")
    for side in ("source", "sink"):
        said += _not_judged(run["job"], [row for row in rows if row["side"] == side])
    return said


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
        "verdict": verdict(run, rows),
        "covers": covers(rows),
        "not_judged": not_judged(run, rows),
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
        return f"{run['state']}: {visible(run['reason'])}" if run["reason"] else str(run["state"])
    return (
        f"{run['step']}: slice {run['slices_done']} of about {run['slices_planned']}, "
        f"{run['offsets_read']:,} of {run['offsets_planned']:,} offsets"
    )


def _not_judged(job: str, own: list[Row]) -> list[str]:
    """Of one side: records or batches are there, and nothing to compare them by or with."""
    if job == Job.CONTENT:
        return [f"batches of {row['topic']}-{row['partition']} not compared: {row['batches']}"
                for row in own if row["batches"] and not row["batches_compared"]]  # fmt: skip
    records = sum(row["visible"] for row in own)
    judged = sum(row["ordered"] or 0 if job == Job.ORDER else row["visible"] - (row["without_id"] or 0) for row in own)
    what = "a key and a place" if job == Job.ORDER else "an id"
    return [f"no record of {own[0]['topic']} has {what}"] if records and not judged else []


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
