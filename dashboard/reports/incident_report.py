"""The report of one incident: its story with grades, what it cost whom in which offsets, and what nobody saw."""

from collections.abc import Iterator, Sequence

from dashboard import wording
from dashboard.actions import Action, IncidentHandling
from dashboard.incident_chain import none_touched
from dashboard.incident_story import Note, Story, story
from dashboard.incident_verdict import decisive
from dashboard.names import cut
from dashboard.reports import basis, finding_tables, lag_over_time
from dashboard.reports.document import Cell, Column, Document, Part, Section, Sentence, Table, Type
from dashboard.reports.finding_tables import limited, offsets, shown
from dashboard.reports.look import Look
from guarantees.incidents import Incident
from guarantees.unknown import Unknown

AROUND_MS = 120_000  # shown before and after
TOLD_IN_SENTENCES = 40
TOUCHED = (
    Column("What"), Column("Name"), Column("Topic"), Column("Partition", Type.COUNT), *finding_tables.RANGE,
    Column("Grade"), Column("Why"),
)  # fmt: skip
NOTES = (Column("When", Type.TIME), Column("Who"), Column("Did"), Column("Note"), Column("Finding id"))


def window(incident: Incident, made_ms: int) -> tuple[int, int]:
    """The incident and a little around it; one that lasts is looked at until the report is made."""
    until = incident.to_ms if incident.to_ms is not None else made_ms
    return incident.from_ms - AROUND_MS, min(
        max(until, incident.from_ms) + AROUND_MS, max(made_ms, incident.from_ms + 1)
    )


def incident_report(look: Look, incident: Incident) -> Document:
    """`look` is at the window of the incident."""
    unseen = [Unknown(f"{one.why}, {wording.span(one.from_ms, one.to_ms)}") for one in look.gaps]
    told = story(incident, look.pipelines, look.causes, look.handled, unseen)
    handling = look.handling(incident)
    return Document(
        kind="incident",
        title=f"Incident {incident.incident_id}: {cut(incident.title, 200)}",
        sections=(
            Section("In short", (*_summary(look, told), _attention(handling))),
            Section("The story", tuple(_story(look, told))),
            Section("What was lost, duplicated or delivered again", tuple(_effects(told))),
            Section("Who is touched", (_touched(told),)),
            Section("What could not be seen, and why", _not_seen(told)),
            Section("Notes of operators", (_notes((*told.notes, *handling.actions)),)),
            Section("What proves it", _proof(told)),
            Section("Lag of the group", tuple(_lag(look, told))),
            basis.evidence_section(look),
            Section("Settings", (basis.settings_table(look),)),
        ),
        provenance=(("incident id", incident.incident_id), *basis.provenance(look)),
        created_ms=look.made_ms,
    )


def _summary(look: Look, told: Story) -> Iterator[Sentence]:
    incident = told.incident
    until = "it lasts" if incident.to_ms is None else f"the newest evidence is of {wording.utc(incident.to_ms)}"
    whose = "Of no pipeline" if incident.pipeline is None else f"Pipeline {cut(incident.pipeline)}"
    yield Sentence(f"{whose}. It began {wording.utc(incident.from_ms)}; {until}.")
    own = next((one for one in look.pipelines if one.name == incident.pipeline), None)
    if own is not None:
        promise = wording.promise(own.promise, own.is_inferred)
        yield Sentence(f"The promise: {promise}, from {cut(own.source)} by {cut(own.group_id)}{_to_sink(own.sink)}.")
        yield _verdict(told)
    number = wording.plural(len(incident.findings), "finding")
    yield Sentence(f"{number}, the worst: {wording.SEVERITIES[incident.severity]}.")
    for total in told.totals:
        amount = finding_tables.interval(total.amount)["How much"]
        yield Sentence(f"{total.effect.capitalize()} ({wording.KINDS[total.kind].lower()}): {amount}.")


def _verdict(told: Story) -> Sentence:
    """What it means for the promise, by the surest finding that makes it so."""
    made_by = decisive((one.means, one.finding) for one in told.told)
    means = next(one.means for one in told.told if one.finding is made_by)
    return Sentence(f"{finding_tables.means(means)}: {shown(made_by.title)}.", str(made_by.grade))


def _to_sink(sink: str | None) -> str:
    return ", which writes no topic that is known" if sink is None else f", which writes {cut(sink)}"


def _story(look: Look, told: Story) -> Iterator[Part]:
    for one in told.told[:TOLD_IN_SENTENCES]:
        yield Sentence(
            f"{wording.utc(one.finding.happened_at_ms)}: {shown(one.finding.title)}.", str(one.finding.grade)
        )
        yield Sentence(f"Because: {shown(one.because)}", None if one.because_grade is None else str(one.because_grade))
    if len(told.told) > TOLD_IN_SENTENCES:
        yield Sentence(f"{len(told.told) - TOLD_IN_SENTENCES:,} more findings stand in the table.")
    findings = finding_tables.told_table(told.told, "The incident has no finding.")
    yield finding_tables.kind_lanes(told.told, look.from_ms, look.to_ms, findings)
    yield findings


def _effects(told: Story) -> Iterator[Part]:
    yield Sentence(
        "Counts of different kinds are never added: one record may be lost and passed over at the same time."
    )
    yield finding_tables.total_table(told.totals)
    yield finding_tables.loss_table(told.losses)


def _touched(told: Story) -> Table:
    rows: list[dict[str, Cell]] = [
        {"What": "consumer group" if one.is_consumer else "downstream topic", "Name": shown(one.name),
         "Topic": shown(one.topic), "Partition": one.partition, **offsets(one.offsets), "Grade": str(one.grade),
         "Why": shown(one.why)}
        for one in told.touched
    ]  # fmt: skip
    why_none = f"None is known to be touched: {none_touched(told.incident.pipeline)}."
    return limited("touched", "Consumers and downstream topics", TOUCHED, rows, why_none)


def _not_seen(told: Story) -> tuple[Sentence, ...]:
    return tuple(basis.unknown_sentences(told.not_seen)) or (Sentence("Nothing is known to be missing."),)


def _attention(handling: IncidentHandling) -> Sentence:
    if handling.by is None:
        return Sentence("Nobody took it up.")
    return Sentence(f"People left it {handling.state}: {cut(handling.by.who)}, {wording.utc(handling.by.at_ms)}.")


def _notes(done: Sequence[Note | Action]) -> Table:
    """About its findings, and about the incident as a whole (without a finding's id), in the order of time."""
    told = sorted((one.action if isinstance(one, Note) else one for one in done), key=lambda one: one.at_ms)
    rows: list[dict[str, Cell]] = [
        {"When": one.at_ms, "Who": shown(one.who), "Did": str(one.doing), "Note": shown(one.note, 2_000),
         "Finding id": one.finding_id}
        for one in told
    ]  # fmt: skip
    return limited("notes", "What people wrote and did", NOTES, rows, "Nobody acknowledged or noted anything.")


def _proof(told: Story) -> tuple[Table, Table]:
    findings = told.incident.findings
    return finding_tables.statement_table(findings), finding_tables.example_table(findings)


def _lag(look: Look, told: Story) -> Iterator[Part]:
    own = next((one for one in look.pipelines if one.name == told.incident.pipeline), None)
    if own is None:
        yield Sentence("The pipeline is not known any more.")
        return
    yield from lag_over_time.parts(look, own)
