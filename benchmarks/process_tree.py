"""What a process and all it started used between two moments, apart by what they are: read from /proc, so on Linux."""

import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.served import CLOCK_TICKS

OWN, COMMAND, JVM, WORKER = "own", "command", "jvm", "worker"
KINDS = (OWN, COMMAND, JVM, WORKER)
_OF_CHILDREN = {OWN: COMMAND, COMMAND: COMMAND, JVM: WORKER, WORKER: WORKER}
_EVERY_S = 0.1


@dataclass(slots=True)
class Used:
    """Wall time, CPU time by kind of process, and the most resident memory that one process of a kind had.

    What a process used that has ended is told by its parent: children of the JVM were workers.
    """

    seconds: float = 0.0
    cpu_s: dict[str, float] = field(default_factory=dict)
    most_mib: dict[str, float] = field(default_factory=dict)

    @property
    def all_cpu_s(self) -> float:
        return sum(self.cpu_s.values())


Part = tuple[Used, int]  # what fewer records took, and how many they were


@dataclass(frozen=True, slots=True)
class Process:
    pid: int
    parent: int
    name: str
    cpu_s: float
    children_cpu_s: float
    resident_mib: float


@contextmanager
def measured() -> Iterator[Used]:
    """Of this process and its descendants while the block runs; filled in when it ends."""
    used, before, began = Used(), _cpu_s(), time.monotonic()
    over = threading.Event()
    sampler = threading.Thread(target=_sample, args=(used, over), daemon=True)
    sampler.start()
    try:
        yield used
    finally:
        used.seconds = time.monotonic() - began
        after = _cpu_s()
        used.cpu_s = {kind: after[kind] - before[kind] for kind in KINDS}
        over.set()
        sampler.join()


def descendants(processes: Mapping[int, Process], root: int) -> list[tuple[str, Process]]:
    """The process, of kind OWN, and all it started, directly or not: what a JVM started is a worker, ended or not."""
    found: list[tuple[str, Process]] = []
    wanted = [(OWN, processes[root])] if root in processes else []
    while wanted:
        kind, parent = wanted.pop()
        found.append((kind, parent))
        wanted += [(_kind(each, kind), each) for each in processes.values() if each.parent == parent.pid]
    return found


def _kind(process: Process, of_parent: str) -> str:
    if of_parent in (JVM, WORKER):
        return WORKER
    return JVM if process.name == "java" else COMMAND


def _sample(used: Used, over: threading.Event) -> None:
    while not over.wait(_EVERY_S):
        for kind, each in descendants(_processes(), os.getpid()):
            used.most_mib[kind] = max(used.most_mib.get(kind, 0.0), each.resident_mib)


def _cpu_s() -> dict[str, float]:
    found = dict.fromkeys(KINDS, 0.0)
    for kind, each in descendants(_processes(), os.getpid()):
        found[kind] += each.cpu_s
        found[_OF_CHILDREN[kind]] += each.children_cpu_s
    return found


def _processes() -> dict[int, Process]:
    found = (_process(path) for path in Path("/proc").iterdir() if path.name.isdigit())
    return {each.pid: each for each in found if each is not None}


def _process(path: Path) -> Process | None:
    """None where it has ended meanwhile."""
    try:
        name, _, rest = (path / "stat").read_text().rpartition(")")
        pages = int((path / "statm").read_text().split()[1])
    except OSError:
        return None
    fields = rest.split()
    cpu_s, children_cpu_s = (sum(map(int, fields[at : at + 2])) / CLOCK_TICKS for at in (11, 13))
    resident_mib = pages * os.sysconf("SC_PAGE_SIZE") / 2**20
    pid = int(path.name)
    return Process(pid, int(fields[1]), name.partition("(")[2], cpu_s, children_cpu_s, resident_mib)
