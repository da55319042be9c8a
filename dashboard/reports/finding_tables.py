"""Findings as tables of a report: what happened, what proves it, how much, and examples by id."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from dashboard import wording
from dashboard.finding_ranges import Offsets
from dashboard.incident_story import Loss, Told, Total
from dashboard.names import cut
from dashboard.reports.document import Cell, Column, Lanes, Table, Type, table
from dashboard.reports.look import MOST_ROWS
from guarantees.findings import Bounds, Finding
from guarantees.promises import Verdict
from guarantees.unknown import Unknown

LONG = 300  # characters of a sentence that holds names from outside

INTERVAL = (
    Column("How much"),
    Column("lower", Type.COUNT, is_shown=False),
    Column("estimate", Type.COUNT, is_shown=False),
    Column("upper", Type.COUNT, is_shown=False),
    Column("unit", is_shown=False),
)
PLACE = (Column("Topic"), Column("Partition", Type.COUNT), Column("Group"))
RANGE = (
    Column("From offset", Type.COUNT),
    Column("Up to, not including", Type.COUNT),
    Column("Offsets unknown because"),
)
TOLD = (
    Column("Happened", Type.TIME), Column("Last seen", Type.TIME), Column("Kind"), Column("Finding"), Column("Means"),
    Column("Grade"), *INTERVAL, *(Column(one.name, one.type, is_shown=False) for one in PLACE), Column("Because"),
    Column("Grade of the cause"), Column("State"), Column("Finding id"),
)  # fmt: skip
STATEMENTS = (Column("Finding id"), Column("Grade"), Column("Statement"), Column("Assumption"))
LOSSES = (Column("Effect"), Column("Kind"), *PLACE, *INTERVAL, *RANGE, Column("Grade"), Column("Finding id"))
TOTALS = (Column("Effect"), Column("Kind"), Column("Findings", Type.COUNT), *INTERVAL)
EXAMPLES = (
    Column("Finding id"), Column("Message id"), Column("What"), Column("Partition", Type.COUNT),
    Column("Offset", Type.COUNT), Column("Producer id", Type.COUNT), Column("Observed", Type.TIME),
)  # fmt: skip


def shown(text: str | None, limit: int = LONG) -> str | None:
    """A name or sentence from outside: cut, nothing in it hidden."""
    return None if text is None else cut(text, limit)


def limited(
    name: str, title: str, columns: Sequence[Column], rows: Sequence[Mapping[str, Cell]], why_none: str
) -> Table:
    """The first rows; the table says how many it leaves out, or why it has none."""
    left_out = len(rows) - MOST_ROWS
    note = f"{left_out:,} more are left out; totals count them." if left_out > 0 else "" if rows else why_none
    return table(name, title, columns, rows[:MOST_ROWS], note)


def told_table(told: Sequence[Told], why_none: str) -> Table:
    return limited("findings", "Findings, in the order they happened", TOLD, told_rows(told), why_none)


def told_rows(told: Iterable[Told]) -> list[dict[str, Cell]]:
    """Of each finding more than any one table shows."""
    return [_told(one) for one in told]


def statement_table(findings: Iterable[Finding]) -> Table:
    rows: list[Mapping[str, Cell]] = [
        {"Finding id": one.finding_id, "Grade": str(said.grade), "Statement": shown(said.text, 600),
         "Assumption": shown(said.assumption)}
        for one in findings for said in one.statements
    ]  # fmt: skip
    return limited("statements", "What proves it", STATEMENTS, rows, "No finding, so nothing to prove.")


def loss_table(losses: Sequence[Loss]) -> Table:
    why = "No finding of a loss, a duplicate or a re-delivery."
    return limited("effects", "By finding and offsets", LOSSES, [_loss(one) for one in losses], why)


def total_table(totals: Sequence[Total]) -> Table:
    rows = [
        {"Effect": one.effect, "Kind": wording.KINDS[one.kind], "Findings": one.findings, **interval(one.amount)}
        for one in totals
    ]
    return limited("totals", "Together, by kind", TOTALS, rows, "No finding of a loss, a duplicate or a re-delivery.")


def example_table(findings: Iterable[Finding]) -> Table:
    rows = [row for one in findings for row in _examples(one)]
    return limited("examples", "Examples by id", EXAMPLES, rows, "The evidence shows no message ids.")


def kind_lanes(told: Sequence[Told], from_ms: int, to_ms: int, of: Table) -> Lanes:
    """The findings by kind over time, drawn from their table."""
    worst = min((one.means for one in told), key=wording.WORST_FIRST.index, default=Verdict.OK)
    alt = f"{wording.plural(len(told), 'finding')} by kind over time, the worst: {wording.LOOKS[worst].word.lower()}."
    return Lanes("What happened when", alt, of, "Kind", "Happened", "Last seen", "Means", from_ms, to_ms)


def interval(bounds: Bounds | Unknown | None) -> dict[str, Cell]:
    """How much in words, and its parts for a script."""
    if not isinstance(bounds, Bounds):
        said = "not counted" if bounds is None else f"unknown: {bounds.reason}"
        return {"How much": said, "lower": None, "estimate": None, "upper": None, "unit": None}
    return {
        "How much": wording.bounds(bounds), "lower": bounds.lower, "estimate": bounds.estimate, "upper": bounds.upper,
        "unit": str(bounds.unit),
    }  # fmt: skip


def offsets(known: Offsets | Unknown) -> dict[str, Cell]:
    first, following, why = ("From offset", "Up to, not including", "Offsets unknown because")
    if isinstance(known, Unknown):
        return {first: None, following: None, why: known.reason}
    return {first: known.first, following: known.following, why: None}


def place(finding: Finding) -> dict[str, Cell]:
    own = finding.place
    return {"Topic": shown(own.topic), "Partition": own.partition, "Group": shown(own.group_id)}


def means(verdict: Verdict) -> str:
    return wording.INFORMATION if verdict is Verdict.OK else wording.LOOKS[verdict].text


def _told(one: Told) -> dict[str, Cell]:
    finding = one.finding
    return {
        "Happened": finding.happened_at_ms,
        "Last seen": finding.last_seen_at_ms,
        "Kind": wording.KINDS[finding.kind],
        "Finding": shown(finding.title),
        "Means": means(one.means),
        "Grade": str(finding.grade),
        **interval(finding.bounds),
        **place(finding),
        "Because": shown(one.because),
        "Grade of the cause": None if one.because_grade is None else str(one.because_grade),
        "State": "open" if finding.closed_reason is None else f"closed: {shown(finding.closed_reason)}",
        "Finding id": finding.finding_id,
    }


def _loss(one: Loss) -> dict[str, Cell]:
    return {
        "Effect": one.effect,
        "Kind": wording.KINDS[one.finding.kind],
        **place(one.finding),
        **interval(one.bounds),
        **offsets(one.offsets),
        "Grade": str(one.finding.grade),
        "Finding id": one.finding.finding_id,
    }


def _examples(finding: Finding) -> Iterator[dict[str, Cell]]:
    """The lost and late ids, and both copies of a duplicate, as the rules store them."""
    for what in ("lost", "late"):
        for given in _listed(finding.evidence.get(what)):
            yield _example(finding, given, what, given)
    for given in _listed(finding.evidence.get("examples")):
        for what in ("first", "last"):
            if isinstance(copy := given.get(what), Mapping):
                yield _example(finding, given, f"{what} copy", copy)


def _listed(given: object) -> list[Mapping[str, Any]]:
    return [one for one in given if isinstance(one, Mapping)] if isinstance(given, list | tuple) else []


def _example(finding: Finding, given: Mapping[str, Any], what: str, copy: Mapping[str, Any]) -> dict[str, Cell]:
    message_id = given.get("message_id")
    return {
        "Finding id": finding.finding_id,
        "Message id": "not stored, a hash only" if message_id is None else shown(str(message_id), 120),
        "What": what,
        "Partition": copy.get("partition", finding.place.partition),
        "Offset": copy.get("offset"),
        "Producer id": copy.get("producer_id"),
        "Observed": copy.get("observed_at_ms"),
    }
