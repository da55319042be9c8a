"""PDF: A4 across, text that can be searched and copied, charts as lines, fonts inside the file."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from fpdf import FPDF

from dashboard import wording
from dashboard.reports.as_html import cell
from dashboard.reports.document import Chart, Column, Document, Part, Sentence, Table, Type, about
from dashboard.reports.geometry import INK, WIDTH, Label, Rect, Shape, Stroke, drawing
from dashboard.reports.pdf_text import FAMILY, FONTS, PAD, SMALL, column_widths, printable, wrapped

MARGIN, FOOT, LINE = 36.0, 30.0, 11.0  # points
TEXT, HEAD = 9.5, 12.5
ABOVE_A_TABLE = 90.0  # a header and a first row
FAINT, GREY = "#D9DFE5", "#52606D"


class Page(FPDF):
    """Adds the line at the foot of each page."""

    def __init__(self, document: Document) -> None:
        super().__init__(orientation="landscape", unit="pt", format="A4")
        self.foot = f"{document.title[:90]} · SHA-256 {document.checksum[:16]}…"

    def footer(self) -> None:
        self.set_font(FAMILY, size=SMALL)
        self.set_text_color(GREY)
        self.text(MARGIN, self.h - 18, printable(self.foot))
        self.set_xy(self.w - MARGIN - 60, self.h - 26)
        self.cell(60, 11, f"{self.page_no()} of {{nb}}", align="R")


def write(document: Document, path: Path) -> None:
    """The dates in the file are that of the document, so the same document is the same bytes."""
    page = _opened(document)
    _heading(page, document.title, 16, 0)
    created = f"Created {wording.utc(document.created_ms)} · SHA-256 of the contents {document.checksum}"
    _paragraph(page, created, SMALL, GREY)
    for section in document.sections:
        _heading(page, section.title, HEAD, 0, ABOVE_A_TABLE)
        for part in section.parts:
            _part(page, part)
    _heading(page, "What this report rests on", HEAD, 0)
    _table(page, about(document, wording.utc(document.created_ms)))
    page.output(str(path))


def _opened(document: Document) -> Page:
    page = Page(document)
    for style, font in FONTS.items():
        page.add_font(FAMILY, style, font)
    page.set_creation_date(datetime.fromtimestamp(document.created_ms / 1000, UTC))
    page.set_title(printable(document.title))
    page.set_lang("en")
    page.set_margins(MARGIN, MARGIN)
    page.set_auto_page_break(False)
    page.add_page()
    page.set_y(MARGIN)
    return page


def _room(page: Page, height: float) -> bool:
    """Whether so much fits; otherwise a new page is begun."""
    if page.get_y() + height <= page.h - MARGIN - FOOT + 16:
        return True
    page.add_page()
    page.set_y(MARGIN)
    return False


def _heading(page: Page, text: str, size: float, level: int, follows: float = 40.0) -> None:
    """`follows`: how much of what it stands over must be on the same page."""
    _room(page, size * 2.3 + follows)
    page.set_y(page.get_y() + (size if page.get_y() > MARGIN else 0))
    page.start_section(printable(text)[:120], level=level)
    page.set_font(FAMILY, "B", size)
    page.set_text_color(INK)
    for line in wrapped(page, printable(text), page.epw):
        page.text(MARGIN, page.get_y() + size, line)
        page.set_y(page.get_y() + size * 1.3)
    page.set_y(page.get_y() + 3)


def _paragraph(page: Page, text: str, size: float, colour: str) -> None:
    page.set_font(FAMILY, size=size)
    for line in wrapped(page, printable(text), page.epw):
        _room(page, size * 1.35)
        page.set_font(FAMILY, size=size)  # a new page has set its own
        page.set_text_color(colour)
        page.text(MARGIN, page.get_y() + size, line)
        page.set_y(page.get_y() + size * 1.35)
    page.set_y(page.get_y() + 2)


def _part(page: Page, part: Part) -> None:
    if isinstance(part, Sentence):
        _paragraph(page, part.text + (f" [{part.grade}]" if part.grade else ""), TEXT, INK)
    elif isinstance(part, Table):
        _heading(page, part.title, TEXT, 1, ABOVE_A_TABLE if part.rows else 20.0)
        _table(page, part)
    else:
        _figure(page, part)


def _figure(page: Page, chart: Chart) -> None:
    drawn = drawing(chart)
    scale = page.epw / WIDTH
    _heading(page, chart.title, TEXT, 1, drawn.height * scale + 10)
    top = page.get_y()
    for shape in drawn.shapes:
        _shape(page, shape, scale, top)
    page.set_y(top + drawn.height * scale + 4)
    left = f" {wording.plural(drawn.left_out, 'lane')} more in the table." if drawn.left_out else ""
    _paragraph(page, chart.alt + left, SMALL, GREY)


def _shape(page: Page, shape: Shape, scale: float, top: float) -> None:
    match shape:
        case Rect(x, y, width, height, colour):
            page.set_fill_color(colour)
            page.rect(MARGIN + x * scale, top + y * scale, width * scale, height * scale, style="F")
        case Stroke(points, colour, width):
            page.set_draw_color(colour)
            page.set_line_width(width)
            page.polyline([(MARGIN + x * scale, top + y * scale) for x, y in points])
        case Label(x, y, text, anchor):
            page.set_font(FAMILY, size=SMALL)
            page.set_text_color(INK)
            known = printable(text)
            shift = {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * page.get_string_width(known)
            page.text(MARGIN + x * scale - shift, top + y * scale, known)


def _table(page: Page, table: Table) -> None:
    shown = [(place, column) for place, column in enumerate(table.columns) if column.is_shown]
    columns = [column for _, column in shown]
    rows = [[printable(cell(row[place], one.type)) for place, one in shown] for row in table.rows]
    if rows:
        widths = column_widths(page, columns, rows)
        _header(page, columns, widths)
        for row in rows:
            _row(page, columns, widths, row)
    if table.note or not rows:
        _paragraph(page, table.note or "Nothing.", SMALL, GREY)


def _header(page: Page, columns: Sequence[Column], widths: Sequence[float]) -> None:
    page.set_font(FAMILY, "B", SMALL)
    lines = [wrapped(page, column.name, width - PAD) for column, width in zip(columns, widths, strict=True)]
    _room(page, LINE * (max(map(len, lines)) + 2))
    page.set_font(FAMILY, "B", SMALL)
    _lines(page, columns, widths, lines, "#7A8793")


def _row(page: Page, columns: Sequence[Column], widths: Sequence[float], row: Sequence[str]) -> None:
    page.set_font(FAMILY, size=SMALL)
    lines = [wrapped(page, text, width - PAD) for text, width in zip(row, widths, strict=True)]
    tallest, first = max(map(len, lines)), 0
    most = int((page.h - 2 * MARGIN - FOOT) / LINE) - 3
    while first < tallest:  # a cell taller than a page goes on, on the next
        part = [own[first : first + most] for own in lines]
        if not _room(page, LINE * max(map(len, part)) + 4):
            _header(page, columns, widths)
        page.set_font(FAMILY, size=SMALL)
        _lines(page, columns, widths, part, FAINT)
        first += most


def _lines(
    page: Page, columns: Sequence[Column], widths: Sequence[float], lines: Sequence[Sequence[str]], rule: str
) -> None:
    x, y = MARGIN, page.get_y()
    page.set_text_color(INK)
    for column, width, own in zip(columns, widths, lines, strict=True):
        for number, line in enumerate(own):
            is_count = column.type is Type.COUNT
            shift = width - PAD - page.get_string_width(line) if is_count else 0.0
            page.text(x + shift, y + SMALL + 1 + LINE * number, line)
        x += width
    page.set_y(y + LINE * max(map(len, lines)) + 2)
    page.set_draw_color(rule)
    page.set_line_width(0.5)
    page.line(MARGIN, page.get_y(), page.w - MARGIN, page.get_y())
    page.set_y(page.get_y() + 1)
