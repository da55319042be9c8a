"""Rows as a table for a terminal: nothing in a cell moves its cursor, hides or re-orders."""

from collections.abc import Sequence
from numbers import Number

from dashboard.names import cut

CELL = 60  # characters; other formats hold all of them
GAP = "–"


def table(names: Sequence[str], rows: Sequence[Sequence[object]], *, cell: int = CELL) -> str:
    """Columns as wide as their widest cell, numbers to the right, a gap as a dash."""
    shown = [[GAP if value is None else cut(str(value), cell) for value in row] for row in rows]
    headed = [[cut(name, cell) for name in names], *shown]
    widths = [max(map(len, column)) for column in zip(*headed, strict=True)]
    is_number = [all(_is_number(row[number]) for row in rows) for number in range(len(names))]
    lines = [headed[0], ["─" * width for width in widths], *shown]
    return "\n".join(_line(cells, widths, is_number) for cells in lines)


def _line(cells: Sequence[str], widths: Sequence[int], is_number: Sequence[bool]) -> str:
    aligned = (
        cell.rjust(width) if to_the_right else cell.ljust(width)
        for cell, width, to_the_right in zip(cells, widths, is_number, strict=True)
    )
    return "  ".join(aligned).rstrip()


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, Number) and not isinstance(value, bool))
