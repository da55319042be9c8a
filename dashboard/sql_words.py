"""What is said beside the answer to a query: what its tables showed, and what of it was cut off."""

from collections.abc import Sequence

from dashboard import wording
from store import schema
from store.contracts import TABLES
from store.sql_door import Answer


def window_note(answer: Answer) -> str:
    """Which rows the tables of the query held: `Window … to … UTC. rounds: rows observed in the window.`"""
    said: dict[str, list[str]] = {}
    for name in answer.tables:
        said.setdefault(schema.shown(TABLES[name]), []).append(name)
    shown = (f"{_listed(names)}: {words[0].lower()}{words[1:]}" for words, names in said.items())
    return " ".join((f"Window {wording.span(answer.window.from_ms, answer.window.to_ms)}.", *shown))


def cut_note(answer: Answer) -> str | None:
    """That there are more rows than these, and what to do; None where these are all."""
    shown = wording.plural(len(answer.rows), "row")
    if answer.cut_by == "rows":
        return f"The first {shown} of more: that is the limit. Narrow the query, or raise the limit."
    if answer.cut_by == "bytes":
        most = f"{answer.limits.answer_bytes / 1e6:,.0f} MB"
        return f"The first {shown} of more: with the next one the answer takes over {most}. Ask for less of each row."
    return None


def count_note(answer: Answer) -> str:
    """How many rows, and how long they took."""
    return f"{wording.plural(len(answer.rows), 'row')} in {answer.took_s:.1f} s"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 6 else wording.plural(len(names), "table")
