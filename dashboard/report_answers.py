"""What may be reported on: incidents, pipelines, the cluster; and of which time. Put together from cached answers."""

from collections.abc import Mapping

from dashboard import answers, cached, cause_answers, known_findings, wording
from dashboard.names import cut
from dashboard.reports.making import LENGTHS_MS, Request, last
from dashboard.view import View
from guarantees.incidents import Incident, incidents

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


def known_incidents(view: View) -> list[Incident]:
    """Those that lasted into the window and that the search finds, the newest first."""
    found = [one for one in _incidents(view.without_search()) if one.to_ms is None or one.to_ms >= view.from_ms]
    return [one for one in found if view.finds(one.pipeline, one.title, one.incident_id)]


@cached.shared
def _incidents(view: View) -> list[Incident]:
    findings = [history.finding for history in known_findings.findings(view).values()]
    found = incidents(findings, cause_answers.causes(view), answers.pipelines(view))
    return sorted(found, key=lambda one: (-one.from_ms, one.incident_id))


def subjects(view: View, kind: str, asked: str | None) -> dict[str, str]:
    """Whom a report can be about, with the words for it; what a link asks for is always among them."""
    known = _known(view, kind)
    return known if not asked or asked in known else {asked: cut(asked), **known}


def _known(view: View, kind: str) -> dict[str, str]:
    if kind == "delivery":
        return {one.name: cut(one.name) for one in answers.pipelines(view)}
    if kind == "durability":
        return {view.cluster: cut(view.cluster)}
    return {
        one.incident_id: f"{wording.utc(one.from_ms)} · {cut(one.pipeline or 'no pipeline', 40)} · {cut(one.title, 80)}"
        for one in known_incidents(view)
    }


def request(view: View, kind: str, subject: str, time: str, now_ms: int) -> Request:
    """What the choices on the page ask for."""
    start, end = (view.from_ms, view.to_ms) if time == OF_THE_TOOLBAR else last(time, now_ms)
    return Request(kind, subject, start, end)


def incident_row(one: Incident, view: View) -> dict[str, object]:
    return {
        "Incident": one.incident_id,
        "Pipeline": cut(one.pipeline or "–"),
        "Began (UTC)": wording.since(one.from_ms, view.to_ms),
        "State": str(one.state),
        "What": cut(one.title, 120),
        "Findings": len(one.findings),
        "Worst": wording.SEVERITIES[one.severity],
    }
