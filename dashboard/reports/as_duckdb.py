"""A DuckDB file with the document's tables. Its bytes differ from one writing to the next, its tables do not."""

from pathlib import Path

import duckdb

from dashboard.reports.as_arrow import arrow_tables
from dashboard.reports.document import Document
from store.views import literal, quoted

BLOCK_BYTES = 16_384  # the least: every column of every small table takes a block


def write(document: Document, path: Path) -> None:
    with duckdb.connect(":memory:") as database:
        database.execute("SET TimeZone = 'UTC'")
        database.execute(f"ATTACH {literal(path)} AS report (BLOCK_SIZE {BLOCK_BYTES})")
        for name, table in arrow_tables(document):
            database.register("incoming", table)
            database.execute(f"CREATE TABLE report.{quoted(name)} AS FROM incoming")
            database.unregister("incoming")
        database.execute("DETACH report")
