"""A store of a fixed night with an incident in it, and its reports in every format, each made once."""

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import duckdb
import pyarrow.parquet as pq

from dashboard.reports.document import Document
from dashboard.reports.making import Request, known_incidents, looks, make
from dashboard.reports.writing import FORMATS, write
from guarantees.findings import Finding
from settings import Settings, load_settings
from tests.dashboard import fixture_store, story_incident

STORY_MS = 1_772_334_720_000  # 2026-03-01 03:12:00 UTC
FROM_MS, TO_MS = STORY_MS - 25 * 60_000, STORY_MS + 5 * 60_000
MADE_MS = STORY_MS + 10 * 60_000
SECRET = "hunter2-not-in-any-report"
SECURITY = """
security = { protocol = "SASL_SSL", sasl_mechanism = "PLAIN", username = "u-tidemark", password = { env = "A_SECRET" } }
"""


@dataclass
class Night:
    """`findings`: of the incident, as they were stored."""

    folder: Path
    settings: Settings
    findings: list[Finding]

    def request(self, kind: str, subject: str) -> Request:
        return Request(kind, subject, FROM_MS, TO_MS)

    def document(self, kind: str, subject: str) -> Document:
        return make(self.settings, self.request(kind, subject), MADE_MS)

    @cached_property
    def incident_id(self) -> str:
        (look,) = looks(self.settings, self.request("incident", ""), MADE_MS)
        return max(known_incidents(look), key=lambda one: len(one.findings)).incident_id

    @cached_property
    def documents(self) -> dict[str, Document]:
        subjects = {"incident": self.incident_id, "delivery": story_incident.PIPELINE, "durability": "production"}
        return {kind: self.document(kind, subject) for kind, subject in subjects.items()}

    def file(self, kind: str, format_name: str) -> Path:
        path = self.folder / f"{kind}{FORMATS[format_name].suffix}"
        if not path.exists():
            write(self.documents[kind], format_name, path)
        return path


def build(folder: Path, ids: Sequence[str] = story_incident.IDS) -> Night:
    path = fixture_store.write_settings(folder)
    text = path.read_text().replace('"127.0.0.1:9092"', '"127.0.0.1:9092"' + SECURITY)
    path.write_text(text)
    fixture_store.build(folder / "data", STORY_MS, quiet_minutes=5)
    found = story_incident.add(folder / "data", STORY_MS, ids)
    return Night(folder, load_settings(path), found)


Cells = list[dict[str, object]]


def parquet_tables(path: Path) -> dict[str, Cells]:
    with zipfile.ZipFile(path) as folder:
        return {
            name.removesuffix(".parquet"): pq.read_table(folder.open(name)).to_pylist() for name in folder.namelist()
        }


def duckdb_tables(path: Path) -> dict[str, Cells]:
    with duckdb.connect(str(path), read_only=True) as database:
        database.execute("SET TimeZone = 'UTC'")
        names = [name for (name,) in database.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
        return {name: database.sql(f'FROM "{name}"').to_arrow_table().to_pylist() for name in names}
