"""Where a link to an incident leads: its identity or one of its findings, the cursor, and a window that holds it."""

from dashboard.view import LONGEST_MS, View, format_time
from guarantees.findings import Finding
from guarantees.incidents import Incident

PAGE = "dashboard/pages/incident.py"
AROUND_MS = 120_000  # before and after it, at least
SHARE = 10  # and a tenth of its length


def query(incident: Incident, view: View) -> dict[str, str]:
    """The parameters of the link. A window that holds the incident already stays, live or frozen."""
    asked = {"incident": incident.incident_id, "at": format_time(incident.first_cause.happened_at_ms)}
    return asked | _framed(incident.from_ms, newest_ms(incident), view)


def query_of(finding: Finding, view: View) -> dict[str, str]:
    """As `query`, by one of its findings: which incident that is, the page finds out."""
    asked = {"finding": finding.finding_id, "at": format_time(finding.happened_at_ms)}
    return asked | _framed(finding.happened_at_ms, finding.last_seen_at_ms, view)


def holds(view: View, incident: Incident) -> bool:
    """Whether a window shows it from its first cause to its newest evidence."""
    return view.from_ms <= incident.from_ms and view.to_ms >= newest_ms(incident)


def window(from_ms: int, newest_ms: int, now_ms: int) -> tuple[int, int]:
    """A stretch of time with a little before and after it; of one that is longer than any window its beginning."""
    around_ms = max(AROUND_MS, (newest_ms - from_ms) // SHARE)
    start = from_ms - around_ms
    return start, min(newest_ms + around_ms, max(now_ms, newest_ms), start + LONGEST_MS)


def newest_ms(incident: Incident) -> int:
    """Its newest evidence."""
    return max(finding.last_seen_at_ms for finding in incident.findings)


def _framed(from_ms: int, newest_ms: int, view: View) -> dict[str, str]:
    if view.from_ms <= from_ms and view.to_ms >= newest_ms:
        return {}
    start, end = window(from_ms, newest_ms, view.to_ms)
    return {"from": format_time(start), "to": format_time(end)}
