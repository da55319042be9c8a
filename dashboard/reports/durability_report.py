"""How safe was what a cluster stored: time below min ISR, elections, cut logs, offline partitions, unread expiry."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from dashboard import elections, incident_story, wording
from dashboard.incident_story import Told
from dashboard.names import cut
from dashboard.replication import brokers, label, partition_name
from dashboard.reports import basis, below_min_isr, finding_tables, states
from dashboard.reports.document import Cell, Column, Document, Part, Section, Sentence, Table, Type
from dashboard.reports.finding_tables import interval, limited
from dashboard.reports.look import Look
from dashboard.reports.states import StatesSeen
from guarantees import completeness
from guarantees.findings import Finding, Kind
from guarantees.promises import Verdict

Row = Mapping[str, Any]
CUTS = frozenset({Kind.LOG_TRUNCATED, Kind.TAIL_TRUNCATED, Kind.COMMIT_IN_TRUNCATED_LOG})
OVERTAKEN = frozenset({Kind.EXPIRED_UNREAD})
ELECTED = (
    Column("Election"), Column("Partition"), Column("After", Type.TIME), Column("Seen by", Type.TIME), Column("Leader"),
    Column("Leader epoch"), Column("In sync before"), Column("In sync after"), Column("Because"),
)  # fmt: skip


def durability_report(look: Look) -> Document:
    seen = states.states_seen(look)
    interval_ms, gap_s = look.stored.interval_ms, look.settings.thresholds.gap_s
    gap_ms = completeness.gap_of_states_ms(gap_s, interval_ms, seen.partitions)
    below = [
        below_min_isr.below(list(own), look, gap_ms)
        for rows in states.histories(look, seen.below)
        for _, own in groupby(rows, key=partition_name)
    ]
    name = cut(look.stored.settings.name)
    return Document(
        kind="durability",
        title=f"Durability of cluster {name}, {wording.span(look.from_ms, look.to_ms)}",
        sections=(
            Section("Below min ISR and offline", tuple(below_min_isr.parts(look, seen, below))),
            Section("Elections", tuple(_elections(look, seen))),
            Section("Logs that were cut", tuple(_findings(look, seen, CUTS, "cuts"))),
            Section("Overtaken by retention", tuple(_findings(look, seen, OVERTAKEN, "overtaken"))),
            basis.evidence_section(look),
            Section("Settings", (basis.settings_table(look),)),
        ),
        provenance=basis.provenance(look),
        created_ms=look.made_ms,
    )


def _elections(look: Look, seen: StatesSeen) -> Iterator[Part]:
    held, found = [row for rows in states.elections(look, seen.elected) for row in rows], _unclean_epochs(look)
    judged = [
        (row, *elections.judged(row, is_found=(partition_name(row), row["leader_epoch"]) in found)) for row in held
    ]
    counts = [f"{sum(verdict is one for _, verdict, _ in judged):,} {word}" for one, word in elections.WORDS.items()]
    number = f"{wording.plural(len(held), 'election')} between two samples each: {', '.join(counts)}"
    yield Sentence(f"{number}{states.while_observed(look)}." if seen.partitions else states.NOBODY_LOOKED)
    rows, none = [_election(row, verdict, why) for row, verdict, why in judged], states.none_was("seen", look, seen)
    yield limited("elections", "Elections, those outside the in-sync replicas first", ELECTED, rows, none)


def _election(row: Row, verdict: Verdict, why: str) -> dict[str, Cell]:
    return {
        "Election": elections.election_words(verdict), "Partition": cut(label(row)),
        "After": row["before"]["last_seen_at_ms"], "Seen by": row["started_at_ms"], "Leader": elections.leaders(row),
        "Leader epoch": f"{row['before']['leader_epoch']} → {row['leader_epoch']}",
        "In sync before": brokers(row["before"]["in_sync_replicas"], ""),
        "In sync after": brokers(row["in_sync_replicas"], ""), "Because": why,
    }  # fmt: skip


def _unclean_epochs(look: Look) -> set[tuple[str, object]]:
    unclean = (one for one in look.findings if one.kind is Kind.UNCLEAN_ELECTION)
    return {(f"{one.place.topic_id}-{one.place.partition}", one.evidence.get("leader_epoch")) for one in unclean}


def _findings(look: Look, seen: StatesSeen, kinds: frozenset[Kind], name: str) -> Iterator[Part]:
    """Findings are kept for good: they may tell of a time of which no state is known any more."""
    found = look.in_window(one for one in look.findings if one.kind in kinds)
    is_known = bool(found) or bool(seen.partitions)
    number = f"{wording.plural(len(found), 'finding')}{states.while_observed(look)}."
    yield Sentence(number if is_known else states.NOBODY_LOOKED)
    told = [Told(one, Verdict.OK, look.causes.get(one.finding_id, ())) for one in found]
    yield _cut_table(name, told, states.none_was("found", look, seen))
    yield from _totals(found)


def _totals(found: Sequence[Finding]) -> Iterator[Sentence]:
    for total in incident_story.totals(tuple(incident_story.losses(found))):
        yield Sentence(f"{wording.KINDS[total.kind]}: {interval(total.amount)['How much']}.")


def _cut_table(name: str, told: Sequence[Told], none: str) -> Table:
    columns = (
        Column("Happened", Type.TIME), *finding_tables.PLACE, Column("Finding"), Column("Grade"),
        *finding_tables.INTERVAL, Column("Because"), Column("Grade of the cause"), Column("Finding id"),
    )  # fmt: skip
    rows = finding_tables.told_rows(told)
    return limited(name, "Findings", columns, rows, none)
