"""Findings with the pipelines they concern, what they mean for the promises, and in which order to read them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from dashboard import wording
from dashboard.actions import UNTOUCHED, Handling
from dashboard.view import View
from guarantees.findings import Finding, Kind
from guarantees.lifecycle import FindingHistory
from guarantees.promises import Pipeline, Verdict, judge
from guarantees.verdicts import OF_GROUP
from guarantees.verdicts import concerns as is_concerned


@dataclass(frozen=True, slots=True)
class Concern:
    """A finding with the promises it touches and what people did. `verdict` None: it breaks none, it is information."""

    history: FindingHistory
    broken: tuple[tuple[Pipeline, Verdict], ...]
    handling: Handling = UNTOUCHED

    @property
    def finding(self) -> Finding:
        return self.history.finding

    @property
    def verdict(self) -> Verdict | None:
        touched = [verdict for _, verdict in self.broken if verdict is not Verdict.OK]
        return min(touched, key=wording.WORST_FIRST.index, default=None)

    @property
    def is_acknowledged(self) -> bool:
        return self.handling.acknowledged is not None

    @property
    def where(self) -> str:
        """Topic, partition and group, as far as they apply."""
        place = self.finding.place
        partition = "" if place.partition is None else f"-{place.partition}"
        parts = (f"{place.topic}{partition}" if place.topic else None, place.group_id)
        return " · ".join(part for part in parts if part)


Reach = tuple[str | None, str | None]  # a topic, and the group where a finding is about one


class ByReach:
    """Findings by what they can concern: a topic, or a group on a topic (guarantees.verdicts.concerns)."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._by_reach: dict[Reach, list[Finding]] = {}
        for finding in findings:
            self._by_reach.setdefault(_reach(finding), []).append(finding)

    def near(self, pipeline: Pipeline) -> list[Finding]:
        """Those that can concern the pipeline."""
        return [finding for reach in _reaches(pipeline) for finding in self._by_reach.get(reach, ())]


def _reach(finding: Finding) -> Reach:
    return finding.place.topic, finding.place.group_id if finding.kind in OF_GROUP else None


def _reaches(pipeline: Pipeline) -> Iterable[Reach]:
    return [(pipeline.source, pipeline.group_id), *((topic, None) for topic in pipeline.topics)]


def concerns(histories: Iterable[FindingHistory], pipelines: Sequence[Pipeline]) -> list[Concern]:
    """Worst first: open before closed, then by verdict, severity and the newest evidence."""
    by_reach: dict[Reach, list[Pipeline]] = {}
    for pipeline in pipelines:
        for reach in _reaches(pipeline):
            by_reach.setdefault(reach, []).append(pipeline)
    found = [
        Concern(history, tuple(_touched(history.finding, by_reach.get(_reach(history.finding), ()))))
        for history in histories
    ]
    return sorted(found, key=_worst_first)


def with_handling(found: Iterable[Concern], handled: Mapping[str, Handling]) -> list[Concern]:
    """The same findings with what people did about them, by finding id."""
    return [
        replace(one, handling=handled[one.finding.finding_id]) if one.finding.finding_id in handled else one
        for one in found
    ]


def left_topics(findings: Iterable[Finding]) -> set[tuple[str, str]]:
    """Groups with the topics that none of their members reads any more, by open findings."""
    return {
        (str(one.place.group_id), str(one.place.topic))
        for one in findings
        if one.kind is Kind.STALE_SUBSCRIPTION and one.closed_reason is None
    }


def in_view(found: Iterable[Concern], view: View) -> list[Concern]:
    """Those that lasted into the window and match the search."""
    return [
        concern
        for concern in found
        if concern.finding.happened_at_ms <= view.to_ms
        and (concern.finding.closed_reason is None or concern.finding.last_seen_at_ms >= view.from_ms)
        and view.finds(concern.where, concern.finding.title, concern.finding.pipeline, concern.finding.finding_id)
    ]


def _touched(finding: Finding, pipelines: Sequence[Pipeline]) -> Iterable[tuple[Pipeline, Verdict]]:
    for pipeline in pipelines:
        if is_concerned(pipeline, finding):
            yield pipeline, judge(finding.kind, finding.severity, pipeline.promise)


def _worst_first(concern: Concern) -> tuple[bool, int, int, int]:
    finding = concern.finding
    rank = wording.WORST_FIRST.index(concern.verdict) if concern.verdict else len(wording.WORST_FIRST)
    return finding.closed_reason is not None, rank, -finding.severity, -finding.last_seen_at_ms
