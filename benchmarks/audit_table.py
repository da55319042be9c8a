"""The lines of the audit's benchmark. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.process_tree import COMMAND, JVM, OWN, WORKER

HEADING = (
    "| Reader | records/s | CPU s (JVM, workers) | k records/CPU s | CPU, × kcat | goal | fixed CPU s "
    "| × kcat beyond it | most memory of a process |\n|---|---|---|---|---|---|---|---|---|"
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
    """One reader over so many records. `part`: the CPU seconds that fewer of them took, and how many they were."""

    name: str
    records: int
    seconds: float
    cpu_s: Mapping[str, float]
    most_mib: Mapping[str, float]
    part: tuple[float, int] | None = None

    @classmethod
    def of(cls, name: str, records: int, used: Mapping[str, Any], part: Mapping[str, Any] | None) -> "Measured":
        of_part = None if part is None else (part["cpu_s"], part["records"])
        return cls(name, records, used["seconds"], used["cpu_s"], used["most_mib"], of_part)

    @property
    def all_cpu_s(self) -> float:
        return sum(self.cpu_s.values())

    @property
    def per_record_s(self) -> float | None:
        """What each further record takes; None where only one size was measured."""
        if self.part is None:
            return None
        cpu_s, records = self.part
        return (self.all_cpu_s - cpu_s) / (self.records - records)


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
        *_fixed_and_beyond(measured, kcat),
        _memory(measured),
    )
    return f"| {' | '.join(cells)} |"


def _apart(measured: Measured) -> str:
    """Only Spark has workers."""
    if not measured.cpu_s[WORKER]:
        return ""
    return f" ({measured.cpu_s[JVM]:.1f}, {measured.cpu_s[WORKER]:.1f})"


def _fixed_and_beyond(measured: Measured, kcat: Measured | None) -> tuple[str, str]:
    """What a round costs before its first record, and each record after that, as a multiple of kcat's."""
    if measured.per_record_s is None:
        return "–", "–"
    fixed_s = measured.all_cpu_s - measured.per_record_s * measured.records
    beyond = None if kcat is None else measured.per_record_s * kcat.records / kcat.all_cpu_s
    return f"{fixed_s:.1f}", "–" if beyond is None else f"{beyond:.1f}"


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
