"""Findings with the pipelines they concern, what they mean for the promises, and in which order to read them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from dashboard import wording
from dashboard.actions import UNTOUCHED, Handling
from dashboard.view import View
from guarantees.findings import Finding, Kind
from guarantees.lifecycle import FindingHistory
from guarantees.promises import Pipeline, Verdict, judge
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


class ByTopic:
    """Findings by topic: a finding concerns a pipeline only by a topic of its own (guarantees.verdicts.concerns)."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._by_topic: dict[str | None, list[Finding]] = {}
        for finding in findings:
            self._by_topic.setdefault(finding.place.topic, []).append(finding)

    def near(self, pipeline: Pipeline) -> list[Finding]:
        """Those on the pipeline's topics."""
        topics = dict.fromkeys((pipeline.source, pipeline.sink))
        return [finding for topic in topics for finding in self._by_topic.get(topic, ())]


def concerns(histories: Iterable[FindingHistory], pipelines: Sequence[Pipeline]) -> list[Concern]:
    """Worst first: open before closed, then by verdict, severity and the newest evidence."""
    by_topic: dict[str | None, list[Pipeline]] = {}
    for pipeline in pipelines:
        for topic in {pipeline.source, pipeline.sink}:
            by_topic.setdefault(topic, []).append(pipeline)
    found = [
        Concern(history, tuple(_touched(history.finding, by_topic.get(history.finding.place.topic, ()))))
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
