"""A DuckDB file with the document's tables. Its bytes differ from one writing to the next, its tables do not."""

from pathlib import Path

import duckdb

from dashboard.reports.as_arrow import arrow_tables
from dashboard.reports.document import Document
from store.views import quoted


def write(document: Document, path: Path) -> None:
    with duckdb.connect(str(path)) as database:
        database.execute("SET TimeZone = 'UTC'")
        for name, table in arrow_tables(document):
            database.register("incoming", table)
            database.execute(f"CREATE TABLE {quoted(name)} AS FROM incoming")
            database.unregister("incoming")
        database.execute("CHECKPOINT")
