"""What may be reported on: incidents, pipelines, the cluster; and of which time. Put together from cached answers."""

from collections.abc import Mapping

from dashboard import answers, incident_answers, incident_rows, wording
from dashboard.incident_rows import Judged
from dashboard.names import cut
from dashboard.reports.making import LENGTHS_MS, Request, last
from dashboard.view import View

REPORTS: Mapping[str, str] = {
    "incident": "Incident: what happened, what proves it, whom it touched",
    "delivery": "Delivery: did a pipeline keep its promise",
    "durability": "Durability: how safe was what the cluster stored",
}
OF_THE_TOOLBAR = "window"
TIMES: Mapping[str, str] = {
    OF_THE_TOOLBAR: "the window of the toolbar",
    **{name: f"last {name}" for name in LENGTHS_MS},
}


def subjects(view: View, kind: str, asked: str | None) -> dict[str, str]:
    """Whom a report can be about, with the words for it; what a link asks for is always among them."""
    known = _known(view, kind)
    return known if not asked or asked in known else {asked: _asked(view, kind, asked), **known}


def _asked(view: View, kind: str, asked: str) -> str:
    """An incident of another window, or of one of the pipelines that share a row, is named as the others are."""
    incident = incident_answers.named(view, asked) if kind == "incident" else None
    return cut(asked) if incident is None else _words(incident_answers.judged(view, incident))


def _known(view: View, kind: str) -> dict[str, str]:
    if kind == "delivery":
        return {one.name: cut(one.name) for one in answers.pipelines(view)}
    if kind == "durability":
        return {view.cluster: cut(view.cluster)}
    return {one.incident.incident_id: _words(one) for one in incident_answers.rows(view)}


def _words(one: Judged) -> str:
    incident = one.incident
    return f"{wording.utc(incident.from_ms)} · {cut(incident_rows.of_what(one), 60)} · {cut(incident.title, 80)}"


def request(view: View, kind: str, subject: str, time: str, now_ms: int) -> Request:
    """What the choices on the page ask for."""
    start, end = (view.from_ms, view.to_ms) if time == OF_THE_TOOLBAR else last(time, now_ms)
    return Request(kind, subject, start, end)


def incident_row(one: Judged, view: View) -> dict[str, object]:
    """A row of the list of the page of incidents, with the id that a report is made of."""
    incident = one.incident
    return {
        "Incident": incident.incident_id,
        "Verdict": incident_rows.verdict(one),
        "Pipeline or topic": incident_rows.of_what(one),
        "Began (UTC)": wording.since(incident.from_ms, view.to_ms),
        "State": incident_rows.state(one),
        "What": cut(incident.title, 120),
        "Findings": len(incident.findings),
        "Worst": wording.SEVERITIES[incident.severity],
    }
