"""Tables as CSV that a spreadsheet shows and never executes."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from numbers import Number

from dashboard.names import visible

# What spreadsheets read as the begin of a formula (CWE-1236).
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def cell(value: object) -> str:
    """Text that is never a formula and hides nothing; a gap is an empty cell, and a number stays one."""
    text = "" if value is None else str(value)
    if isinstance(value, Number):
        return text
    return ("'" if text.startswith(FORMULA_STARTS) else "") + visible(text)


def csv_text(rows: Sequence[Mapping[str, object]]) -> str:
    """Rows of the same columns, the names of the columns first."""
    return csv_table(list(rows[0] if rows else ()), (row.values() for row in rows))


def csv_table(names: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """The names of the columns, then the rows: a table that is empty still says what it would hold."""
    written = io.StringIO()
    table = csv.writer(written)
    table.writerow([cell(name) for name in names])
    table.writerows([cell(value) for value in row] for row in rows)
    return written.getvalue()
