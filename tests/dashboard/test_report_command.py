"""`tidemark report` over a store of a fixed night: what it writes, says and refuses, and that nothing half is left."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cli.main import main
from dashboard.reports import writing
from dashboard.reports.document import Document
from dashboard.reports.exporting import Export, TooManyError
from dashboard.reports.making import Request
from dashboard.reports.writing import FORMATS, Format, write
from tests.dashboard import story_incident
from tests.dashboard.report_store import FROM_MS, TO_MS

NOTHING = Document("delivery", "Nothing", (), (), 0)


@pytest.fixture
def report(night, tmp_path, capsys):
    """The exit code, what was said, and the file."""

    def made(*words: str) -> tuple[int, str, Path]:
        out = tmp_path / "out"
        code = main(["report", *words, "--out", str(out), "--settings", str(night.folder / "tidemark.toml")])
        said = capsys.readouterr()
        return code, said.out + said.err, out

    return made


WINDOW = ("--from", "2026-03-01T02:47", "--to", "2026-03-01T03:17")


def test_one_line_says_what_was_written_with_its_checksum(report):
    code, said, out = report("delivery", story_incident.PIPELINE, *WINDOW)

    assert code == 0
    assert said.startswith(
        f"wrote {out} (html): Delivery of orders-to-payments, 2026-03-01 02:47:00 to 03:17:00 UTC; sha256"
    )
    checksum = said.split()[-1]
    assert len(checksum) == 64
    assert checksum in out.read_text()


PIPELINE, CLUSTER = ("delivery", story_incident.PIPELINE), ("durability", "production")
REFUSED = [
    (("delivery", "orders-to-paymets", *WINDOW), "no pipeline is named 'orders-to-paymets'; the nearest known: or"),
    ((*PIPELINE, "--last", "day", "--from", "2026-03-01"), "give --last, or --from and --to, not both"),
    ((*PIPELINE, "--from", "2026-03-01"), "--from and --to are two moments"),
    ((*CLUSTER, "--from", "2026-03-02", "--to", "2026-03-01"), "the first before the second"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "expected"), REFUSED, ids=lambda value: value if isinstance(value, str) else "")
def test_what_cannot_be_reported_is_refused_in_one_sentence_and_nothing_is_written(report, words, expected):
    code, said, out = report(*words)

    assert (code, expected in said, out.exists()) == (2, True, False)


def test_a_file_that_cannot_be_written_is_said_and_leaves_nothing(report, night, capsys):
    code = main(["report", "durability", "production", "--settings", str(night.folder / "tidemark.toml"), *WINDOW,
                 "--out", "/proc/nowhere/report.html"])  # fmt: skip

    assert code == 2
    assert "cannot be written" in capsys.readouterr().err


def test_an_export_that_fails_leaves_the_file_that_was_there_and_no_half(tmp_path, monkeypatch):
    def half(document: Document, path: Path) -> None:
        path.write_text("half")
        raise MemoryError

    monkeypatch.setitem(writing.FORMATS, "html", Format(".html", "text/html", half))
    (tmp_path / "report.html").write_text("the last one")
    with pytest.raises(MemoryError):
        write(NOTHING, "html", tmp_path / "report.html")

    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert (tmp_path / "report.html").read_text() == "the last one"


KILLED = """
import sys, time
from pathlib import Path
from dashboard.reports import writing
from dashboard.reports.document import Document

def slow(document, path):
    path.write_text("half")
    print("half", flush=True)
    time.sleep(60)

writing.FORMATS["html"] = writing.Format(".html", "text/html", slow)
writing.write(Document("delivery", "Nothing", (), (), 0), "html", Path(sys.argv[1]))
"""


def test_an_export_that_is_ended_by_a_signal_leaves_no_half_file(tmp_path):
    command = [sys.executable, "-c", KILLED, str(tmp_path / "report.html")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"half\n"
        assert len(list(tmp_path.iterdir())) == 1
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 128 + signal.SIGTERM

    assert list(tmp_path.iterdir()) == []


def test_the_page_makes_every_format_in_a_process_of_its_own_and_a_cancelled_one_is_gone(night):
    environ = {**os.environ, "TIDEMARK_SETTINGS": str(night.folder / "tidemark.toml")}
    request = night.request("durability", "production")
    export, cancelled = Export(request, environ), Export(request, environ)
    folder = Path(cancelled._folder.name)
    with pytest.raises(TooManyError, match="try again"):
        Export(request, environ)
    cancelled.cancel()
    deadline = time.monotonic() + 150
    while export.is_running and time.monotonic() < deadline:
        time.sleep(0.1)

    assert not folder.exists()
    assert not cancelled.is_running
    made = export.made
    assert made is not None
    assert made.title == "Durability of cluster production, 2026-03-01 02:47:00 to 03:17:00 UTC"
    assert {name: path.stat().st_size > 0 for name, path in made.files.items()} == dict.fromkeys(FORMATS, True)
    assert made.checksum in made.files["html"].read_text()


def test_an_export_of_what_is_not_known_says_why(night):
    environ = {**os.environ, "TIDEMARK_SETTINGS": str(night.folder / "tidemark.toml")}
    export = Export(Request("delivery", "-nobody", FROM_MS, TO_MS), environ)
    while export.is_running:
        time.sleep(0.1)

    assert export.failure is not None
    assert export.failure.startswith("no pipeline is named '-nobody'")
