"""Ids as hashes: where the settings say so, no report names a message, a member, a client, a host or a transaction."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any

from dashboard.names import cut, visible
from dashboard.reports.document import Chart, Document, Part, Section, Sentence, Table
from guarantees.findings import Finding

# Evidence that names one of them, as the rules spell it.
NAMES_OF_IDS = frozenset({
    "message_id", "record_key", "member_id", "new_member_id", "old_member", "old_owner", "old_owner_host", "owner",
    "owner_before", "owner_after", "left", "client_id", "host", "transactional_id", "transactional_ids",
    "group_instance_id",
})  # fmt: skip
DIGITS = 16


def hashed(text: str) -> str:
    """The same id gives the same hash in every report. Who can guess an id can check the guess."""
    return f"id:{sha256(text.encode()).hexdigest()[:DIGITS]}"


def ids_of(findings: Iterable[Finding]) -> set[str]:
    """Every id that the evidence names."""
    return {one for finding in findings for one in _ids(finding.evidence, is_id=False)}


def hide(document: Document, ids: Iterable[str]) -> Document:
    """The document with a hash for each of the ids, wherever its text stands, in notes of people too."""
    known = {shown: hashed(one) for one in ids for shown in (visible(one), cut(one, 120), cut(one, 300)) if one.strip()}
    if not known:
        return document
    longest_first = sorted(known, key=lambda one: (-len(one), one))
    # A whole word only: an id of one letter must not take every word apart.
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")
    hiding = _Hiding(pattern, known)
    return replace(document, title=hiding.text(document.title), sections=tuple(map(hiding.section, document.sections)))


def _ids(given: Any, *, is_id: bool) -> Iterator[str]:
    if isinstance(given, Mapping):
        for name, value in given.items():
            yield from _ids(value, is_id=name in NAMES_OF_IDS)
    elif isinstance(given, list | tuple):
        for value in given:
            yield from _ids(value, is_id=is_id)
    elif is_id and isinstance(given, str):
        yield given


class _Hiding:
    """Replaces in every part of a document."""

    def __init__(self, pattern: re.Pattern[str], known: Mapping[str, str]) -> None:
        self._pattern, self._known = pattern, known

    def text(self, text: str) -> str:
        return self._pattern.sub(lambda found: self._known[found[0]], text)

    def section(self, section: Section) -> Section:
        return Section(self.text(section.title), tuple(map(self._part, section.parts)))

    def _part(self, part: Part) -> Part:
        if isinstance(part, Sentence):
            return Sentence(self.text(part.text), part.grade)
        return self._table(part) if isinstance(part, Table) else self._chart(part)

    def _chart(self, chart: Chart) -> Chart:
        return replace(chart, alt=self.text(chart.alt), table=self._table(chart.table))

    def _table(self, table: Table) -> Table:
        rows = tuple(tuple(self.text(cell) if isinstance(cell, str) else cell for cell in row) for row in table.rows)
        return replace(table, rows=rows)
