"""What an audit costs beside plain reading: `python -m benchmarks.audit [--small]`, on a lab cluster of its own.

The same records, one contender after another, each in a process of its own: a source and its sink, where some ids were
sent twice and some are missing. Records a CPU second and the ratios are the result; wall times say as much about
who else used the machine. An audit that does not find what was done is an error, not a figure.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

from benchmarks.audit_contender import CONTENDERS
from benchmarks.audit_table import HEADING, Measured, line
from benchmarks.audit_topics import LOST, TWICE, Case, Topics, removed, written
from benchmarks.served import ROOT
from lab.cluster import Cluster

IDS, FEW_IDS = 400_000, 20_000
_CONTENDER_WITHIN_S = 900


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--small", action="store_const", dest="ids", const=FEW_IDS, help="does it run")
    size.add_argument("--ids", type=int, default=IDS, help="records of 100 B in the source; a fourth of them of 1 KiB")
    parser.add_argument("--only", nargs="*", default=list(CONTENDERS), choices=list(CONTENDERS), metavar="CONTENDER")
    chosen = parser.parse_args()
    wrong = 0
    with Cluster() as cluster:
        for case in cases(chosen.ids):
            topics = written(cluster.bootstrap, case)
            print(f"\n{case.name}: {topics.records:,} records of source and sink\n\n{HEADING}", flush=True)
            wrong += _compared(cluster.bootstrap, topics, chosen.only)
            removed(cluster.bootstrap, topics)
    return int(wrong > 0)


def cases(ids: int) -> list[Case]:
    sizes = ((ids, 100), (ids // 4, 1024))
    return [Case(number, record_bytes, codec) for number, record_bytes in sizes for codec in ("lz4", "none")]


def _compared(bootstrap: str, topics: Topics, names: Iterable[str]) -> int:
    """Print a line for each; how many counted wrongly."""
    found: dict[str, Measured] = {}
    wrong = 0
    for name in names:
        answer = _run(name, bootstrap, topics)
        if isinstance(answer, str):
            print(f"| {name} | not run: {answer} | | | | | | | |", flush=True)
            continue
        found[name] = Measured.of(name, topics.records, answer["used"], answer["part"])
        problem = problem_of(answer["found"], topics.records, is_exact=name.startswith("exact"))
        wrong += problem is not None
        print(line(found[name], found.get("kcat")) + (f" WRONG: {problem}" if problem else ""), flush=True)
    return wrong


def problem_of(found: Mapping[str, int | None], records: int, *, is_exact: bool) -> str | None:
    """What a contender says that is not so; a sample is held to the records it read only."""
    wanted = {"records": records} | ({"extra_copies": TWICE, "lost": LOST} if is_exact else {})
    wrong = [
        f"{what} {found[what]}, not {number}" for what, number in wanted.items() if found[what] not in (None, number)
    ]
    return "; ".join(wrong) or None


def _run(name: str, bootstrap: str, topics: Topics) -> Mapping[str, Mapping[str, float]] | str:
    """What it used and found, or why it did not run."""
    spec = json.dumps({"bootstrap": bootstrap, **asdict(topics)})
    command: Sequence[str] = [sys.executable, "-m", "benchmarks.audit_contender", name, spec]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=_CONTENDER_WITHIN_S)
    if ran.returncode != 0:
        said = [text for text in ran.stderr.splitlines() if text.strip()]
        return said[-1] if said else f"it ended with {ran.returncode}"
    answer: Mapping[str, Mapping[str, float]] = json.loads(ran.stdout.splitlines()[-1])
    return answer


if __name__ == "__main__":
    sys.exit(main())
