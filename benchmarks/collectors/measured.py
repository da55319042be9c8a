"""What a contender costs: wall, CPU, memory; and what it says of the cluster, to be compared with the others."""

import json
import resource
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True, slots=True)
class Totals:
    """What every contender must agree on; `lag` is the sum of high watermark − committed offset over all commits."""

    groups: int
    group_partitions: int
    lag: int


@dataclass(frozen=True, slots=True)
class Line:
    """One thing measured, the mean of so many `rounds`.

    `parts` say where its CPU seconds went; without `totals` there is nothing to compare.
    """

    what: str
    wall_s: float
    cpu_s: float
    peak_mb: float
    totals: Totals | None = None
    parts: Mapping[str, float] = field(default_factory=dict)
    rounds: int = 1


@dataclass(slots=True)
class Cost:
    """Wall and CPU seconds of a block of code, and of the processes it waited for."""

    wall_s: float = 0.0
    cpu_s: float = 0.0


@contextmanager
def cost() -> Iterator[Cost]:
    spent, wall_s, cpu_s = Cost(), time.monotonic(), used_cpu_s()
    yield spent
    spent.wall_s, spent.cpu_s = time.monotonic() - wall_s, used_cpu_s() - cpu_s


def used_cpu_s() -> float:
    """Of this process, all threads, and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def peak_mb() -> float:
    """The most memory this process or the largest of its ended children ever had."""
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(each).ru_maxrss for each in who) / 1_000


def tell(line: Line) -> None:
    """To the process that waits: and go on when it has taken note."""
    print(json.dumps(asdict(line)), flush=True)
    sys.stdin.readline()


def told(text: str) -> Line:
    fields = json.loads(text)
    totals = fields.pop("totals")
    return Line(**fields, totals=None if totals is None else Totals(**totals))


def mean(costs: list[Cost]) -> Cost:
    return Cost(sum(one.wall_s for one in costs) / len(costs), sum(one.cpu_s for one in costs) / len(costs))
