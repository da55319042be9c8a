"""What the page of an incident asks about, put together from cached answers.

What happened is told as it is known now, whatever the window: a loss is found minutes after its cause, and a link to
last night must tell all of it. The window decides what is drawn, and which incidents are listed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dashboard import (
    actions,
    answers,
    cached,
    cause_answers,
    concerns,
    expired,
    explained,
    incident_places,
    incident_rows,
    incident_story,
    kept,
    known_findings,
    rebalances_read,
)
from dashboard.actions import IncidentHandling
from dashboard.concerns import Concern
from dashboard.incident_places import Places
from dashboard.incident_rows import Judged
from dashboard.incident_story import Story
from dashboard.remembered import remembered
from dashboard.view import View
from guarantees import completeness
from guarantees.incidents import Incident, every_incident
from guarantees.lifecycle import FindingHistory
from guarantees.links import Cause
from guarantees.promises import Pipeline
from guarantees.unknown import Unknown
from store.segments import HOUR_MS

EXPIRED = Unknown("everything but the findings: the samples of this time have expired")


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a cluster now: its incidents, the most severe first, by every name one has had, by finding."""

    cluster_id: str | None
    findings: Mapping[str, FindingHistory]
    pipelines: tuple[Pipeline, ...]
    concerns: Mapping[str, Concern]
    causes: Mapping[str, tuple[Cause, ...]]
    incidents: Sequence[Incident]
    by_name: Mapping[str, Incident]
    by_finding: Mapping[str, Sequence[Incident]]


def known(view: View) -> Known:
    """As of now. The pipelines are those of the window's end; of the newest round where none is kept of then."""
    at = _standpoint(replace(view, search="", is_dark=False, refresh_s=None))
    return _known(cached.data_dir(), known_findings.version(), at)


@remembered(20)
def _known(data_dir: str, version: str, view: View) -> Known:
    cluster_id = _cluster_id(view)
    histories = known_findings.newest(cluster_id) if cluster_id else {}
    findings, pipelines = [history.finding for history in histories.values()], answers.pipelines(view)
    rebalances = cause_answers.rebalances(cluster_id, findings, view.to_ms) if cluster_id else []
    why = explained.causes_of(findings, rebalances, cluster_id or "", pipelines)
    incidents = every_incident(findings, why, pipelines)
    by_name = {name: one for one in incidents for name in one.known_as}
    judged = {one.finding.finding_id: one for one in concerns.concerns(histories.values(), pipelines)}
    by_finding: dict[str, list[Incident]] = {}
    for incident in incidents:
        for finding in incident.findings:
            by_finding.setdefault(finding.finding_id, []).append(incident)
    return Known(cluster_id, histories, pipelines, judged, why, incidents, by_name, by_finding)


def _standpoint(view: View) -> View:
    """A window whose samples have expired says nothing of cluster and pipelines: the newest samples do."""
    newest_ms = kept.newest_hour_ms(Path(cached.data_dir()))
    if newest_ms is None or cached.heard(view) is not None:
        return view
    return replace(view, from_ms=newest_ms, to_ms=newest_ms + HOUR_MS)


def _cluster_id(view: View) -> str | None:
    """Where no round is kept, the only cluster that findings tell of; of several nobody knows which it is."""
    heard, told = cached.heard(view), known_findings.cluster_ids()
    return heard.cluster_id if heard else told[0] if len(told) == 1 else None


def listed(view: View) -> list[Incident]:
    """Those that lasted into the window and that the search finds."""
    return [one for one in known(view).incidents if _lasts_into(one, view) and view.finds(*_names(one))]


def named(view: View, name: str) -> Incident | None:
    """The incident of a link, by any identity it has had."""
    return known(view).by_name.get(name)


def of_finding(view: View, finding_id: str) -> list[Incident]:
    """The incidents a finding belongs to, one a pipeline: the worst, then the longest story first."""
    now = known(view)
    found = (_judged(now, one) for one in now.by_finding.get(finding_id, ()))
    return [one.incident for one in sorted(found, key=incident_rows.worst_and_longest_first)]


def judged(view: View, incident: Incident) -> Judged:
    """The incident with what its findings mean for its promise, and what people did about each of them."""
    one = _judged(known(view), incident)
    return replace(one, concerns=tuple(concerns.with_handling(one.concerns, known_findings.handled())))


def rows(view: View) -> list[Judged]:
    """The rows of the list, worst first."""
    now = known(view)
    return incident_rows.together(_judged(now, one) for one in listed(view))


def shown(found: Iterable[Judged], view: View) -> list[dict[str, object]]:
    """The cells of some of these rows."""
    done = known_findings.of_incidents()
    return [incident_rows.row(one, actions.incident_handling(one.incident.known_as, done), view) for one in found]


def _judged(now: Known, incident: Incident) -> Judged:
    return incident_rows.judged(incident, [now.concerns[one.finding_id] for one in incident.findings])


def story(view: View, incident: Incident, unseen: Iterable[Unknown] = ()) -> Story:
    """`unseen`: what the window lacks, where that is told."""
    now = known(view)
    gone = rebalances_read.not_looked_for(Path(cached.data_dir()), incident.findings, now.causes)
    return incident_story.story(incident, now.pipelines, now.causes, known_findings.handled(), (*unseen, *gone))


def unseen(view: View, incident: Incident) -> list[Unknown]:
    """What nobody saw in the window: what kept the pipeline's promise from being judged, or the gaps; or all of it."""
    oldest_ms = expired.samples_since_ms()
    if oldest_ms is None or view.to_ms <= oldest_ms:
        return [EXPIRED]
    own = [one.judged for one in answers.standings(view.without_search()) if one.pipeline.name == incident.pipeline]
    return [*own[0].unknowns] if own else completeness.gaps(answers.rounds_seen(view))


def handling(incident: Incident) -> IncidentHandling:
    """What people did about it until now, under any of its identities."""
    return actions.incident_handling(incident.known_as, known_findings.of_incidents())


def joined_later(view: View, incident: Incident, at_ms: int) -> int:
    """How many of its findings Tidemark found after a moment."""
    histories = known(view).findings
    return sum(histories[one.finding_id].opened_at_ms > at_ms for one in incident.findings)


def places(view: View, incident: Incident) -> Places:
    return incident_places.places(incident, known(view).pipelines)


def _lasts_into(incident: Incident, view: View) -> bool:
    return incident.from_ms <= view.to_ms and (incident.to_ms is None or incident.to_ms >= view.from_ms)


def _names(incident: Incident) -> list[str | None]:
    places = (finding.place for finding in incident.findings)
    named = {name for place in places for name in (place.topic, place.group_id)}
    return [incident.pipeline, incident.incident_id, *named, *(finding.title for finding in incident.findings)]
