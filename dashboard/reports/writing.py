"""A report becomes a file: written aside, then renamed, so that a cancelled export leaves no half file."""

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from dashboard.reports import as_csv, as_duckdb, as_html, as_parquet
from dashboard.reports.document import Document


@dataclass(frozen=True, slots=True)
class Format:
    """How a document is written to a path that does not exist yet, and what a browser is told that it is."""

    suffix: str
    media_type: str
    write: Callable[[Document, Path], None]


def _write_pdf(document: Document, path: Path) -> None:
    # Loaded by who writes one: the library takes 30 MB, in every process that knows the command line.
    from dashboard.reports import as_pdf

    as_pdf.write(document, path)


FORMATS: Mapping[str, Format] = {
    "html": Format(".html", "text/html", as_html.write),
    "pdf": Format(".pdf", "application/pdf", _write_pdf),
    "csv": Format(".csv.zip", "application/zip", as_csv.write),
    "parquet": Format(".parquet.zip", "application/zip", as_parquet.write),
    "duckdb": Format(".duckdb", "application/octet-stream", as_duckdb.write),
}


class NotWrittenError(Exception):
    """The file cannot be written; the message says why in one sentence."""


def write(document: Document, format_name: str, path: Path) -> None:
    """The document under that path, whole or not at all; a file of that name gives way. Raises NotWrittenError."""
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with _removed_unless_renamed(aside), _ended_by_signals():
            FORMATS[format_name].write(document, aside)
            with aside.open("rb") as written:
                os.fsync(written.fileno())
            aside.replace(path)
    except OSError as exc:
        raise NotWrittenError(f"{path} cannot be written: {exc.strerror or exc}") from exc


@contextmanager
def _removed_unless_renamed(aside: Path) -> Iterator[None]:
    try:
        yield
    finally:
        aside.unlink(missing_ok=True)
        aside.with_name(f"{aside.name}.wal").unlink(missing_ok=True)  # DuckDB's, of a database that was not closed


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """SIGTERM ends the export as an exception does, so that what lies aside is removed."""

    def end(number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)

    try:
        before = signal.signal(signal.SIGTERM, end)
    except ValueError:  # not the main thread: whoever runs it there cannot be sent a signal
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
