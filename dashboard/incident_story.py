"""An incident as a story: the chain in sentences, what was lost or came twice, who was touched, what nobody saw.

Pure facts of findings, causes and what people did; the incident's page and its report show the same ones.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dashboard import finding_ranges, incident_unseen
from dashboard.actions import UNTOUCHED, Action, Handling
from dashboard.amounts import added
from dashboard.finding_ranges import Offsets
from guarantees.causes import NOT_OBSERVED
from guarantees.findings import Bounds, Finding, Grade, Kind, Unit
from guarantees.incidents import Incident
from guarantees.links import Cause
from guarantees.promises import Pipeline, Verdict, judge
from guarantees.unknown import Unknown

Handled = Mapping[str, Handling]
Explained = Mapping[str, Sequence[Cause]]

# What a kind of finding did to records; the others explain, endanger or delay.
EFFECTS: Mapping[Kind, str] = {
    Kind.LOST_WRITE: "lost",
    Kind.LOG_TRUNCATED: "lost",
    Kind.TAIL_TRUNCATED: "lost",
    Kind.EXPIRED_UNREAD: "lost",
    Kind.MISSING_SEQUENCES: "lost",
    Kind.SKIPPED_FORWARD: "passed over",
    Kind.NEW_PARTITION_SKIPPED: "passed over",
    Kind.DUPLICATE_WRITE: "duplicated",
    Kind.RESENT_BATCH: "duplicated",
    Kind.ABORTED_AT_SINK: "read although aborted",
    Kind.OUT_OF_ORDER: "out of order",
    Kind.REWIND: "re-delivered",
    Kind.POSSIBLE_REDELIVERY: "re-delivered",
}
NOT_IN_THE_SINK = Unknown("which of its offsets hold the records of the incident cannot be seen from outside")
CAUSE_NOT_SEEN = f"{NOT_OBSERVED.capitalize()}."


@dataclass(frozen=True, slots=True)
class Told:
    """One finding of the chain, what it means for the promise, and what explains it, the surest first."""

    finding: Finding
    means: Verdict
    causes: tuple[Cause, ...]

    @property
    def because(self) -> str:
        return self.causes[0].statement.text if self.causes else CAUSE_NOT_SEEN

    @property
    def because_grade(self) -> Grade | None:
        """None where no cause was observed."""
        return self.causes[0].statement.grade if self.causes else None


@dataclass(frozen=True, slots=True)
class Loss:
    """What one finding did to records: `effect` is a word of EFFECTS. `bounds` None: how much was not counted."""

    effect: str
    finding: Finding
    bounds: Bounds | None
    offsets: Offsets | Unknown


@dataclass(frozen=True, slots=True)
class Total:
    """What all findings of one kind did together; Unknown where their counts must not be added."""

    effect: str
    kind: Kind
    findings: int
    amount: Bounds | Unknown


@dataclass(frozen=True, slots=True)
class Touched:
    """A consumer (`is_consumer`) or a downstream topic and the offsets it was touched in.

    `offsets` are those of `topic` and `partition`; of a downstream topic `topic` is itself.
    """

    name: str
    is_consumer: bool
    topic: str
    partition: int | None
    offsets: Offsets | Unknown
    grade: Grade
    why: str


@dataclass(frozen=True, slots=True)
class Note:
    """What a person did about one finding of the incident; all of it is untrusted text."""

    finding_id: str
    action: Action


@dataclass(frozen=True, slots=True)
class Story:
    """`told` in the order of the incident; `not_seen`: what nobody could see, and why."""

    incident: Incident
    told: tuple[Told, ...]
    losses: tuple[Loss, ...]
    totals: tuple[Total, ...]
    touched: tuple[Touched, ...]
    not_seen: tuple[Unknown, ...]
    notes: tuple[Note, ...]


def story(
    incident: Incident,
    pipelines: Sequence[Pipeline],
    explained: Explained,
    handled: Handled,
    unseen: Iterable[Unknown] = (),
) -> Story:
    """`pipelines` are those of the cluster; `unseen` what the window of the incident lacks (gaps, missing rights)."""
    own = next((one for one in pipelines if one.name == incident.pipeline), None)
    done, found = tuple(losses(incident.findings)), incident.findings
    return Story(
        incident=incident,
        told=tuple(_told(finding, own, explained) for finding in found),
        losses=done,
        totals=tuple(totals(done)),
        touched=tuple(dict.fromkeys(_touched(found, pipelines))),
        not_seen=tuple(dict.fromkeys((*unseen, *incident_unseen.left_open(found, explained)))),
        notes=tuple(_notes(found, handled)),
    )


def _told(finding: Finding, own: Pipeline | None, explained: Explained) -> Told:
    means = Verdict.UNKNOWN if own is None else judge(finding.kind, finding.severity, own.promise)
    return Told(finding, means, tuple(explained.get(finding.finding_id, ())))


def losses(findings: Iterable[Finding]) -> Iterator[Loss]:
    """What each finding did to records; none for those that only explain, endanger or delay."""
    for finding in findings:
        if finding.kind in EFFECTS:
            yield Loss(EFFECTS[finding.kind], finding, finding.bounds, finding_ranges.offsets(finding))


def totals(done: Sequence[Loss]) -> Iterator[Total]:
    """By kind: one record may be lost and passed over at the same time, so kinds are never added."""
    for kind in dict.fromkeys(loss.finding.kind for loss in done):
        own = [loss for loss in done if loss.finding.kind is kind]
        yield Total(EFFECTS[kind], kind, len(own), _together([loss.bounds for loss in own]))


def _together(bounds: Sequence[Bounds | None]) -> Bounds | Unknown:
    known = [one for one in bounds if one is not None]
    units: set[Unit] = {one.unit for one in known}
    if len(known) < len(bounds):
        return Unknown(f"{len(bounds) - len(known):,} of {len(bounds):,} findings count nothing")
    if len(units) > 1:
        return Unknown(f"counted in {' and '.join(sorted(units))}")
    return known[0] if len(known) == 1 else added(known, units.pop())


def _touched(findings: Sequence[Finding], pipelines: Sequence[Pipeline]) -> Iterator[Touched]:
    met = [(finding, tuple(_consumers(finding, pipelines))) for finding in findings]
    for _, consumers in met:
        yield from consumers
    readers = [one for one in pipelines if any(_met(one, finding, consumers) for finding, consumers in met)]
    written = [finding.place.topic for finding in findings if _takes(finding)]
    for pipeline in _downstream(readers, pipelines):
        if pipeline.sink is not None and pipeline.sink not in written:
            why = f"{pipeline.group_id} writes to it what it reads from {pipeline.source}"
            yield Touched(pipeline.sink, False, pipeline.sink, None, NOT_IN_THE_SINK, Grade.POSSIBLE, why)
    for finding in filter(_takes, findings):
        yield from (_in_sink(finding, pipeline) for pipeline in pipelines if pipeline.sink == finding.place.topic)


def _consumers(finding: Finding, pipelines: Sequence[Pipeline]) -> Iterator[Touched]:
    """The group of the finding; of a fact about a topic the groups its evidence names, and others that read it."""
    place, offsets = finding.place, finding_ranges.offsets(finding)
    named = finding_ranges.groups(finding)
    for group_id, own in named.items():
        yield Touched(group_id, True, place.topic or "", place.partition, own, finding.grade, finding.title)
    if place.group_id is not None or not _takes(finding):
        return
    for group_id in dict.fromkeys(one.group_id for one in pipelines if _reads(one, finding)):
        if group_id not in named:
            why = f"it reads the topic; whether it met these offsets is not in the evidence. {finding.title}"
            yield Touched(group_id, True, place.topic or "", place.partition, offsets, Grade.POSSIBLE, why)


def _takes(finding: Finding) -> bool:
    """An election or a partition below min ISR by itself takes nothing from anybody."""
    return finding.kind in EFFECTS or not isinstance(finding_ranges.offsets(finding), Unknown)


def _met(pipeline: Pipeline, finding: Finding, consumers: Iterable[Touched]) -> bool:
    """Whether the pipeline reads by a consumer that the finding touched."""
    return _reads(pipeline, finding) and any(one.name == pipeline.group_id for one in consumers)


def _reads(pipeline: Pipeline, finding: Finding) -> bool:
    is_own = finding.place.group_id in (None, pipeline.group_id)
    return finding.place.topic == pipeline.source and is_own


def _downstream(first: Sequence[Pipeline], pipelines: Sequence[Pipeline]) -> list[Pipeline]:
    """The pipelines that read what these read, and those that read what they write, and so on."""
    reached, waiting = dict[str, Pipeline](), list(first)
    while waiting:
        one = waiting.pop(0)
        if one.name not in reached:
            reached[one.name] = one
            waiting += [other for other in pipelines if one.sink is not None and other.source == one.sink]
    return list(reached.values())


def _in_sink(finding: Finding, pipeline: Pipeline) -> Touched:
    place = finding.place
    why = f"{pipeline.group_id} writes to it. {finding.title}"
    return Touched(
        str(place.topic), False, str(place.topic), place.partition, finding_ranges.offsets(finding), finding.grade, why
    )


def _notes(findings: Iterable[Finding], handled: Handled) -> Iterator[Note]:
    found = [
        Note(finding.finding_id, action)
        for finding in findings
        for action in handled.get(finding.finding_id, UNTOUCHED).actions
    ]
    return iter(sorted(found, key=lambda note: (note.action.at_ms, note.action.action_id)))
