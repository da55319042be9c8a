"""Parquet: a zip with one file a table, stored as it is: Parquet compresses itself."""

import io
import zipfile
from pathlib import Path

import pyarrow.parquet as pq

from dashboard.reports.as_arrow import arrow_tables
from dashboard.reports.as_csv import entry
from dashboard.reports.document import Document


def write(document: Document, path: Path) -> None:
    with zipfile.ZipFile(path, "w") as folder:
        for name, table in arrow_tables(document):
            file = io.BytesIO()
            pq.write_table(table, file, compression="zstd")
            described = entry(f"{name}.parquet")
            described.compress_type = zipfile.ZIP_STORED
            folder.writestr(described, file.getvalue())
