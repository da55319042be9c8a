"""Where a link to an incident leads: its identity, the cursor, and a window that holds it."""

from dashboard.view import LONGEST_MS, View, format_time
from guarantees.incidents import Incident

PAGE = "dashboard/pages/incident.py"
AROUND_MS = 120_000  # before and after it, at least
SHARE = 10  # and a tenth of its length


def query(incident: Incident, view: View) -> dict[str, str]:
    """The parameters of the link. A window that holds the incident already stays, live or frozen."""
    asked = {"incident": incident.incident_id, "at": format_time(incident.first_cause.happened_at_ms)}
    if holds(view, incident):
        return asked
    start, end = window(incident, view.to_ms)
    return asked | {"from": format_time(start), "to": format_time(end)}


def holds(view: View, incident: Incident) -> bool:
    """Whether a window shows it from its first cause to its newest evidence."""
    return view.from_ms <= incident.from_ms and view.to_ms >= _newest_ms(incident)


def window(incident: Incident, now_ms: int) -> tuple[int, int]:
    """The incident with a little before and after it; of one that is longer than any window its beginning."""
    start, end = incident.from_ms, _newest_ms(incident)
    around_ms = max(AROUND_MS, (end - start) // SHARE)
    start -= around_ms
    return start, min(end + around_ms, max(now_ms, end), start + LONGEST_MS)


def _newest_ms(incident: Incident) -> int:
    return max(finding.last_seen_at_ms for finding in incident.findings)
