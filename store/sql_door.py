"""The SQL door: one query over the store, answered by a process of its own, which can be killed at any time."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from store.errors import QueryError
from store.reading import Window
from store.sql_process import Limits, Request

ROOT = Path(__file__).resolve().parents[1]
# What the process needs of ours to find Python and its libraries. Settings may name secrets in the others.
_ENVIRONMENT = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "VIRTUAL_ENV")


@dataclass(frozen=True, slots=True)
class Answer:
    """Columns as (name, DuckDB's type), the rows, and `cut_by` rows or bytes where there are more; else None.

    A value is null, a flag, a number or text: times as ISO 8601 in UTC, other types as DuckDB writes them.
    """

    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[Any, ...], ...]
    cut_by: str | None
    tables: tuple[str, ...]
    window: Window
    limits: Limits
    took_s: float

    def objects(self) -> list[dict[str, Any]]:
        """The rows by their columns' names, which DuckDB has made unique."""
        names = [name for name, _ in self.columns]
        return [dict(zip(names, row, strict=True)) for row in self.rows]


class Running:
    """A query on its way. Leaving the `with` kills what is left of it."""

    def __init__(self, data_dir: Path, window: Window, sql: str, limits: Limits) -> None:
        self._window, self.limits = window, limits
        self._unsaid: str | None = str(Request(str(data_dir.absolute()), window.from_ms, window.to_ms, sql, limits))
        self._started_s = time.monotonic()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "store.sql_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=_environment(os.environ),
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    @property
    def took_s(self) -> float:
        return time.monotonic() - self._started_s

    def wait(self, for_s: float) -> Answer | None:
        """The answer, or None while there is none; raises QueryError where there will be none."""
        left_s = self.limits.time_s - self.took_s
        unsaid, self._unsaid = self._unsaid, None  # it is handed over once, however often it is waited for
        try:
            told, problem = self._process.communicate(unsaid, timeout=max(0.0, min(for_s, left_s)))
        except subprocess.TimeoutExpired:
            if for_s < left_s:
                return None
            self.kill()
            raise QueryError(f"the query took more than {self.limits.time_s:g} s and was ended") from None
        return answer_of(told, problem, self._process.returncode, self._window, self.limits, self.took_s)

    def kill(self) -> None:
        """End it now, whatever it does."""
        self._process.kill()
        self._process.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()


def ask(data_dir: Path, window: Window, sql: str, limits: Limits) -> Answer:
    """The answer to one query, waited for; raises QueryError with the reason where there is none."""
    with Running(data_dir, window, sql, limits) as running:
        while (found := running.wait(limits.time_s)) is None:
            pass
        return found


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    kept = {name: environ[name] for name in _ENVIRONMENT if name in environ}
    return kept | {"PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [environ.get("PYTHONPATH")])])}


def answer_of(told: str, problem: str, code: int, window: Window, limits: Limits, took_s: float) -> Answer:
    """What the lines of the process say; without their end it died on the way."""
    lines = [json.loads(line) for line in told.splitlines() if line.endswith(("]", "}"))]
    end = lines[-1] if lines and isinstance(lines[-1], dict) else {}
    if "error" in end:
        raise QueryError(end["error"])
    if "cut" not in end:
        raise QueryError(_death(code, problem, limits))
    columns = tuple((name, kind) for name, kind in lines[0]["columns"])
    kinds = [kind for _, kind in columns]
    rows = tuple(tuple(map(_value, row, kinds)) for row in lines[1:-1])
    return Answer(columns, rows, end["cut"], tuple(lines[0]["tables"]), window, limits, took_s)


def _value(value: Any, kind: str) -> Any:
    return Decimal(value) if kind.startswith("DECIMAL") and value is not None else value


def _death(code: int, problem: str, limits: Limits) -> str:
    if "memory" in problem.lower() or "bad_alloc" in problem or -code in (signal.SIGABRT, signal.SIGSEGV):
        return f"the query needed more memory than its {limits.memory_bytes / 1e6:,.0f} MB, and was ended"
    last = problem.strip().splitlines()[-1:] or [""]
    return f"the process of the query died with code {code}: {last[0]}"
