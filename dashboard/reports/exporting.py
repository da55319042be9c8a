"""An export that a session started: a process and a folder, both gone when nobody holds it any more."""

import subprocess
import sys
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

from dashboard.reports.making import Request
from dashboard.reports.writing import FORMATS

MOST_AT_ONCE = 2  # of one page process: each takes a core while it lasts
ROOT = Path(__file__).parents[2]
_counting = Lock()
_running: "weakref.WeakSet[Export]" = weakref.WeakSet()


class TooManyError(Exception):
    """Others are being made; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Made:
    """`files` by name of format."""

    title: str
    checksum: str
    files: Mapping[str, Path]


class Export:
    """Started by construction. Raises TooManyError where enough others are being made."""

    def __init__(self, request: Request, environ: Mapping[str, str]) -> None:
        self.request = request
        self._folder = TemporaryDirectory(prefix="tidemark-report-")
        with _counting:
            if sum(one.is_running for one in _running) >= MOST_AT_ONCE:
                raise TooManyError(
                    f"{MOST_AT_ONCE} reports are being made on this page's machine: try again in a minute."
                )
            self._process = self._started(dict(environ))
            _running.add(self)
        weakref.finalize(self, _end, self._process)

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    @property
    def step(self) -> str:
        """What is being done, in words."""
        lines = self._said("steps")
        return lines[-1] if lines else "starting"

    @property
    def failure(self) -> str | None:
        """Why it ended without a report; None while it runs and where there is one."""
        if self.is_running or self._process.returncode == 0:
            return None
        lines = self._said("errors")
        return lines[-1] if lines else f"the process ended with {self._process.returncode}"

    @property
    def made(self) -> Made | None:
        """None until every format is there."""
        if self.is_running or self._process.returncode != 0:
            return None
        title, _, checksum = self._said("steps")[-1].rpartition("\t")
        files = {name: Path(self._folder.name) / f"report{known.suffix}" for name, known in FORMATS.items()}
        return Made(title, checksum, files)

    def cancel(self) -> None:
        """Ended, and nothing is left of it."""
        _end(self._process)
        self._folder.cleanup()

    def _started(self, environ: dict[str, str]) -> subprocess.Popen[bytes]:
        asked, folder = self.request, Path(self._folder.name)
        command = [sys.executable, "-m", "dashboard.reports.worker", asked.kind, "--", asked.subject]
        command += [str(asked.from_ms), str(asked.to_ms), str(folder)]
        with (folder / "steps").open("wb") as steps, (folder / "errors").open("wb") as errors:
            return subprocess.Popen(
                command, cwd=ROOT, env=environ, stdout=steps, stderr=errors, stdin=subprocess.DEVNULL
            )

    def _said(self, name: str) -> list[str]:
        path = Path(self._folder.name) / name
        return path.read_text(errors="replace").splitlines() if path.exists() else []


def _end(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
