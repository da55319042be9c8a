"""Did a pipeline keep its promise over a window: shares of time, what broke it, how much, and what was observed."""

from collections.abc import Iterator, Sequence

from dashboard import audit_words, incident_story, pipeline_rows, queries, wording
from dashboard.finding_times import newest_ms
from dashboard.incident_story import Told
from dashboard.names import cut
from dashboard.queries import Rows
from dashboard.reports import basis, finding_tables, lag_over_time, unread_records
from dashboard.reports.basis import share
from dashboard.reports.copies_found import CopiesFound, copies_found
from dashboard.reports.document import Cell, Column, Document, Lanes, Part, Section, Sentence, Table, Type
from dashboard.reports.finding_tables import limited
from dashboard.reports.look import Look, span_words
from guarantees.findings import Finding, Kind
from guarantees.promise_time import PromiseTime, Stretch, promise_time
from guarantees.promises import Pipeline, Verdict, judge
from guarantees.verdicts import concerns
from settings import PipelineSettings

TOLD_AS = {
    Verdict.OK: "kept", Verdict.DEGRADED: "kept, with its margin lost", Verdict.VIOLATED: "violated",
    Verdict.UNKNOWN: "unknown",
}  # fmt: skip
SHARES = (
    Column("The promise was"),
    Column("Time"),
    Column("ms", Type.COUNT, is_shown=False),
    Column("Share of the window"),
)
STATES = (Column("Promise"), Column("From", Type.TIME), Column("To", Type.TIME), Column("State"))
READ = (
    Column("From", Type.TIME), Column("Topic"), Column("Records read", Type.COUNT), Column("Without id", Type.COUNT),
    Column("Aborted", Type.COUNT), Column("Ids compared"), Column("Offsets purged unread", Type.COUNT),
    Column("Offsets in gaps", Type.COUNT), Column("Offsets left for later", Type.COUNT),
)  # fmt: skip
COMPARED = (
    Column("Ids judged", Type.COUNT), Column("Waiting to be judged", Type.COUNT), Column("Lost", Type.COUNT),
    Column("Came late", Type.COUNT), Column("Settle time"), Column("Newest", Type.TIME),
)  # fmt: skip


def delivery_report(look: Look, pipeline: Pipeline) -> Document:
    found = look.in_window(one for one in look.findings if concerns(pipeline, one))
    told = [
        Told(one, judge(one.kind, one.severity, pipeline.promise), look.causes.get(one.finding_id, ())) for one in found
    ]
    read = unread_records.read_by_day(look, pipeline)
    unknown = [
        *look.gaps,
        *_unknown_lag(look, pipeline),
        *unread_records.unread(look, pipeline, _declared(look, pipeline), read),
    ]
    copies = copies_found(look, found, read)
    time = promise_time(look.from_ms, look.to_ms, [*_broken(told, copies), *unknown])
    promise = wording.promise(pipeline.promise, pipeline.is_inferred)
    return Document(
        kind="delivery",
        title=f"Delivery of {cut(pipeline.name)}, {wording.span(look.from_ms, look.to_ms)}",
        sections=(
            Section(f"Was the promise kept: {promise}", (*_headline(time, pipeline), _shares(time), *_states(time))),
            Section("Findings", tuple(_findings(look, told))),
            Section("Duplicates, losses and re-deliveries", tuple(_amounts(look, pipeline, found, read, copies))),
            Section("When nobody can tell", tuple(_unknown(unknown))),
            Section("Coverage of the records", tuple(_coverage(look, pipeline, read))),
            Section("Lag of the group", tuple(lag_over_time.parts(look, pipeline))),
            basis.evidence_section(look),
            Section("Settings", (basis.settings_table(look, _own_settings(look, pipeline)),)),
        ),
        provenance=(("pipeline", cut(pipeline.name)), *basis.provenance(look)),
        created_ms=look.made_ms,
    )


def _broken(told: Sequence[Told], copies: CopiesFound) -> Iterator[Stretch]:
    """When facts that break the promise are known to have held; what came late broke nothing."""
    for one in told:
        is_explained = one.finding.kind is Kind.LOST_WRITE and one.finding.closed_reason is not None
        if one.means in (Verdict.VIOLATED, Verdict.DEGRADED) and not is_explained:
            for start, end in _times(one.finding, copies):
                yield Stretch(start, end, one.means, one.finding.title)


def _times(finding: Finding, copies: CopiesFound) -> Sequence[tuple[int, int]]:
    """From when the fact is first known to have held until the newest of it; of copies when they were found."""
    if finding.kind is Kind.DUPLICATE_WRITE:
        return copies.times(finding)
    return [(finding.happened_at_ms, newest_ms(finding))]


def _unknown_lag(look: Look, pipeline: Pipeline) -> list[Stretch]:
    return lag_over_time.unknown_units(lag_over_time.units(look, pipeline), look)


def _headline(time: PromiseTime, pipeline: Pipeline) -> Iterator[Sentence]:
    yield Sentence(
        f"{cut(pipeline.name)}: {cut(pipeline.source)} → {cut(pipeline.group_id)} → {cut(pipeline.sink or 'no sink')}."
    )
    least, most = time.kept_ms
    kept = share(least, time.length_ms)
    if most > least:
        kept = f"at least {kept} and at most {share(most, time.length_ms)}"
    yield Sentence(f"The promise was kept in {kept} of the time; violated in {_part(time, Verdict.VIOLATED)}.")
    yield Sentence(f"In {_part(time, Verdict.UNKNOWN)} of the time nobody can tell.")
    yield Sentence(f"In {_part(time, Verdict.DEGRADED)} it was kept with its margin lost.")
    yield Sentence("Times are counted in whole minutes; a minute counts for the worst that is known of it.")


def _part(time: PromiseTime, verdict: Verdict) -> str:
    spent = time.ms(verdict)
    return f"{share(spent, time.length_ms)} ({wording.duration(spent)})"


def _shares(time: PromiseTime) -> Table:
    rows: list[dict[str, Cell]] = [
        {"The promise was": said, "Time": wording.duration(time.ms(verdict)), "ms": time.ms(verdict),
         "Share of the window": share(time.ms(verdict), time.length_ms)}
        for verdict, said in TOLD_AS.items()
    ]  # fmt: skip
    return limited("promise_shares", "Shares of the time", SHARES, rows, "The window is empty.")


def _states(time: PromiseTime) -> tuple[Lanes, Table]:
    ordered = sorted((start, end, verdict) for verdict, own in time.spans.items() for start, end in own)
    rows: list[dict[str, Cell]] = [
        {"Promise": "the promise", "From": start, "To": end, "State": wording.LOOKS[verdict].text}
        for start, end, verdict in ordered
    ]  # fmt: skip
    states = limited("promise_states", "The promise over time", STATES, rows, "The window is empty.")
    said = ", ".join(f"{told} {share(time.ms(verdict), time.length_ms)}" for verdict, told in TOLD_AS.items())
    drawn = Lanes("The promise over time", f"Of the window: {said}.", states, "Promise", "From", "To", "State",
                  time.from_ms, time.to_ms)  # fmt: skip
    return drawn, states


def _findings(look: Look, told: Sequence[Told]) -> Iterator[Part]:
    why = f"No finding that concerns the pipeline lasted into {span_words(look.from_ms, look.to_ms)}."
    yield Sentence(f"{wording.plural(len(told), 'finding')} that concern{'s' * (len(told) == 1)} the pipeline.")
    found = finding_tables.told_table(told, why)
    if told:
        yield finding_tables.kind_lanes(told, look.from_ms, look.to_ms, found)
    yield found
    yield finding_tables.statement_table(one.finding for one in told)


def _amounts(
    look: Look, pipeline: Pipeline, found: Sequence[Finding], read: Rows, copies: CopiesFound
) -> Iterator[Part]:
    own, beyond = copies.narrowed(found), copies.beyond(found)
    compared = unread_records.compared(look, pipeline)
    sampled = [row for row in read if unread_records.has_ids(row)]
    yield Sentence(f"Lost: {pipeline_rows.lost(pipeline, own, [compared] if compared else [], look.view)}.")
    yield Sentence(f"Stored more than once: {pipeline_rows.duplicated(pipeline, own, sampled, look.view)}.")
    if beyond:
        yield Sentence(
            f"{wording.plural(len(beyond), 'finding')} of duplicates count{'s' * (len(beyond) == 1)} copies of other "
            "times too: the sums are of the window, the table by finding is of all times."
        )
    yield finding_tables.total_table(tuple(incident_story.totals(tuple(incident_story.losses(own)))))
    yield finding_tables.loss_table(tuple(incident_story.losses(found)))
    yield finding_tables.example_table(found)


def _unknown(unknown: Sequence[Stretch]) -> Iterator[Part]:
    yield Sentence(
        "What came and went in these times is not known; they count for no state of the promise but unknown."
    )
    yield basis.gap_table(
        "unknown_times", "Times in which nobody can tell", sorted(unknown, key=lambda one: one.from_ms)
    )


def _coverage(look: Look, pipeline: Pipeline, read: Rows) -> Iterator[Part]:
    missed = sum(row["purged_offsets"] + row["gap_offsets"] for row in read)
    if missed:
        yield Sentence(
            f"{wording.count(missed)} offsets were never read: what was in them is in no figure of this report."
        )
    rows: list[dict[str, Cell]] = [
        {"From": row["day_ms"], "Topic": cut(row["topic"]), "Records read": row["records"],
         "Without id": row["records_without_id"], "Aborted": row["aborted_records"],
         "Ids compared": audit_words.rate(row["rate"]), "Offsets purged unread": row["purged_offsets"],
         "Offsets in gaps": row["gap_offsets"], "Offsets left for later": row["left_unread"]}
        for row in read
    ]  # fmt: skip
    why = "No record of the pipeline's topics was read: duplicates and losses are unknown."
    yield limited("records_read", "Records read for their ids, by day and topic", READ, rows, why)
    yield _compared(look, pipeline)


def _compared(look: Look, pipeline: Pipeline) -> Table:
    """The comparison as it stands when the report is made: it is kept as one state, not by window."""
    rows: list[dict[str, Cell]] = [
        {"Ids judged": row["judged"], "Waiting to be judged": row["unseen"],
         "Lost": row["lost"] if row["judged"] else None, "Came late": row["late"],
         "Settle time": wording.duration(round(row["settle_s"] * 1000)),
         "Newest": row["observed_at_ms"]}
        for row in look.ask(queries.COMPARISONS) if row["pipeline"] == pipeline.name
    ]  # fmt: skip
    why = "Source and sink are not compared."
    return limited("compared", "Source against sink since the comparison began, as it stands now", COMPARED, rows, why)


def _own_settings(look: Look, pipeline: Pipeline) -> list[tuple[str, str]]:
    own = _declared(look, pipeline)
    if own is None:
        return [("pipeline", "proposed, not declared: its records are not audited")]
    names = ("promise", "rate", "settle_s", "horizon_s", "one_to_one", "fan_out", "store_ids")
    return [(f"pipeline.{name}", str(getattr(own, name))) for name in names]


def _declared(look: Look, pipeline: Pipeline) -> PipelineSettings | None:
    return next((one for one in look.settings.pipelines if one.name == pipeline.name), None)
