"""Text on a page of a PDF: in characters the fonts have, in lines and columns that fit.

A character the fonts lack is written out as its code: a name never loses a part of it unseen.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from fpdf import FPDF

from dashboard.reports.document import Column

FONTS = {
    style: Path(__file__).parent / "fonts" / name
    for style, name in (("", "DejaVuSansCondensed.ttf"), ("B", "DejaVuSansCondensed-Bold.ttf"))
}
FAMILY = "DejaVu"
SMALL, PAD = 7.5, 6.0  # points
NARROWEST, WIDEST = 24.0, 300.0


def printable(text: str) -> str:
    """The text in characters the fonts have; others as `\\u4e2d`, line breaks kept."""
    known = _known()
    return "".join(char if char == "\n" or ord(char) in known else f"\\u{ord(char):04x}" for char in text)


@cache
def _known() -> frozenset[int]:
    page = FPDF()
    for style, path in FONTS.items():
        page.add_font(FAMILY, style, path)
    plain, bold = (set(page.fonts[key].cmap) for key in (FAMILY.lower(), f"{FAMILY.lower()}B"))
    return frozenset(plain & bold)


def column_widths(page: FPDF, columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> list[float]:
    """As wide as the contents where all fit; else the wide ones share what the narrow ones leave."""
    page.set_font(FAMILY, "B", SMALL)
    words = [max(map(page.get_string_width, column.name.split(" "))) for column in columns]
    page.set_font(FAMILY, size=SMALL)
    wanted = []
    for number, word in enumerate(words):
        texts = [row[number][:400] for row in rows[:200]]
        longest = max(page.get_string_width(line) for text in texts for line in text.split("\n"))
        wanted.append(min(WIDEST, max(NARROWEST, longest, word)) + PAD + 2)
    room = page.epw
    if sum(wanted) <= room:
        return wanted
    return _squeezed(wanted, room)


def _squeezed(wanted: Sequence[float], room: float) -> list[float]:
    """The width above which columns are cut, found from the narrowest on."""
    left, given = room, {}
    for rank, number in enumerate(sorted(range(len(wanted)), key=wanted.__getitem__)):
        given[number] = min(wanted[number], left / (len(wanted) - rank))
        left -= given[number]
    return [given[number] for number in range(len(wanted))]


def wrapped(page: FPDF, text: str, width: float) -> list[str]:
    """Lines no wider than `width` in the font that is set: broken at spaces, a longer word anywhere."""
    return [line for paragraph in text.split("\n") for line in _wrapped(page, paragraph, width)]


def _wrapped(page: FPDF, text: str, width: float) -> Iterator[str]:
    line = ""
    for word in text.split(" "):
        tried = f"{line} {word}" if line else word
        if page.get_string_width(tried) <= width:
            line = tried
            continue
        if line:
            yield line
        line = word
        while page.get_string_width(line) > width:
            fitting = _fitting(page, line, width)
            yield line[:fitting]
            line = line[fitting:]
    yield line


def _fitting(page: FPDF, word: str, width: float) -> int:
    """How many characters of a word fit, at least one."""
    low, high = 1, len(word)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if page.get_string_width(word[:middle]) <= width else (low, middle - 1)
    return low
