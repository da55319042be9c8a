"""Requests for exact audits and their runs, as the page lists them. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dashboard import wording
from dashboard.names import cut
from guarantees.audits import Job
from store.audit_requests import AuditRequest, Requested, RunState

Row = Mapping[str, Any]

STATES: Mapping[RunState, str] = {
    RunState.WAITING: "◷ Waiting",
    RunState.RUNNING: "▶ Running",
    RunState.DONE: "✓ Done",
    RunState.CANCELLED: "– Cancelled",
    RunState.FAILED: "✕ Failed",
}
ASKED = "◷ Asked for"  # and not seen by the record jobs yet
JOBS: Mapping[Job, str] = {
    Job.AUDIT: "Duplicates and losses",
    Job.DUPLICATES: "Duplicates",
    Job.LOSSES: "Losses",
    Job.ORDER: "Order within keys",
    Job.CONTENT: "Content of batches",
}
SEEN_WITHIN_MS = 10_000
UNSEEN = "The record jobs have not seen this request: see Health for whether they run. It stays asked for."


def unseen(found: Requested, runs: Iterable[Row], pipeline: str) -> list[AuditRequest]:
    """Requests for a pipeline of which the record jobs have said nothing yet, and which nobody has cancelled."""
    seen = {row["run_id"] for row in runs}
    return [
        request
        for request in found.requests
        if request.pipeline == pipeline and request.run_id not in seen and request.run_id not in found.cancelled
    ]


def newest_only(requests: Sequence[AuditRequest], runs: Sequence[Row]) -> list[AuditRequest]:
    """Of a long list of runs only the newest are read: what is older than those has been seen."""
    oldest = min((row["requested_at_ms"] for row in runs), default=0)
    return [request for request in requests if request.at_ms >= oldest]


def is_open(row: Row) -> bool:
    return not RunState(row["state"]).is_over


def run_row(row: Row, at_ms: int) -> dict[str, object]:
    """One run as the list shows it."""
    return {
        "State": STATES[RunState(row["state"])],
        "Window (UTC)": wording.span(row["from_ms"], row["to_ms"]).removesuffix(" UTC"),
        "Counted": JOBS[Job(row["job"])],
        "Asked by": cut(row["requested_by"] or "nobody named"),
        "Asked": wording.age(row["requested_at_ms"], at_ms),
        "Slices": _of(row["slices_done"], row["slices_planned"]),
        "Offsets read": _of(row["offsets_read"], row["offsets_planned"]),
        "Because": cut(row["reason"] or "", 160),
    }


def request_row(request: AuditRequest, at_ms: int) -> dict[str, object]:
    """One request that nobody has taken up yet."""
    return {
        "State": ASKED,
        "Window (UTC)": wording.span(request.from_ms, request.to_ms).removesuffix(" UTC"),
        "Counted": JOBS[request.job],
        "Asked by": cut(request.who or "nobody named"),
        "Asked": wording.age(request.at_ms, at_ms),
        "Slices": "–",
        "Offsets read": "–",
        "Because": UNSEEN if at_ms - request.at_ms > SEEN_WITHIN_MS else "",
    }


def progress(row: Row) -> tuple[float, str]:
    """The share that is done, and the words beside it."""
    if row["state"] == RunState.WAITING or not row["offsets_planned"]:
        return 0.0, "Waiting" + (f": {row['reason']}" if row["reason"] else " for its first slice")
    share = min(1.0, row["slices_done"] / max(1, row["slices_planned"]))
    return share, (
        f"{(row['step'] or 'reading').capitalize()}: {row['slices_done']} of about {row['slices_planned']} slices, "
        f"{wording.count(row['offsets_read'])} of {wording.count(row['offsets_planned'])} offsets read"
    )


def shown(runs: Sequence[Row], asked: str | None, from_ms: int, to_ms: int) -> Row | None:
    """The run whose result is shown: that of the link, else of the window on screen, else the newest that is done."""
    done = [row for row in runs if row["state"] == RunState.DONE]
    of_window = [row for row in done if (row["from_ms"], row["to_ms"]) == (from_ms, to_ms)]
    linked = [row for row in runs if row["run_id"] == asked]
    return next(iter([*linked, *of_window, *done]), None)


def _of(done: int, planned: int) -> str:
    return f"{wording.count(done)} of {wording.count(planned)}" if planned else "–"
