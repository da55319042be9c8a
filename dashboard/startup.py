"""How Tidemark itself is: what is done before the first answer, and whether each part lives."""

from collections.abc import Mapping, Sequence
from typing import Any

from dashboard import wording
from dashboard.freshness import STALE_AFTER_STEPS
from dashboard.names import in_markdown
from dashboard.view import View
from settings import Settings

Row = Mapping[str, Any]
PARTS: Mapping[str, str] = {
    "collect": "samples the cluster",
    "jobs": "reads records",
    "maintain": "merges and rolls up",
    "page": "this page",
}


def checklist(
    settings: Settings, view: View, attempts: Sequence[Row], parts: Sequence[Row]
) -> list[tuple[bool | None, str, str]]:
    """(done, what, how): None where it is not known yet."""
    cluster = next(known for known in settings.clusters if known.name == view.cluster)
    started = {row["part"]: row["event"] == "started" for row in parts}
    failure = next((row["error"] for row in attempts if row["error"]), None)
    return [
        (True, "Settings read", f"cluster {cluster.name}, {wording.plural(len(settings.pipelines), 'pipeline')}"),
        (started.get("collect"), "Collector started", _how(parts, "collect", "start it with: tidemark up")),
        (
            None if not attempts else failure is None,
            "Brokers reachable",
            failure or f"{cluster.bootstrap_servers}: the first answer is awaited",
        ),
        (None, "First round", f"due within {cluster.interval_s:g} s of the collector's start"),
        (started.get("jobs"), "Record jobs started", _how(parts, "jobs", "they start with: tidemark up")),
    ]


def parts_line(parts: Sequence[Row], newest: Mapping[str, tuple[int, int]], view: View) -> str:
    """One line for each part: alive by its own traces, died, or never seen. A dead part is said."""
    events = {row["part"]: row for row in parts}
    return "  \n".join(_part(name, events.get(name), newest.get(name), view) for name in PARTS)


def _part(name: str, event: Row | None, trace: tuple[int, int] | None, view: View) -> str:
    what = f"**{name}** :gray[{PARTS[name]}]"
    if event is not None and _has_written_since(event, trace):
        event = None
    if event is not None and event["event"] == "died":
        why = f"exit code {event['exit_code']}, {wording.age(event['observed_at_ms'], view.to_ms)}"
        return f":red-badge[✕ died] {what} {why}; it is started again. :gray[{in_markdown(event['message'] or '')}]"
    if event is not None and event["event"] == "stopped":
        return f":gray-badge[? stopped] {what} {wording.age(event['observed_at_ms'], view.to_ms)}"
    if trace is None:
        known = wording.age(event["observed_at_ms"], view.to_ms) if event else ""
        return f":gray-badge[… started] {what} {known}, no trace yet" if event else f":gray-badge[? not seen] {what}"
    newest_ms, step_ms = trace
    is_late = view.to_ms - newest_ms > STALE_AFTER_STEPS * step_ms
    badge = ":gray-badge[◷ silent]" if is_late else ":green-badge[✓ alive]"
    trace_words = "" if name == "page" else f" last wrote {wording.age(newest_ms, view.to_ms)}"
    return f"{badge} {what}{trace_words}"


def _has_written_since(event: Row, trace: tuple[int, int] | None) -> bool:
    """Whether a part outlived an event by more than its pace: only `tidemark up` tells events, of what it started."""
    return trace is not None and trace[0] - event["observed_at_ms"] > trace[1]


def _how(parts: Sequence[Row], name: str, remedy: str) -> str:
    row = next((row for row in parts if row["part"] == name), None)
    return remedy if row is None else f"{row['event']} at {wording.utc(row['observed_at_ms'])}"
