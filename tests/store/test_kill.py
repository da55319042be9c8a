"""Death at any moment loses nothing that was acknowledged, doubles nothing, and no reader notices."""

import multiprocessing
import random
import threading
import time

import pytest

from settings import StoreSettings
from store import maintenance
from store.log import SegmentLog
from store.metrics import METRICS_FILE, MetricsWriter, snapshot
from tests.store.torture import (
    Notes,
    batch_problems,
    cover_ranges,
    maintain,
    metric_problems,
    produce,
    rows_by_batch,
    watch,
)

PRODUCERS = ["one", "two", "three"]
# A busy machine needs longer until every kind of death has been met.
KILLING_S, LONGEST_S = 8.0, 90.0
# Forked from a server that has imported what is slow to import, and that holds no lock.
SPAWNING = multiprocessing.get_context("forkserver")
SPAWNING.set_forkserver_preload(["pandas", "pyarrow.dataset", "tests.store.torture"])


class Victims:
    """The processes under test, killed one at a time and started again at once."""

    def __init__(self, data_dir):
        self.data_dir = data_dir
        self._starts = {name: (produce, (data_dir, name)) for name in PRODUCERS}
        self._starts |= {"maintain": (maintain, (data_dir,)), "driver": (cover_ranges, (data_dir,))}
        self._running = {}
        self.kill_s = 0.0
        self.kills = 0
        self.kills_during_a_merge = 0

    def names(self):
        return list(self._starts)

    def start(self, name):
        work, arguments = self._starts[name]
        self._running[name] = SPAWNING.Process(target=work, args=arguments, name=name, daemon=True)
        self._running[name].start()

    def kill(self, name):
        process = self._running.pop(name)
        assert process.exitcode is None, f"{name} died by itself"
        process.kill()
        process.join()
        self.kills += 1
        self.kills_during_a_merge += name == "maintain" and is_writing(self.data_dir, ".tmp/maintain/*")


def is_writing(data_dir, pattern):
    return next(data_dir.glob(pattern), None) is not None


def came(holds, seconds=1.0):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if holds():
            return True
        time.sleep(0)
    return False


def a_moment_came(data_dir, name, choose):
    """Wait until a commit is under way, or has just been made: that is when death could do harm."""
    pattern = choose.choice([".tmp/driver/*", "metrics.duckdb.wal"]) if name == "driver" else f".tmp/{name}/*"
    if not came(lambda: is_writing(data_dir, pattern)):
        return False
    moment = choose.choice(["at once", "when gone", "later"])
    if moment == "when gone":
        came(lambda: not is_writing(data_dir, pattern))
    elif moment == "later":
        time.sleep(choose.uniform(0, 0.03))
    return True


@pytest.mark.timeout(240)
def test_killed_at_random_nothing_acknowledged_is_lost_or_doubled_and_no_reader_notices(tmp_path, record_property):
    (tmp_path / "notes").mkdir()
    stop, results = SPAWNING.Event(), SPAWNING.Queue()
    reader = SPAWNING.Process(target=watch, args=(tmp_path, PRODUCERS, stop, results), daemon=True)
    reader.start()
    victims = Victims(tmp_path)
    kill_at_random(victims, KILLING_S)
    while victims.kill_s < LONGEST_S and not all(proofs(victims).values()):
        kill_at_random(victims, 2.0)
    stop.set()
    problems, checks = results.get(timeout=60)

    assert problems == []
    assert batch_problems(tmp_path, {producer: set() for producer in PRODUCERS}) == []
    assert metric_problems(tmp_path)[1] == []
    assert_starts_sweep(tmp_path)
    counts = {"checks of the reader": checks, **proofs(victims)}
    record_property("counts", counts)
    print(counts)
    assert all(counts.values()), f"a count of zero proves nothing: {counts}"


def kill_at_random(victims, seconds):
    """Start all, kill and restart one after the other until the time is up, kill all."""
    choose = random.Random()
    for name in victims.names():
        victims.start(name)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        name = choose.choice([*PRODUCERS, "maintain", "driver", "driver"])
        if a_moment_came(victims.data_dir, name, choose):
            victims.kill(name)
            victims.start(name)
    for name in victims.names():
        victims.kill(name)
    victims.kill_s += seconds


def proofs(victims):
    """How often death came where it could do harm."""
    data_dir = victims.data_dir
    return {
        "kills": victims.kills,
        "kills during a merge": victims.kills_during_a_merge,
        "batches committed and not acknowledged": len(unacknowledged_batches(data_dir)),
        "ranges in the ledger and not acknowledged": len(unacknowledged_ranges(data_dir)),
        "ranges begun again": ranges_begun_again(data_dir),
        "hours merged": len(list(data_dir.glob("raw/rounds/*/*/*.2.*.parquet"))),
        "acknowledged": sum(len(Notes.numbers(path, "done")) for path in (data_dir / "notes").iterdir()),
    }


def assert_starts_sweep(data_dir):
    """Every role starts once more, as the product starts it, and leaves no unfinished file."""
    for producer in (*PRODUCERS, "driver"):
        SegmentLog(data_dir, producer).close()
    MetricsWriter(data_dir / METRICS_FILE).close()
    stopped = threading.Event()
    stopped.set()
    maintenance.run(StoreSettings(data_dir=str(data_dir)), stopped)
    assert [path for path in (data_dir / ".tmp").rglob("*") if path.is_file()] == []


def unacknowledged_batches(data_dir):
    present = rows_by_batch(data_dir)
    return [
        (producer, batch)
        for producer in PRODUCERS
        for batch in present.get(producer, {}).keys() - set(Notes.numbers(data_dir / "notes" / producer, "done"))
    ]


def unacknowledged_ranges(data_dir):
    ledger = snapshot(data_dir / METRICS_FILE, ["ledger"])["ledger"]
    return set(ledger["first_offset"].to_pylist()) - set(Notes.numbers(data_dir / "notes/driver", "done"))


def ranges_begun_again(data_dir):
    """Ranges begun twice: the process died before the ledger had them, often after their ids were committed."""
    began = Notes.numbers(data_dir / "notes/driver", "began")
    return len(began) - len(set(began))
