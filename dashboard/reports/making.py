"""From what was asked for to a document: which report, about whom, of which time."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

from dashboard.names import cut
from dashboard.reports import delivery_report, durability_report, incident_report
from dashboard.reports.document import Document
from dashboard.reports.hidden_ids import hide, ids_of
from dashboard.reports.look import Look, look
from guarantees.incidents import Incident
from guarantees.promises import Pipeline
from settings import Settings

DAY_MS = 86_400_000
HOUR_MS = 3_600_000
LENGTHS_MS = {"day": DAY_MS, "week": 7 * DAY_MS, "month": 31 * DAY_MS}
KINDS = ("incident", "delivery", "durability")
NEAREST = 5

Said = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Request:
    """`subject`: the id of an incident, the name of a pipeline, or of a cluster. An incident has its own window."""

    kind: str
    subject: str
    from_ms: int
    to_ms: int


class NothingToReportError(Exception):
    """There is no such incident, pipeline or cluster; the message names the nearest known ones."""


def last(length: str, now_ms: int) -> tuple[int, int]:
    """The last day, week (7 days) or month (31 days), up to the last full hour."""
    to_ms = now_ms - now_ms % HOUR_MS
    return to_ms - LENGTHS_MS[length], to_ms


def make(settings: Settings, request: Request, made_ms: int, say: Said = lambda step: None) -> Document:
    """The report; `say` is told what is being done. Raises NothingToReportError."""
    say("reading the store")
    looked, document = _BY_KIND[request.kind](settings, request, made_ms)
    if settings.reports.ids == "hashed":
        say("hashing ids")
        document = hide(document, ids_of(looked.findings))
    return document


def looks(settings: Settings, request: Request, made_ms: int) -> Iterator[Look]:
    """At each cluster of the settings."""
    for cluster in settings.clusters:
        yield look(settings, cluster, request.from_ms, request.to_ms, made_ms)


def known_incidents(looked: Look) -> list[Incident]:
    """The newest first."""
    return sorted(looked.incidents, key=lambda one: -one.from_ms)


def _incident(settings: Settings, request: Request, made_ms: int) -> tuple[Look, Document]:
    known: list[str] = []
    for one in looks(settings, request, made_ms):
        found = known_incidents(one)
        known += [incident.incident_id for incident in found]
        for incident in found:
            if request.subject in incident.known_as:
                start, end = incident_report.window(incident, made_ms)
                own = replace(one, from_ms=start, to_ms=end)
                return own, incident_report.incident_report(own, incident)
    raise _nothing("incident has the id", request.subject, known)


def _delivery(settings: Settings, request: Request, made_ms: int) -> tuple[Look, Document]:
    known: list[str] = []
    for one in looks(settings, request, made_ms):
        pipeline: Pipeline | None = next((p for p in one.pipelines if p.name == request.subject), None)
        if pipeline is not None:
            return one, delivery_report.delivery_report(one, pipeline)
        known += [pipeline.name for pipeline in one.pipelines]
    raise _nothing("pipeline is named", request.subject, known)


def _durability(settings: Settings, request: Request, made_ms: int) -> tuple[Look, Document]:
    for one in looks(settings, request, made_ms):
        if one.stored.settings.name == request.subject:
            return one, durability_report.durability_report(one)
    raise _nothing("cluster is named", request.subject, [one.name for one in settings.clusters])


_BY_KIND = {"incident": _incident, "delivery": _delivery, "durability": _durability}


def _nothing(what: str, asked: str, known: Sequence[str]) -> NothingToReportError:
    near = get_close_matches(asked, known, n=NEAREST, cutoff=0.4) or list(known[:NEAREST])
    others = f"; the nearest known: {', '.join(map(cut, near))}" if near else "; none is known"
    return NothingToReportError(f"no {what} {cut(asked)!r}{others}")
