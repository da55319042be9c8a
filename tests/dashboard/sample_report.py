"""The sample report of the docs: `python -m tests.dashboard.sample_report` writes it from the story's incident."""

from pathlib import Path
from tempfile import TemporaryDirectory

from dashboard.reports.writing import write
from tests.dashboard import report_store
from tests.dashboard.conftest import ROOT

IDS = ("order-000777", "order-000781", "order-000785")


def main() -> None:
    with TemporaryDirectory() as folder:
        night = report_store.build(Path(folder), IDS)
        for format_name in ("html", "pdf"):
            write(night.documents["incident"], format_name, ROOT / "docs" / f"sample-report.{format_name}")


if __name__ == "__main__":
    main()
