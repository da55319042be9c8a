"""HTML in one file: no script, nothing fetched, charts inline; readable on a phone and printed."""

import html
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from dashboard import wording
from dashboard.reports.as_svg import svg
from dashboard.reports.document import Cell, Chart, Column, Document, Part, Section, Sentence, Table, Type, about
from dashboard.reports.geometry import drawing

WIDEST_CH, SENTENCE, MEASURED = 26, 60, 200

STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; color: #0B1218; background: #FFF;
  max-width: 1180px; margin: 0 auto; padding: 1.25rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; border-bottom: 1px solid #D9DFE5; padding-bottom: .25rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
p { margin: .35rem 0; overflow-wrap: anywhere; white-space: pre-line; }
.grade { font-size: .8rem; font-weight: 600; border: 1px solid #7A8793; border-radius: 4px; padding: 0 .35rem;
  margin-left: .35rem; white-space: nowrap; }
.note, .made { color: #52606D; }
.made { overflow-wrap: anywhere; font-size: .9rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .87rem; margin: .25rem 0 .5rem; }
th, td { text-align: left; vertical-align: top; padding: .25rem .6rem .25rem 0; border-bottom: 1px solid #E9EDF1;
  overflow-wrap: anywhere; }
th { border-bottom: 1px solid #7A8793; }
td.count, th.count { text-align: right; }
td.count { white-space: nowrap; }
figure { margin: .5rem 0; }
svg { width: 100%; min-width: 560px; height: auto; }
@page { size: A4 landscape; margin: 14mm; }
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; }
  .wide { overflow: visible; }
  svg { min-width: 0; }
  thead { display: table-header-group; }
  tr, figure, h2, h3 { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  th { min-width: 0 !important; }
}
"""


def write(document: Document, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(_page(document))


def cell(value: Cell, kind: Type) -> str:
    """A cell in words: full digits, moments in UTC, a dash for what is not known or does not apply."""
    if value is None:
        return "–"
    if kind is Type.TIME and isinstance(value, int):
        return wording.utc(value)
    return wording.count(value) if kind is Type.COUNT and isinstance(value, int) else str(value)


def _page(document: Document) -> Iterator[str]:
    created = wording.utc(document.created_ms)
    title = html.escape(document.title)
    yield f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
    yield f"<style>{STYLE}</style></head><body><main>\n<h1>{title}</h1>\n"
    yield f'<p class="made">Created {created} · SHA-256 of the contents {document.checksum}</p>\n'
    for section in document.sections:
        yield from _section(section)
    yield "<h2>What this report rests on</h2>\n"
    yield from _table(about(document, created))
    yield "</main></body></html>\n"


def _section(section: Section) -> Iterator[str]:
    yield f"<section><h2>{html.escape(section.title)}</h2>\n"
    for part in section.parts:
        yield from _part(part)
    yield "</section>\n"


def _part(part: Part) -> Iterable[str]:
    if isinstance(part, Sentence):
        grade = f'<span class="grade">{html.escape(part.grade)}</span>' if part.grade else ""
        return [f"<p>{html.escape(part.text)}{grade}</p>\n"]
    if isinstance(part, Table):
        return [f"<h3>{html.escape(part.title)}</h3>\n", *_table(part)]
    return _figure(part)


def _figure(chart: Chart) -> Iterator[str]:
    yield f'<h3>{html.escape(chart.title)}</h3>\n<figure class="wide">{svg(chart)}</figure>\n'
    if left_out := drawing(chart).left_out:
        yield f'<p class="note">{wording.plural(left_out, "lane")} more in the table.</p>\n'


def _table(table: Table) -> Iterator[str]:
    if table.rows:
        yield '<div class="wide" tabindex="0"><table><thead><tr>'
        shown = [(place, one) for place, one in enumerate(table.columns) if one.is_shown]
        yield "".join(_head(one, [row[place] for row in table.rows[:MEASURED]]) for place, one in shown)
        yield "</tr></thead><tbody>\n"
        for row in table.rows:
            cells = (f"<td{_class(one.type)}>{html.escape(cell(row[place], one.type))}</td>" for place, one in shown)
            yield f"<tr>{''.join(cells)}</tr>\n"
        yield "</tbody></table></div>\n"
    if table.note or not table.rows:
        yield f'<p class="note">{html.escape(table.note or "Nothing.")}</p>\n'


def _head(column: Column, cells: Sequence[Cell]) -> str:
    """As wide as its longest word, a column of sentences as wide as they need to be read: up to a limit."""
    texts = [column.name, *(cell(one, column.type) for one in cells)]
    word = max(len(word) for text in texts for word in text.split(" "))
    width = WIDEST_CH if max(map(len, texts)) > SENTENCE else min(WIDEST_CH, word + 1)
    return f'<th{_class(column.type)} style="min-width:{width}ch">{html.escape(column.name)}</th>'


def _class(kind: Type) -> str:
    return ' class="count"' if kind is Type.COUNT else ""
