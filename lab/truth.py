"""Ground truth: what the processes of the workload saw and did, as it happened, safe from a SIGKILL of the writer."""

import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


def now_ms() -> int:
    """Milliseconds since 1970, UTC; the lab and the cluster share one clock."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class TruthLine:
    """One thing that happened, and when."""

    at_ms: int
    event: str
    facts: Mapping[str, Any]


class TruthLog:
    """Appends lines; each reaches the file in one write before the call returns, so only what happened is in it."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def write(self, event: str, **facts: object) -> None:
        os.write(self._file, format_line(TruthLine(now_ms(), event, facts)))


class Tail:
    """Reads a truth file on from where it stood when the tail was made, or from its beginning."""

    def __init__(self, path: Path, *, from_beginning: bool = False) -> None:
        self._path = path
        self._position = 0 if from_beginning or not path.exists() else path.stat().st_size

    def new_lines(self) -> list[TruthLine]:
        """The lines written since the last call; a line still being written waits for the next one."""
        if not self._path.exists():
            return []
        with self._path.open("rb") as source:
            source.seek(self._position)
            text = source.read()
        whole = text[: text.rfind(b"\n") + 1]
        self._position += len(whole)
        return [parse_line(line) for line in whole.splitlines()]


def read_truth(path: Path) -> list[TruthLine]:
    """All whole lines of a truth file."""
    return Tail(path, from_beginning=True).new_lines()


def format_line(line: TruthLine) -> bytes:
    return json.dumps({"at_ms": line.at_ms, "event": line.event, **line.facts}).encode() + b"\n"


def parse_line(text: bytes) -> TruthLine:
    fields = json.loads(text)
    return TruthLine(fields.pop("at_ms"), fields.pop("event"), fields)
