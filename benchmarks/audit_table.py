"""The lines of the audit's benchmark. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.process_tree import COMMAND, JVM, OWN, WORKER

HEADING = (
    "| Reader | records/s | CPU s (JVM, workers) | k records/CPU s | CPU, × kcat | goal | most memory of a process |\n"
    "|---|---|---|---|---|---|---|"
)
# CPU against kcat's on the same records.
GOALS: Mapping[str, float] = {
    "headers": 0.6,
    "sample 1/64": 1.2,
    "exact, partitioned alike": 1.5,
    "exact, partitioned otherwise": 2.5,
}
_NAMED = {OWN: "process", COMMAND: "process", JVM: "JVM", WORKER: "worker"}


@dataclass(frozen=True, slots=True)
class Measured:
    """One reader over so many records."""

    name: str
    records: int
    seconds: float
    cpu_s: Mapping[str, float]
    most_mib: Mapping[str, float]

    @classmethod
    def of(cls, name: str, records: int, used: Mapping[str, Any]) -> "Measured":
        return cls(name, records, used["seconds"], used["cpu_s"], used["most_mib"])

    @property
    def all_cpu_s(self) -> float:
        return sum(self.cpu_s.values())


def line(measured: Measured, kcat: Measured | None) -> str:
    """As Markdown; without kcat there is no ratio."""
    ratio = None if kcat is None else measured.all_cpu_s / kcat.all_cpu_s
    goal = GOALS.get(measured.name)
    cells = (
        measured.name,
        f"{measured.records / measured.seconds:,.0f}",
        f"{measured.all_cpu_s:.1f}{_apart(measured)}",
        f"{measured.records / measured.all_cpu_s / 1000:,.0f}",
        "–" if ratio is None else f"{ratio:.1f}",
        _judged(goal, ratio),
        _memory(measured),
    )
    return f"| {' | '.join(cells)} |"


def _apart(measured: Measured) -> str:
    """Only Spark has workers."""
    if not measured.cpu_s[WORKER]:
        return ""
    return f" ({measured.cpu_s[JVM]:.1f}, {measured.cpu_s[WORKER]:.1f})"


def _judged(goal: float | None, ratio: float | None) -> str:
    if goal is None:
        return "–"
    return f"≤ {goal:g}" + ("" if ratio is None else ", met" if ratio <= goal else ", missed")


def _memory(measured: Measured) -> str:
    """Of a command, not of the process that waits for it."""
    kinds = [kind for kind in (COMMAND, JVM, WORKER) if measured.most_mib.get(kind)] or [OWN]
    return ", ".join(
        f"{_NAMED[kind]} {measured.most_mib[kind]:,.0f} MiB" for kind in kinds if kind in measured.most_mib
    )
