"""A report before it has a format: sections of sentences, tables and charts, and what all of it rests on.

Every format shows exactly this. The checksum is over everything but the time of creation.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cached_property
from hashlib import sha256

Cell = str | int | float | None


class Type(StrEnum):
    """What a column holds; a cell of any type may be None, which is unknown or not applicable, never zero."""

    TEXT = "text"
    COUNT = "count"
    TIME = "time"  # ms since 1970, UTC


@dataclass(frozen=True, slots=True)
class Column:
    """`is_shown` False: for data formats only, because a shown column says the same in words."""

    name: str
    type: Type = Type.TEXT
    is_shown: bool = True


@dataclass(frozen=True, slots=True)
class Table:
    """`name` is that of its file, or of its table in a database. `note`: what is left out, or why it is empty."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence with its grade, where it is a statement about what happened."""

    text: str
    grade: str | None = None


@dataclass(frozen=True, slots=True)
class Lanes:
    """Stretches of time on lanes, drawn from the columns named; `word` is what the colour stands for."""

    title: str
    alt: str
    table: Table
    lane: str
    since: str
    until: str
    word: str
    from_ms: int
    to_ms: int


@dataclass(frozen=True, slots=True)
class Line:
    """One value over time, drawn from two columns of the table; where it is unknown there is a gap."""

    title: str
    alt: str
    table: Table
    at: str
    value: str
    from_ms: int
    to_ms: int


Chart = Lanes | Line
Part = Sentence | Table | Chart


@dataclass(frozen=True, slots=True)
class Section:
    title: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Document:
    """`provenance` names samples, coverage, versions and settings it rests on; `created_ms` is stated, not content."""

    kind: str
    title: str
    sections: tuple[Section, ...]
    provenance: tuple[tuple[str, str], ...]
    created_ms: int

    @cached_property
    def checksum(self) -> str:
        """SHA-256 over the contents, in hex; the same for every format and whenever it is made."""
        content = {"kind": self.kind, "title": self.title, "sections": _plain(self.sections)}
        text = json.dumps(content | {"provenance": self.provenance}, sort_keys=True, ensure_ascii=True)
        return sha256(text.encode()).hexdigest()

    def tables(self) -> Iterator[Table]:
        """Every table once, those that charts are drawn from included, in the order of the document."""
        seen: set[str] = set()
        for section in self.sections:
            for part in section.parts:
                table = part if isinstance(part, Table) else getattr(part, "table", None)
                if table is not None and table.name not in seen:
                    seen.add(table.name)
                    yield table


def table(
    name: str, title: str, columns: Sequence[Column], rows: Sequence[Mapping[str, Cell]], note: str = ""
) -> Table:
    """A table from rows by column name."""
    return Table(name, title, tuple(columns), tuple(tuple(row[c.name] for c in columns) for row in rows), note)


def position(of: Table, column: str) -> int:
    """Where a column of that name stands in the rows."""
    return [one.name for one in of.columns].index(column)


SENTENCES = (Column("section"), Column("sentence"), Column("grade"))
PROVENANCE = (Column("what"), Column("value"))


def sentences(document: Document) -> Table:
    """All sentences as a table, for formats that know nothing else."""
    rows = tuple(
        (section.title, part.text, part.grade)
        for section in document.sections
        for part in section.parts
        if isinstance(part, Sentence)
    )
    return Table("sentences", "Sentences", SENTENCES, rows)


def about(document: Document, created: str) -> Table:
    """Title, checksum and provenance as a table; `created` is how the format states the time of creation."""
    own = (("report", document.title), ("created", created), ("sha256 of the contents", document.checksum))
    return Table("report", "About this report", PROVENANCE, (*own, *document.provenance))


def _plain(sections: Sequence[Section]) -> list[dict[str, object]]:
    return [
        {"title": section.title, "parts": [[type(part).__name__, asdict(part)] for part in section.parts]}
        for section in sections
    ]
