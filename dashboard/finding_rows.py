"""Rows of the tables of findings: an event, or one finding."""

from dashboard import durations, wording
from dashboard.concerns import Concern
from dashboard.finding_groups import Event
from dashboard.names import cut
from dashboard.view import View
from guarantees.findings import Grade


def event_row(event: Event, view: View) -> dict[str, object]:
    """Several findings as one row: what is not the same for all is said as a share or a range."""
    number = len(event.concerns)
    pipelines = {known.name: None for concern in event.concerns for known, _ in concern.broken}
    return {
        "Verdict": _verdict(event.worst),
        "Grade": _grades(event),
        "What": wording.KINDS[event.worst.finding.kind],
        "Finding": cut(event.title, 120),
        "How much": durations.how_much(event.bounds),
        "Since (UTC)": wording.since(event.since_ms, view.to_ms),
        "Findings": number,
        "State": _share(event.open_count, number, "open", "closed"),
        "Acknowledged": _acknowledged(event),
        "Pipeline": ", ".join(cut(name) for name in list(pipelines)[:3]) or "–",
    }


def finding_row(concern: Concern, view: View) -> dict[str, object]:
    alone = event_row(Event((concern,)), view)
    return {"Where": cut(concern.where)} | {name: value for name, value in alone.items() if name != "Findings"}


def _verdict(concern: Concern) -> str:
    return wording.LOOKS[concern.verdict].text if concern.verdict else "• Information"


def _grades(event: Event) -> str:
    order = list(Grade)
    grades = sorted({concern.finding.grade for concern in event.concerns}, key=order.index)
    return grades[0] if len(grades) == 1 else f"{grades[0]} to {grades[-1]}"


def _acknowledged(event: Event) -> str:
    first = event.worst.handling.acknowledged
    if len(event.concerns) == 1:
        return f"☑ {cut(first.who, 30)}" if first else "–"
    return _share(event.acknowledged_count, len(event.concerns), "☑ all", "–")


def _share(part: int, whole: int, all_of_them: str, none_of_them: str) -> str:
    if part == whole:
        return all_of_them
    return none_of_them if part == 0 else f"{wording.count(part)} of {wording.count(whole)}"
