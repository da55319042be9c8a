"""Incidents: findings of one pipeline that belong together, told from the first cause to the last consequence."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise

from guarantees.causes import NOT_OBSERVED
from guarantees.findings import Finding, FindingState, Kind
from guarantees.links import Cause, whole_number
from guarantees.promises import Pipeline
from guarantees.times import utc
from guarantees.verdicts import concerns

# One event strikes the partitions of a topic within a few rounds.
TOGETHER_MS = 60_000
_ENDS_OF_LEADERS = frozenset({Kind.UNCLEAN_ELECTION, Kind.LOG_TRUNCATED, Kind.TAIL_TRUNCATED})


@dataclass(frozen=True, slots=True)
class Incident:
    """`findings` in the order they happened. Open while one of them is, and then `to_ms` is None.

    `pipeline` None: the findings concern no pipeline. The identity is that of the pipeline and the first cause: what
    follows later does not change it. An earlier cause that is found later does, so an incident answers to the identity
    that each of its findings would give it: what was linked or written under one of them still belongs to it.
    """

    pipeline: str | None
    findings: tuple[Finding, ...]
    sentences: tuple[str, ...]

    @property
    def first_cause(self) -> Finding:
        return self.findings[0]

    @property
    def incident_id(self) -> str:
        return identity(self.pipeline, self.first_cause)

    @property
    def known_as(self) -> frozenset[str]:
        """Every identity it has had or would have had: findings are never forgotten, so none of these is lost."""
        return frozenset(identity(self.pipeline, finding) for finding in self.findings)

    @property
    def title(self) -> str:
        others = len(self.findings) - 1
        return self.first_cause.title + (f", and {others:,} more finding{'s' * (others > 1)}" if others else "")

    @property
    def severity(self) -> int:
        return max(finding.severity for finding in self.findings)

    @property
    def state(self) -> FindingState:
        is_open = any(finding.state is FindingState.OPEN for finding in self.findings)
        return FindingState.OPEN if is_open else FindingState.CLOSED

    @property
    def from_ms(self) -> int:
        return min(finding.happened_at_ms for finding in self.findings)

    @property
    def to_ms(self) -> int | None:
        newest = max(finding.last_seen_at_ms for finding in self.findings)
        return None if self.state is FindingState.OPEN else newest


def identity(pipeline: str | None, first: Finding) -> str:
    """The name of the incident that begins with this finding."""
    return sha256(f"{pipeline or ''}\x1f{first.finding_id}".encode()).hexdigest()[:16]


def incidents(
    findings: Iterable[Finding], explained: Mapping[str, Sequence[Cause]], pipelines: Iterable[Pipeline]
) -> list[Incident]:
    """The incidents of every pipeline, the most severe first. `explained`: what `causes.causes` gave.

    Findings are connected where one explains the other, where one event explains both, where the same thing happened on
    several partitions at about the same time, or where partitions lost the same leader then. Overlapping in time alone
    connects nothing.
    """
    by_topic = _by_topic(findings)
    return _worst_first(
        _incident(pipeline.name, together, explained)
        for pipeline in pipelines
        for together in _connected(_of_pipeline(pipeline, by_topic), explained)
    )


def every_incident(
    findings: Iterable[Finding], explained: Mapping[str, Sequence[Cause]], pipelines: Iterable[Pipeline]
) -> list[Incident]:
    """Those of every pipeline, and those of findings that concern none of them; the most severe first."""
    known, watched = list(findings), list(pipelines)
    by_topic = _by_topic(known)
    concerned = {one.finding_id for pipeline in watched for one in _of_pipeline(pipeline, by_topic)}
    beside = _connected([one for one in known if one.finding_id not in concerned], explained)
    of_none = (_incident(None, together, explained) for together in beside)
    return _worst_first([*incidents(known, explained, watched), *of_none])


def _by_topic(findings: Iterable[Finding]) -> Mapping[str | None, list[Finding]]:
    """A finding concerns a pipeline by a topic of its own: of many pipelines each looks at its own topics alone."""
    found: dict[str | None, list[Finding]] = {}
    for one in findings:
        found.setdefault(one.place.topic, []).append(one)
    return found


def _of_pipeline(pipeline: Pipeline, by_topic: Mapping[str | None, list[Finding]]) -> list[Finding]:
    return [one for topic in pipeline.topics for one in by_topic.get(topic, ()) if concerns(pipeline, one)]


def _worst_first(found: Iterable[Incident]) -> list[Incident]:
    return sorted(found, key=lambda one: (-one.severity, one.from_ms, one.pipeline or "", one.incident_id))


def _incident(pipeline: str | None, together: list[Finding], explained: Mapping[str, Sequence[Cause]]) -> Incident:
    told = _in_order(together, explained)
    return Incident(pipeline, told, tuple(_sentence(one, explained) for one in told))


def _in_order(together: Sequence[Finding], explained: Mapping[str, Sequence[Cause]]) -> tuple[Finding, ...]:
    """By time, but a cause before its effects: samples of one round may come in any order."""
    waiting = {one.finding_id: one for one in sorted(together, key=lambda one: (one.happened_at_ms, one.finding_id))}
    told: list[Finding] = []
    while waiting:
        ready = (one for one in waiting.values() if not _causes_within(one, explained, waiting))
        # Causes that explain each other in a circle are told by time.
        first = next(ready, next(iter(waiting.values())))
        told.append(waiting.pop(first.finding_id))
    return tuple(told)


def _causes_within(
    finding: Finding, explained: Mapping[str, Sequence[Cause]], others: Mapping[str, Finding]
) -> list[Cause]:
    return [c for c in explained.get(finding.finding_id, ()) if c.finding_id in others]


def _sentence(finding: Finding, explained: Mapping[str, Sequence[Cause]]) -> str:
    reasons = explained.get(finding.finding_id, ())
    why = f"{reasons[0].statement.text} ({reasons[0].statement.grade})" if reasons else f"{NOT_OBSERVED.capitalize()}."
    return f"{utc(finding.happened_at_ms)}: {finding.title}. {why}"


def _connected(findings: Sequence[Finding], explained: Mapping[str, Sequence[Cause]]) -> list[list[Finding]]:
    """The findings in groups that share an edge, directly or by others."""
    leader = {finding.finding_id: finding.finding_id for finding in findings}

    def root(finding_id: str) -> str:
        while leader[finding_id] != finding_id:
            leader[finding_id] = leader[leader[finding_id]]
            finding_id = leader[finding_id]
        return finding_id

    for one, other in _edges(findings, explained):
        if one in leader and other in leader:
            leader[root(one)] = root(other)
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(root(finding.finding_id), []).append(finding)
    return list(groups.values())


def _edges(findings: Sequence[Finding], explained: Mapping[str, Sequence[Cause]]) -> Iterator[tuple[str, str]]:
    by_event: dict[str, str] = {}
    for finding in findings:
        for cause in explained.get(finding.finding_id, ()):
            if cause.finding_id is not None:
                yield finding.finding_id, cause.finding_id
            if cause.event is not None:
                yield finding.finding_id, by_event.setdefault(cause.event, finding.finding_id)
    yield from _simultaneous(findings, explained)
    yield from _of_one_broker(findings)


def _simultaneous(findings: Sequence[Finding], explained: Mapping[str, Sequence[Cause]]) -> Iterator[tuple[str, str]]:
    """The same kind on other partitions, begun within a minute of the one before; not where each has its own cause."""
    in_order = sorted(findings, key=lambda one: (one.kind, one.place.topic or "", one.happened_at_ms))
    for one, following in pairwise(in_order):
        is_same = (one.kind, one.place.topic) == (following.kind, following.place.topic)
        is_together = following.happened_at_ms - one.happened_at_ms <= TOGETHER_MS
        has_own_causes = bool(explained.get(one.finding_id)) and bool(explained.get(following.finding_id))
        if is_same and is_together and not has_own_causes:
            yield one.finding_id, following.finding_id


def _of_one_broker(findings: Sequence[Finding]) -> Iterator[tuple[str, str]]:
    """A broker that fails takes every partition it led along, each of which elects in an epoch of its own."""
    fallen = [(broker, one) for one in findings if (broker := _fallen_leader(one)) is not None]
    in_order = sorted(fallen, key=lambda pair: (pair[0], pair[1].happened_at_ms))
    for (broker, one), (next_broker, following) in pairwise(in_order):
        if broker == next_broker and following.happened_at_ms - one.happened_at_ms <= TOGETHER_MS:
            yield one.finding_id, following.finding_id


def _fallen_leader(finding: Finding) -> int | None:
    """Who led before a log was cut or a leader elected uncleanly; where nobody did, the only one that was in sync."""
    if finding.kind not in _ENDS_OF_LEADERS:
        return None
    in_sync = finding.evidence.get("in_sync_replicas_before")
    alone = in_sync[0] if isinstance(in_sync, list) and len(in_sync) == 1 and isinstance(in_sync[0], int) else None
    leader = whole_number(finding, "leader_before")
    return alone if leader is None else leader
