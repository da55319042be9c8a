"""Incidents as rows of a list, and the sentences about how they stand."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dashboard import finding_groups, incident_story, incident_verdict, wording
from dashboard.actions import Attention, IncidentHandling
from dashboard.concerns import Concern
from dashboard.incident_story import Total
from dashboard.names import cut
from dashboard.view import View
from guarantees.findings import Bounds, Finding
from guarantees.incidents import Incident
from guarantees.promises import Verdict
from guarantees.unknown import Unknown

PIPELINES_NAMED = 3
ATTENTION = {
    Attention.OPEN: "–",
    Attention.ACKNOWLEDGED: "☑ acknowledged",
    Attention.EXPLAINED: "✎ explained",
    Attention.CLOSED: "▣ closed",
}


@dataclass(frozen=True, slots=True)
class Judged:
    """An incident, its findings as they bear on its own pipeline (worst first), and all pipelines that share them."""

    incident: Incident
    concerns: tuple[Concern, ...]
    pipelines: tuple[str, ...]

    @property
    def verdict(self) -> Verdict | None:
        return self.concerns[0].verdict if self.concerns else None

    @property
    def decisive(self) -> Finding:
        """The surest of the findings that make the verdict."""
        return incident_verdict.decisive((one.verdict, one.finding) for one in self.concerns)

    @property
    def lasting(self) -> int:
        return sum(one.finding.closed_reason is None for one in self.concerns)


def judged(incident: Incident, found: Iterable[Concern]) -> Judged:
    """`found`: what its findings mean for the promises of all pipelines."""
    own = [
        Concern(one.history, tuple(pair for pair in one.broken if pair[0].name == incident.pipeline), one.handling)
        for one in found
    ]
    order = sorted(own, key=lambda one: (_rank(one.verdict), -one.finding.severity, one.finding.happened_at_ms))
    return Judged(incident, tuple(order), (incident.pipeline,) if incident.pipeline else ())


def together(known: Iterable[Judged]) -> list[Judged]:
    """One row for incidents of several pipelines that are made of the same findings, judged by the worst; worst first.

    An election of a topic that fifty groups read is one row, not fifty.
    """
    shared: dict[tuple[str, ...], list[Judged]] = {}
    for one in known:
        shared.setdefault(tuple(finding.finding_id for finding in one.incident.findings), []).append(one)
    return sorted(map(_as_one, shared.values()), key=worst_first)


def row(one: Judged, handling: IncidentHandling, view: View) -> dict[str, object]:
    incident = one.incident
    totals = incident_story.totals(tuple(incident_story.losses(incident.findings)))
    return {
        "Verdict": verdict(one),
        "When (UTC)": _when(incident, view),
        "Pipeline or topic": of_what(one),
        "Began with": wording.KINDS[incident.first_cause.kind],
        "State": state(one),
        "Handling": ATTENTION[handling.state],
        "Size": sizes(totals) or "nothing counted",
        "Grade": one.decisive.grade.value,
        "Findings": len(incident.findings),
        "Incident": cut(incident.title, 140),
    }


def verdict(one: Judged) -> str:
    """What it means for its promise, as icon and word."""
    return wording.LOOKS[one.verdict].text if one.verdict else wording.INFORMATION


def of_what(one: Judged) -> str:
    """Its pipelines, or the topics where none reads or writes."""
    topics = dict.fromkeys(finding.place.topic or "the cluster" for finding in one.incident.findings)
    names = one.pipelines or tuple(f"{topic} (no pipeline)" for topic in topics)
    shown = ", ".join(cut(name, 40) for name in names[:PIPELINES_NAMED])
    rest = len(names) - PIPELINES_NAMED
    return f"{shown} and {wording.count(rest)} more" if rest > 0 else shown


def state(one: Judged) -> str:
    """How many of its findings are open."""
    total = len(one.concerns)
    if one.lasting in (0, total):
        return "open" if one.lasting else "closed"
    return f"{wording.count(one.lasting)} of {wording.count(total)} open"


def sizes(totals: Iterable[Total]) -> str:
    """What it did to records, each with its interval: `lost 41 (38 to 44) message ids`."""
    return "; ".join(f"{total.effect} {amount(total.amount)}" for total in totals)


def amount(value: Bounds | Unknown) -> str:
    return f"unknown how many ({value.reason})" if isinstance(value, Unknown) else wording.bounds(value)


def standing(one: Judged) -> str:
    """Whether its findings last, as a sentence."""
    total = len(one.concerns)
    if not one.lasting:
        return f"Over: {'its finding is' if total == 1 else f'all {wording.count(total)} findings are'} closed."
    if one.lasting == total == 1:
        return "Its finding still lasts."
    return f"{wording.count(one.lasting)} of its {wording.plural(total, 'finding')} still last."


def handled(one: Judged, handling: IncidentHandling, joined_later: int) -> list[str]:
    """What a person's word leaves open: a closed incident hides nothing, and what came later was not meant by it."""
    if handling.state is Attention.OPEN:
        return []
    said = []
    if handling.state is Attention.CLOSED and one.lasting:
        said.append(
            f"A person closed it, and {wording.plural(one.lasting, 'finding')} still last: closing hides nothing. They "
            "stay on every page until their own evidence ends."
        )
    if joined_later:
        said.append(f"{wording.plural(joined_later, 'finding')} joined it after that was said.")
    return said


def events(one: Judged) -> Sequence[finding_groups.Event]:
    """Its findings as they are shown: one row for one event on many partitions."""
    return finding_groups.events(one.concerns)


def _as_one(shared: list[Judged]) -> Judged:
    worst = min(shared, key=worst_first)
    names = [name for one in sorted(shared, key=worst_first) for name in one.pipelines]
    return Judged(worst.incident, worst.concerns, tuple(names))


def worst_first(one: Judged) -> tuple[int, int, bool, int, str]:
    """By what it means for its promise, then by severity, those that last and the newest before the others."""
    incident = one.incident
    return _rank(one.verdict), -incident.severity, not one.lasting, -incident.from_ms, incident.pipeline or ""


def worst_and_longest_first(one: Judged) -> tuple[int, int, str]:
    """Of the incidents of one finding that which tells most of it."""
    return _rank(one.verdict), -len(one.concerns), one.incident.pipeline or ""


def _rank(verdict: Verdict | None) -> int:
    return wording.WORST_FIRST.index(verdict) if verdict else len(wording.WORST_FIRST)


def _when(incident: Incident, view: View) -> str:
    start = wording.since(incident.from_ms, view.to_ms)
    return f"{start} – {'now' if incident.to_ms is None else wording.since(incident.to_ms, view.to_ms)}"
