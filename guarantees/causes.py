"""What explains a finding: an earlier finding or an event, where the evidence says so; else the cause is not observed.

A pure function of findings at read time: nothing is stored, so a later and better link explains old findings too.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from guarantees.findings import Finding, Grade, Kind, Place
from guarantees.links import (
    REBALANCE_EXPLAINS_MS,
    Cause,
    EventLink,
    EvidenceLink,
    GroupRebalance,
    Link,
    LinkTable,
    SinkLink,
    WantedRebalances,
    earliest_ms,
)
from guarantees.promise_time import union
from guarantees.promises import Pipeline

NOT_OBSERVED = "cause not observed"

# One event strikes the partitions of a topic within a round or two; what is further from the effect is another event.
ONE_EVENT_MS = 10_000

# One event strikes many partitions of a source: so many of its findings are enough to explain one of the sink.
NEAREST = 20


def causes(
    findings: Iterable[Finding],
    rebalances: Iterable[GroupRebalance],
    pipelines: Iterable[Pipeline],
    links: LinkTable,
) -> dict[str, tuple[Cause, ...]]:
    """What explains each finding, by finding id, the surest and then the nearest first; no entry: not observed.

    A cause begins no later than its effect was seen, as far as samples tell; the link's own condition decides.
    """
    known = list(findings)
    earlier = _Earlier(known, rebalances, pipelines)
    found = {effect.finding_id: tuple(_ranked(effect, earlier.explaining(effect, links))) for effect in known}
    return {finding_id: explained for finding_id, explained in found.items() if explained}


def by_rebalances(findings: Iterable[Finding], links: LinkTable) -> list[Finding]:
    """The findings that a rebalance may explain."""
    kinds = {link.effect for link in links.rebalances}
    return [one for one in findings if one.kind in kinds and one.place.group_id is not None]


def wanted_rebalances(findings: Iterable[Finding], links: LinkTable) -> WantedRebalances | None:
    """What must be read to explain these findings, and no more; None where no rebalance explains any of them."""
    lasting = {link.effect for link in links.rebalances if link.while_it_lasts}
    by_group: dict[str, list[tuple[int, int]]] = {}
    for one in by_rebalances(findings, links):
        until_ms = one.happened_at_ms + REBALANCE_EXPLAINS_MS
        until_ms = max(until_ms, one.last_seen_at_ms) if one.kind in lasting else until_ms
        by_group.setdefault(str(one.place.group_id), []).append((wanted_from_ms(one), until_ms))
    spans = [(group_id, *span) for group_id, own in sorted(by_group.items()) for span in union(own)]
    return WantedRebalances(tuple(spans)) if spans else None


def wanted_from_ms(effect: Finding) -> int:
    """The earliest moment at which a rebalance that explains the finding may have been observed."""
    return effect.happened_at_ms - REBALANCE_EXPLAINS_MS


def followed_by(explained: Mapping[str, Sequence[Cause]]) -> dict[str, tuple[str, ...]]:
    """The other direction: which findings each finding explains."""
    found: dict[str, list[str]] = {}
    for effect_id, reasons in explained.items():
        for cause_id in dict.fromkeys(reason.finding_id for reason in reasons if reason.finding_id is not None):
            found.setdefault(cause_id, []).append(effect_id)
    return {cause_id: tuple(effects) for cause_id, effects in found.items()}


class _Earlier:
    """Findings and rebalances by place: a cause is looked up, never searched for among all findings."""

    def __init__(
        self, findings: Iterable[Finding], rebalances: Iterable[GroupRebalance], pipelines: Iterable[Pipeline]
    ) -> None:
        self._of_partition: dict[tuple[Kind, str, str | None, int | None], list[Finding]] = {}
        self._of_topic: dict[tuple[Kind, str, str | None], list[Finding]] = {}
        self._of_group: dict[tuple[str, str], list[GroupRebalance]] = {}
        self._writers: dict[str, list[Pipeline]] = {}
        for one in sorted(findings, key=earliest_ms):
            place = one.place
            self._of_partition.setdefault((one.kind, place.cluster_id, place.topic, place.partition), []).append(one)
            self._of_topic.setdefault((one.kind, place.cluster_id, place.topic), []).append(one)
        for rebalance in sorted(rebalances, key=_observed_ms):
            self._of_group.setdefault((rebalance.cluster_id, rebalance.group_id), []).append(rebalance)
        for pipeline in pipelines:
            if pipeline.sink is not None:
                self._writers.setdefault(pipeline.sink, []).append(pipeline)

    def explaining(self, effect: Finding, links: LinkTable) -> Iterator[Cause]:
        yield from self._by_findings(effect, links)
        yield from self._by_events(effect, links)

    def _by_findings(self, effect: Finding, links: LinkTable) -> Iterator[Cause]:
        for link in _of_kind(links.at_place, effect):
            yield from _nearest(_linked(link, effect, self._at_place(link.cause, effect.place)), effect)
        for to_sink in _of_kind(links.to_sink, effect):
            yield from _nearest(_linked(to_sink, effect, self._at_source(to_sink, effect)), effect)

    def _by_events(self, effect: Finding, links: LinkTable) -> Iterator[Cause]:
        for link in _of_kind(links.rebalances, effect):
            yield from _nearest(_by_rebalance(link, effect, self._rebalances(effect)), effect)
        for named in _of_kind(links.evidence, effect):
            yield from _by_evidence(named, effect)

    def _at_place(self, kind: Kind, place: Place) -> Iterator[Finding]:
        """Of the same topic id and partition, and of the same group where both name one."""
        for cause in self._of_partition.get((kind, place.cluster_id, place.topic, place.partition), ()):
            is_same_group = None in (cause.place.group_id, place.group_id) or cause.place.group_id == place.group_id
            if cause.place.topic_id == place.topic_id and is_same_group:
                yield cause

    def _at_source(self, link: SinkLink, effect: Finding) -> Iterator[Finding]:
        """The nearest before the effect, of the topic (and group) that the pipelines writing this topic read."""
        place, until_ms = effect.place, effect.happened_at_ms
        for pipeline in self._writers.get(place.topic or "", ()):
            found = self._of_topic.get((link.cause, place.cluster_id, pipeline.source), [])
            first = bisect_left(found, until_ms - link.within_ms, key=earliest_ms)
            own = [
                cause
                for cause in found[first : bisect_right(found, until_ms, key=earliest_ms)]
                if cause.place.group_id in (None, pipeline.group_id)
            ]
            yield from own[-NEAREST:]

    def _rebalances(self, effect: Finding) -> Sequence[GroupRebalance]:
        found = self._of_group.get((effect.place.cluster_id, effect.place.group_id or ""), [])
        return found[bisect_left(found, wanted_from_ms(effect), key=_observed_ms) :]


def _observed_ms(rebalance: GroupRebalance) -> int:
    return rebalance.observed_at_ms


AnyLink = TypeVar("AnyLink", Link, SinkLink, EventLink, EvidenceLink)


def _of_kind(links: Iterable[AnyLink], effect: Finding) -> Iterator[AnyLink]:
    return (link for link in links if link.effect is effect.kind)


def _nearest(found: Iterable[Cause], effect: Finding) -> Iterator[Cause]:
    """Of several causes of one kind those of the event that is nearest in time."""
    away_ms = [(abs(effect.happened_at_ms - cause.at_ms), cause) for cause in found]
    limit_ms = min((away for away, _ in away_ms), default=0) + ONE_EVENT_MS
    return (cause for away, cause in away_ms if away <= limit_ms)


def _linked(link: Link | SinkLink, effect: Finding, candidates: Iterable[Finding]) -> Iterator[Cause]:
    for cause in candidates:
        if cause is not effect and earliest_ms(cause) <= effect.happened_at_ms:
            statement = link.holds(effect, cause)
            if statement is not None:
                yield Cause(_in_words(link.holds), statement, cause.happened_at_ms, finding_id=cause.finding_id)


def _by_rebalance(link: EventLink, effect: Finding, candidates: Iterable[GroupRebalance]) -> Iterator[Cause]:
    for rebalance in candidates:
        statement = link.holds(effect, rebalance)
        if statement is not None:
            yield Cause(_in_words(link.holds), statement, rebalance.observed_at_ms, event=rebalance.event)


def _by_evidence(link: EvidenceLink, effect: Finding) -> Iterator[Cause]:
    found = link.holds(effect)
    if found is not None:
        statement, event, at_ms = found
        yield Cause(_in_words(link.holds), statement, at_ms, event=event)


def _in_words(holds: Callable[..., object]) -> str:
    return holds.__name__.strip("_").replace("_", " ")


def _ranked(effect: Finding, found: Iterable[Cause]) -> list[Cause]:
    surest_first = tuple(Grade)
    return sorted(
        found,
        key=lambda cause: (
            surest_first.index(cause.statement.grade),
            abs(effect.happened_at_ms - cause.at_ms),
            cause.link,
            cause.finding_id or "",
        ),
    )
