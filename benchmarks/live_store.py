"""`python -m benchmarks.live_store DIRECTORY`: the store of `large_store` lives on, as if somebody collected.

Rounds that were laid aside appear when their time has come, and the store is rolled up and merged as by `tidemark
maintain`, until the process is told to end. Nothing expires: the benchmark may be repeated days later.
"""

import argparse
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event

from benchmarks.large_store import AHEAD, WRITTEN
from benchmarks.served import ROOT
from store.locks import RoleLock
from store.maintenance import ROUND_S, merge, now_ms, roll_up
from store.merging import ROLE

PAUSE_S = 0.5


@contextmanager
def living(directory: Path) -> Iterator[None]:
    """In a process of its own, ended by its handle afterwards."""
    command = [sys.executable, "-m", "benchmarks.live_store", str(directory)]
    live = subprocess.Popen(command, cwd=ROOT)
    try:
        yield
    finally:
        live.terminate()
        try:
            live.wait(timeout=20)
        except subprocess.TimeoutExpired:  # in the middle of an hour's merge, which is made again
            live.kill()
            live.wait()


def release(directory: Path, at_ms: int) -> int:
    """Move what is older than the moment from aside to where it is seen, the oldest first; returns how many files."""
    aside = sorted((path.stat().st_mtime_ns, path) for path in (directory / AHEAD / "raw").rglob("*.parquet"))
    due = [path for modified_ns, path in aside if modified_ns <= at_ms * 1_000_000]
    for path in due:
        seen = directory / "data" / path.relative_to(directory / AHEAD)
        seen.parent.mkdir(parents=True, exist_ok=True)
        path.rename(seen)
    return len(due)


def seen_to_ms(directory: Path) -> int:
    """Up to when rounds are there now: those that are due appear."""
    written_to_ms, at_ms = int((directory / WRITTEN).read_text().split()[0]), now_ms()
    release(directory, at_ms)
    return min(written_to_ms, at_ms)


def run(directory: Path, stop: Event) -> None:
    data_dir, maintained_s = directory / "data", 0.0
    with RoleLock(data_dir / f"{ROLE}.lock"):
        while not stop.wait(PAUSE_S):
            release(directory, now_ms())
            if time.monotonic() - maintained_s > ROUND_S:
                roll_up(data_dir, now_ms())
                merge(data_dir, now_ms())
                maintained_s = time.monotonic()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.live_store", description=__doc__)
    parser.add_argument("directory", type=Path, help="of python -m benchmarks.large_store")
    stop = Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    run(parser.parse_args(arguments).directory, stop)


if __name__ == "__main__":
    main()
