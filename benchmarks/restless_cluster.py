"""The collectors on a real cluster whose brokers are paused, killed and restarted at random.

`python -m benchmarks.restless_cluster [--minutes 30] [--seed 1]` ends with 1 where a round is missing, a coverage is
not honest, or the process grew.
"""

import argparse
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from benchmarks.restless_verdict import (
    Answer,
    Away,
    Used,
    falsely_complete,
    growth,
    impossible_answers,
    incomplete_in_peace,
    late_ticks,
    missing_ticks,
)
from guarantees.observations import Signal
from lab.child import Child
from lab.cluster import Cluster
from lab.ground import STAYS, Ground
from lab.partition_log import PartitionLog
from lab.paths import LabPaths
from lab.traffic import Traffic
from lab.truth import now_ms
from lab.watch import read_found
from store.reading import read

INTERVAL_S = 2.0
PARTITIONS = 12
REPLICAS = [[1, 2, 3], [2, 3, 1], [3, 1, 2]]
# Kept by an allocator that gives nothing back, by rounds of 15 minutes held for the rules, by caches of names.
MOST_GROWTH_MIB = 30.0
# A client library's own come and go.
MOST_MORE_THREADS = 2
# Connections that are being made or closed.
MOST_MORE_FILES = 10
_USED_EVERY_S = 5.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tidemark-restless-") as folder, Cluster() as cluster:
        aways, used = _restless(cluster, Path(folder), chosen.minutes, random.Random(chosen.seed))
        return _verdict(Path(folder) / "data", aways, used)


def _restless(cluster: Cluster, folder: Path, minutes: float, draw: random.Random) -> tuple[list[Away], list[Used]]:
    aways: list[Away] = []
    used: list[Used] = []
    paths = LabPaths(folder / "lab")
    paths.create()
    with PartitionLog(cluster.address(STAYS)) as log:
        ground = Ground(cluster, log, paths, "restless", seed=1)
        topic = ground.create_topic("orders", [REPLICAS[n % 3] for n in range(PARTITIONS)])
        with Traffic(ground, topic, PARTITIONS, ground.name("readers")), _collecting(cluster, folder) as collectors:
            ends = time.monotonic() + 60 * minutes
            while time.monotonic() < ends:
                _watch_memory(collectors, used, draw.uniform(5, 25))
                aways.append(_one_deed(cluster, collectors, used, draw))
                print(f"{len(used):4} {aways[-1]} {used[-1]}", flush=True)
            _watch_memory(collectors, used, 60)
    return aways, used


@contextmanager
def _collecting(cluster: Cluster, folder: Path) -> Iterator[Child]:
    settings = folder / "tidemark.toml"
    settings.write_text(
        f'[[clusters]]\nname = "restless"\nbootstrap_servers = "{cluster.bootstrap}"\ninterval_s = {INTERVAL_S}\n'
    )
    command = [sys.executable, "-m", "cli", "collect", "--settings", str(settings)]
    collectors = Child("collect", command, folder / "collect.log", os.environ)
    try:
        yield collectors
    finally:
        collectors.stop(20)


def _one_deed(cluster: Cluster, collectors: Child, used: list[Used], draw: random.Random) -> Away:
    """A broker is paused or killed for a while, or restarted in order."""
    broker, deed, seconds = (
        draw.choice(cluster.broker_ids),
        draw.choice(["paused", "killed", "restarted"]),
        draw.uniform(2, 20),
    )
    from_ms = now_ms()
    if deed == "restarted":
        cluster.restart(broker)
        return Away(broker, deed, from_ms, from_ms, now_ms())
    (cluster.pause if deed == "paused" else cluster.kill)(broker)
    away_ms = now_ms()
    _watch_memory(collectors, used, seconds)
    to_ms = now_ms()
    (cluster.resume if deed == "paused" else cluster.restart)(broker)
    return Away(broker, deed, away_ms, to_ms, now_ms())


def _watch_memory(collectors: Child, used: list[Used], for_s: float) -> None:
    ends = time.monotonic() + for_s
    while (left := ends - time.monotonic()) > 0:
        used.append(used_by(collectors.pid))
        time.sleep(min(left, _USED_EVERY_S))


def used_by(pid: int) -> Used:
    """As Linux says."""
    proc = Path(f"/proc/{pid}")
    status = dict(line.split(":", 1) for line in (proc / "status").read_text().splitlines())
    return Used(int(status["VmRSS"].split()[0]) / 1024, int(status["Threads"]), sum(1 for _ in (proc / "fd").iterdir()))


def _verdict(data: Path, aways: list[Away], used: list[Used]) -> int:
    rounds = [
        {**row, "started_ms": _ms(row["started_at"]), "ended_ms": _ms(row["observed_at"])}
        for row in read(data, "rounds").to_pylist()
    ]
    values = [
        *_answers(data, "partition_offsets", "broker", "high_watermark"),
        *_answers(data, "replica_offsets", "replica", "log_end_offset"),
    ]
    before, after = growth(used)
    problems = {
        "rounds missing": missing_ticks(rounds),
        "answers of a broker that could not": impossible_answers(values, aways),
        "rounds falsely complete": falsely_complete(rounds, Signal.REPLICA_OFFSETS, aways),
        "signals incomplete in peace": incomplete_in_peace(rounds, aways),
        "threads more": list(range(before.threads + MOST_MORE_THREADS, after.threads)),
        "open files above what may be kept": list(range(before.open_files + MOST_MORE_FILES, after.open_files)),
        "MiB above what may be kept": list(range(int(after.resident_mib - before.resident_mib - MOST_GROWTH_MIB))),
    }
    ticks = {row["tick"] for row in rounds}
    print(f"{len(ticks)} rounds, {len(aways)} deeds: {dict(Counter(away.deed for away in aways))}")
    print(
        f"{len(values)} offsets stored, {sum(answer.value is None for answer in values)} of them unknown with a reason"
    )
    print(f"rounds late by more than an interval: {late_ticks(rounds, INTERVAL_S)}")
    print(f"collectors: second quarter {before}, last quarter {after}")
    print(f"findings: {dict(Counter(str(found.kind) for found in read_found(data)))}")
    for what, found in problems.items():
        print(f"{what}: {len(found)}", *found[:5], sep="\n  " if found else "")
    return int(any(problems.values()))


def _answers(data: Path, table: str, broker: str, value: str) -> list[Answer]:
    return [
        Answer(
            row[broker],
            row[value],
            None if row["requested_at"] is None else _ms(row["requested_at"]),
            _ms(row["observed_at"]),
        )
        for row in read(data, table).to_pylist()
    ]


def _ms(at: datetime) -> int:
    return round(at.timestamp() * 1000)


if __name__ == "__main__":
    sys.exit(main())
