"""`python -m benchmarks.collectors [--small] [--kminion PATH]`: what a round costs, side by side on a real cluster.

Builds the cluster (the large one within minutes, the small one within one), lets each contender read it in a process of
its own, once directly for the costs and once through a proxy that counts requests and bytes, and prints one table. Ends
with 1 where two contenders disagree about groups, group-partitions or the sum of lag. CPU seconds are the result: wall
time says as much about what else the machine does.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.collectors.clusters import LARGE, SMALL, Size, built
from benchmarks.collectors.measured import Line, told
from lab.cluster import Cluster
from lab.proxy import Passed

CONTENDERS = ("tidemark", "confluent", "command_line")


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured, and what went over the wire meanwhile."""

    line: Line
    passed: Passed

    def __str__(self) -> str:
        line, totals = self.line, self.line.totals
        agreed = "" if totals is None else f"{totals.groups:,} / {totals.group_partitions:,} / {totals.lag:,}"
        costs = f"{line.wall_s:.2f} | {line.cpu_s:.3f} | {line.peak_mb:.0f}"
        sent, received = self.passed.requests / line.rounds, self.passed.answered_bytes / line.rounds / 1_000
        return f"| {line.what} | {costs} | {sent:,.0f} | {received:,.0f} | {agreed} |"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.collectors", description=__doc__)
    parser.add_argument(
        "--small", action="store_true", help="2,000 partitions and 200 groups instead of 20,000 and 1,020"
    )
    parser.add_argument("--kminion", metavar="PATH", help="a kminion binary to measure beside the others")
    chosen = parser.parse_args()
    size = SMALL if chosen.small else LARGE
    with built(size, progress=lambda text: print(text, file=sys.stderr)) as cluster:
        rows = list(_rows(cluster, chosen.kminion))
    print(table(size, rows))
    return 0 if agree(rows) else 1


def _rows(cluster: Cluster, kminion: str | None) -> Iterator[Row]:
    for name in (*CONTENDERS, *(("kminion",) if kminion else ())):
        arguments = [kminion] if name == "kminion" and kminion else []
        print(f"Measuring {name}", file=sys.stderr)
        measured = [line for line, _ in _told(cluster, [name, cluster.bootstrap, *arguments])]
        counted = [passed for _, passed in _told(cluster, [name, cluster.proxied_bootstrap, *arguments])]
        yield from (Row(line, passed) for line, passed in zip(measured, counted, strict=True))


def _told(cluster: Cluster, arguments: Sequence[str]) -> Iterator[tuple[Line, Passed]]:
    """The contender's lines, each with what passed the proxies since the one before; it waits between them."""
    command = [sys.executable, "-m", "benchmarks.collectors.contender", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        before = cluster.passed
        for text in running.stdout:
            now = cluster.passed
            yield told(text), now.since(before)
            before = now
            running.stdin.write("\n")
            running.stdin.flush()
    if running.returncode:
        raise SystemExit(f"{arguments[0]} ended with {running.returncode}")


def table(size: Size, rows: Sequence[Row]) -> str:
    """Markdown; what went where in Tidemark's whole round below it."""
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    head = [
        f"{size.partitions:,} partitions, {size.groups + 2 * size.members:,} groups, {size.commits:,} commits; "
        f"{os.cpu_count()} cores, load {load}",
        "",
        "| contender | wall s | CPU s | peak MB | requests | kB received | groups / group-partitions / sum of lag |",
        "|---|---|---|---|---|---|---|",
    ]
    return "\n".join([*head, *map(str, rows), "", *_parts(rows)])


def _parts(rows: Sequence[Row]) -> Iterator[str]:
    whole = next((row.line for row in reversed(rows) if row.line.parts), None)
    if whole is not None:
        yield f"CPU milliseconds of {whole.what}"
        yield from (f"  {1_000 * used_s:8.1f}  {part}" for part, used_s in whole.parts.items())


def agree(rows: Sequence[Row]) -> bool:
    """Whether everybody who counted found the same."""
    return len({row.line.totals for row in rows if row.line.totals is not None}) == 1


if __name__ == "__main__":
    raise SystemExit(main())
