"""What every report rests on: rounds, gaps and coverage of its window, versions, and the settings in force."""

from collections.abc import Iterable, Sequence
from dataclasses import fields
from importlib.metadata import PackageNotFoundError, version

from dashboard import wording
from dashboard.names import cut
from dashboard.reports import questions
from dashboard.reports.document import Cell, Column, Section, Sentence, Table, Type
from dashboard.reports.finding_tables import limited
from dashboard.reports.look import Look, span_words
from guarantees.promise_time import Stretch
from guarantees.unknown import Unknown
from store.contracts import SCHEMA_VERSION

GAPS = (Column("From", Type.TIME), Column("To", Type.TIME), Column("Lasted"), Column("Why"))
COVERAGE = (
    Column("Signal"), Column("Rounds", Type.COUNT), Column("Values asked", Type.COUNT),
    Column("Answered", Type.COUNT), Column("Not permitted", Type.COUNT), Column("Failed", Type.COUNT), Column("Error"),
)  # fmt: skip
SETTINGS = (Column("Setting"), Column("Value"))


def share(part: int, whole: int) -> str:
    """A share in percent that never rounds something to nothing, nor nearly all to all."""
    if whole <= 0:
        return "unknown"
    percent = 100 * part / whole
    if 0 < percent < 0.01:
        return "below 0.01 %"
    return "above 99.99 %" if 99.99 < percent < 100 else f"{percent:.2f} %"


def evidence_section(look: Look) -> Section:
    """How complete the window was observed."""
    present, expected = int(look.rounds["present"] or 0), look.expected_rounds
    said = f"{wording.count(present)} of {wording.count(expected)} expected rounds ({share(present, expected)}) of the"
    said += f" window {span_words(look.from_ms, look.to_ms)} are there, one every {look.stored.interval_ms / 1000:g} s."
    gone = sum(gap.to_ms - gap.from_ms for gap in look.gaps)
    gaps = f"{wording.plural(len(look.gaps), 'gap')}, together {wording.duration(gone)}." if gone else "No gap."
    return Section("Availability of evidence", (
        Sentence(said), Sentence(gaps), *unknown_sentences(look.not_looked_for),
        gap_table("gaps", "Without any round", look.gaps), coverage_table(look),
    ))  # fmt: skip


def gap_table(name: str, title: str, stretches: Iterable[Stretch]) -> Table:
    rows: list[dict[str, Cell]] = [
        {"From": one.from_ms, "To": one.to_ms, "Lasted": wording.duration(one.to_ms - one.from_ms),
         "Why": cut(one.why, 300)}
        for one in stretches
    ]  # fmt: skip
    return limited(name, title, GAPS, rows, "None.")


def coverage_table(look: Look) -> Table:
    rows: list[dict[str, Cell]] = [
        {"Signal": row["signal"], "Rounds": row["rounds"], "Values asked": row["asked"], "Answered": row["answered"],
         "Not permitted": row["refused"], "Failed": row["failed"], "Error": row["error"] and cut(row["error"], 200)}
        for row in look.ask(questions.COVERAGE_BY_SIGNAL)
    ]  # fmt: skip
    return limited("coverage", "What was asked of the cluster, and answered", COVERAGE, rows, "Nothing was asked.")


def settings_table(look: Look, more: Sequence[tuple[str, str]] = ()) -> Table:
    """The thresholds of the rules and, in `more`, what else the report depends on. No address, no user, no secret."""
    own = look.settings.thresholds
    rows = [*more, *((f"thresholds.{one.name}", f"{getattr(own, one.name):g}") for one in fields(own))]
    listed: list[dict[str, Cell]] = [{"Setting": name, "Value": cut(value, 200)} for name, value in rows]
    return limited("settings", "Settings in force", SETTINGS, listed, "None.")


def provenance(look: Look) -> tuple[tuple[str, str], ...]:
    """Samples, coverage and versions; the settings stand in a table of their own."""
    seen = look.rounds
    ticks = "none" if seen["first_tick"] is None else f"{seen['first_tick']:,} to {seen['last_tick']:,}"
    return (
        ("cluster", cut(look.stored.settings.name)),
        ("cluster id", look.stored.cluster_id or "never heard"),
        ("window", span_words(look.from_ms, look.to_ms)),
        (
            "rounds of samples",
            f"{ticks}, {wording.count(int(seen['present'] or 0))} of {look.expected_rounds:,} expected",
        ),
        ("findings known", f"{len(look.findings):,}, the newest evidence {_newest(look)}"),
        ("Tidemark", package("tidemark")),
        ("DuckDB", package("duckdb")),
        ("schema of the tables", f"version {SCHEMA_VERSION}"),
        ("ids", "hashed" if look.settings.reports.ids == "hashed" else "as they are"),
    )


def unknown_sentences(found: Iterable[Unknown]) -> list[Sentence]:
    return [Sentence(f"Not seen: {cut(one.reason, 400)}.".replace("..", ".")) for one in found]


def package(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed as a package"


def _newest(look: Look) -> str:
    return wording.utc(max((one.last_seen_at_ms for one in look.findings), default=None))
