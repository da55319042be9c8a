"""CSV: a zip with one file a table, because a spreadsheet and a script read one header and one kind of row a file."""

import zipfile
from pathlib import Path

from dashboard import wording
from dashboard.reports.document import Document, Table, Type, about, sentences
from dashboard.spreadsheets import csv_table
from dashboard.view import format_time

LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the earliest a zip can say: the same report is the same bytes


def write(document: Document, path: Path) -> None:
    """`report.csv` says what it rests on, `sentences.csv` holds the sentences."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as folder:
        for table in (about(document, wording.utc(document.created_ms)), sentences(document), *document.tables()):
            folder.writestr(entry(f"{table.name}.csv"), _text(table))


def entry(name: str) -> zipfile.ZipInfo:
    """An entry of a zip that says nothing of when or where it was made."""
    info = zipfile.ZipInfo(name, LONG_AGO)
    info.compress_type, info.create_system, info.external_attr = zipfile.ZIP_DEFLATED, 3, 0o644 << 16
    return info


def _text(table: Table) -> str:
    """Times as links and other tools write them: ISO 8601, UTC."""
    is_time = [column.type is Type.TIME for column in table.columns]
    rows = ([_plain(*pair) for pair in zip(row, is_time, strict=True)] for row in table.rows)
    return csv_table([column.name for column in table.columns], rows)


def _plain(cell: object, is_time: bool) -> object:
    return format_time(cell) if is_time and isinstance(cell, int) else cell
