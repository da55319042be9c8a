"""The processes of the torture test. Each starts as the product starts it and works until it is killed.

What a process has done it notes in a file of its own, `began` before and `done` after each commit, and nowhere else:
the notes are the test's knowledge of what was acknowledged. Syncing them is what a caller does who must be sure, and
the time in which a commit is on the disk and nobody has been told.
"""

import os
import random
import threading
import time
from pathlib import Path

from settings import StoreSettings
from store import maintenance
from store.errors import StoreLockedError
from store.log import SegmentLog
from store.metrics import METRICS_FILE, MetricsWriter, snapshot
from store.reading import Window, read

ROWS = 5
GRACE_MS = 3_000
# The maintainer's clock runs ahead, so that every minute and hour is over at once and both tiers are merged.
AHEAD_MS = 2 * 3_600_000


class Notes:
    """Lines of an append-only file; a line is complete or the process died while writing it."""

    def __init__(self, path):
        self._path = path
        self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)

    def add(self, word, number):
        os.write(self._file, f"{word} {number}\n".encode())
        os.fsync(self._file)

    @staticmethod
    def numbers(path, word):
        if not path.exists():
            return []
        lines = path.read_text().splitlines(keepends=True)
        return [int(line.split()[1]) for line in lines if line.startswith(f"{word} ") and line.endswith("\n")]


def now_ms():
    return time.time_ns() // 1_000_000


def started(start):
    """The role is free as soon as the system has buried its killed holder."""
    while True:
        try:
            return start()
        except StoreLockedError:
            time.sleep(0.01)


def produce(data_dir: Path, producer: str) -> None:
    """Append batch after batch, each once: after a restart new ones, as a sampler does."""
    notes_path = data_dir / "notes" / producer
    log, notes = started(lambda: SegmentLog(data_dir, producer)), Notes(notes_path)
    batch = max(Notes.numbers(notes_path, "began"), default=-1) + 1
    while True:
        notes.add("began", batch)
        rows = [{"cluster_id": producer, "tick": batch, "signal": str(n), "observed_at": now_ms()} for n in range(ROWS)]
        log.append("rounds", rows)
        notes.add("done", batch)
        batch += 1
        time.sleep(0.01)


def maintain(data_dir: Path) -> None:
    settings = StoreSettings(data_dir=str(data_dir))
    arguments = {"round_s": 0.1, "grace_ms": AHEAD_MS + GRACE_MS, "clock_ms": lambda: now_ms() + AHEAD_MS}
    started(lambda: maintenance.run(settings, threading.Event(), **arguments))


def cover_ranges(data_dir: Path) -> None:
    """Read ranges of a partition as a job does: ids first, then results and ledger in one transaction.

    How far a range reaches is not the same after a restart: the log has grown, or a cap has changed.
    """
    notes = Notes(data_dir / "notes" / "driver")
    log = started(lambda: SegmentLog(data_dir, "driver"))
    writer = started(lambda: MetricsWriter(data_dir / METRICS_FILE))
    with writer.transaction() as metrics:
        (reached,) = metrics.query("SELECT max(next_offset) AS reached FROM ledger").to_pylist()
    first = reached["reached"] or 0
    while True:
        following = first + random.randint(1, 12)
        notes.add("began", first)
        observed_at = now_ms()
        key = {"cluster_id": "c", "topic_id": "id", "partition": 0, "observed_at": observed_at}
        ids = [{**key, "offset": offset, "id_hash": offset} for offset in range(first, following)]
        range_of = {"topic_id_hex": "0a", "partition": 0, "observed_at_ms": observed_at}
        log.append_range("id_samples", ids, first=first, last=following - 1, **range_of)
        with writer.transaction() as metrics:
            metrics.replace("ledger", [{**key, "first_offset": first, "next_offset": following}])
            metrics.replace("duplicates", [duplicate_row(key, first)])
        notes.add("done", first)
        first = following
        time.sleep(0.01)


def duplicate_row(key, first):
    return {**key, "first_offset": first, "cause": "", "first_producer_id": -1, "producer_id": -1, "producer_epoch": -1}


def watch(data_dir: Path, producers: list[str], stop, results) -> None:
    """Read everything again and again until told to stop; puts the problems seen and the number of checks."""
    problems: list[str] = []
    seen: dict[str, set[int]] = {producer: set() for producer in producers}
    covered, checks = 0, 0
    try:
        while not stop.is_set():
            problems += batch_problems(data_dir, seen)
            reached, found = metric_problems(data_dir)
            problems += found + [f"the ledger went back from {covered} to {reached}"] * (reached < covered)
            covered = reached
            checks += 1
            time.sleep(0.05)
    except Exception as exc:
        problems.append(f"a reader failed: {type(exc).__name__}: {exc}")
    results.put((problems[:10], checks))


def batch_problems(data_dir: Path, seen: dict[str, set[int]]) -> list[str]:
    """What is wrong with the producers' batches, given those seen before; adds to them what is there now."""
    acknowledged = {producer: set(Notes.numbers(data_dir / "notes" / producer, "done")) for producer in seen}
    batches = rows_by_batch(data_dir)
    problems = []
    for producer, before in seen.items():
        rows = batches.get(producer, {})
        broken = {batch: number for batch, number in rows.items() if number != ROWS}
        missing, vanished = acknowledged[producer] - rows.keys(), before - rows.keys()
        if broken or missing or vanished:
            problems.append(f"{producer}: broken {broken}, acknowledged and missing {missing}, vanished {vanished}")
        before |= rows.keys()
    return problems


def rows_by_batch(data_dir: Path) -> dict[str, dict[int, int]]:
    """Producer → batch → rows of it that a reader sees."""
    window = Window(now_ms() - 3_600_000, now_ms() + 3_600_000)
    rows = read(data_dir, "rounds", window).group_by(["cluster_id", "tick"]).aggregate([("signal", "count")])
    found: dict[str, dict[int, int]] = {}
    for row in rows.to_pylist():
        found.setdefault(row["cluster_id"], {})[row["tick"]] = row["signal_count"]
    return found


def metric_problems(data_dir: Path) -> tuple[int, list[str]]:
    """The offset up to which the ledger goes, and where ledger, results and ids disagree."""
    metrics = snapshot(data_dir / METRICS_FILE, ["ledger", "duplicates"])
    ranges = sorted((row["first_offset"], row["next_offset"]) for row in metrics["ledger"].to_pylist())
    firsts, followings = [first for first, _ in ranges], [following for _, following in ranges]
    covered = max(followings, default=0)
    problems = []
    if firsts != [0, *followings][: len(firsts)]:
        problems.append(f"the ledger has a hole or an overlap: {ranges}")
    if sorted(metrics["duplicates"]["first_offset"].to_pylist()) != firsts:
        problems.append("ledger and results disagree")
    if sampled_offsets(data_dir)[:covered] != list(range(covered)):
        problems.append(f"the sampled ids below {covered} are not there once each")
    return covered, problems


def sampled_offsets(data_dir: Path) -> list[int]:
    return sorted(read(data_dir, "id_samples")["offset"].to_pylist())
