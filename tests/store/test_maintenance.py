import os
import threading
import time

import pytest

from settings import StoreSettings
from store import maintenance
from store.errors import StoreLockedError
from store.log import SegmentLog
from store.maintenance import run
from store.merging import WIDER
from store.publish import stale_temporaries
from store.reading import read, segments
from store.unfit import unfit_files
from tests.store.builders import HOUR, round_row


def in_background(data_dir, **arguments):
    stop = threading.Event()
    settings = StoreSettings(data_dir=str(data_dir))
    thread = threading.Thread(target=run, args=(settings, stop), kwargs={"round_s": 0.01, **arguments})
    thread.start()
    return stop, thread


def until(holds, seconds=20):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_the_maintainer_merges_until_it_is_stopped(tmp_path):
    log = SegmentLog(tmp_path, "h")
    now_ms = time.time_ns() // 1_000_000
    for tick in range(4):
        log.append("rounds", [round_row(tick, now_ms)])
    stop, thread = in_background(tmp_path, clock_ms=lambda: now_ms + HOUR + 60_000)

    until(lambda: len(segments(tmp_path, "rounds", None)) < 4)
    stop.set()
    thread.join(20)

    assert not thread.is_alive()
    assert sorted(read(tmp_path, "rounds")["tick"].to_pylist()) == [0, 1, 2, 3]
    log.close()


def test_while_an_hour_is_merged_minutes_and_roll_ups_go_on_and_nothing_expires(tmp_path, monkeypatch):
    is_over, done = threading.Event(), []

    def merged(_data_dir, _now_ms, _grace_ms, levels):
        if levels == WIDER:
            done.append("hour begun")
            is_over.wait(20)
        done.append("hour over" if levels == WIDER else "minutes")

    monkeypatch.setattr(maintenance, "merge", merged)
    monkeypatch.setattr(maintenance, "roll_up", lambda *_: done.append("roll-up"))
    monkeypatch.setattr(maintenance, "expire", lambda *_: done.append("expiry"))
    stop, thread = in_background(tmp_path)

    until(lambda: done.count("minutes") > 3)
    before = list(done)
    is_over.set()
    until(lambda: "expiry" in done[len(before) :])
    stop.set()
    thread.join(20)

    assert before.count("expiry") == 1
    assert "hour over" not in before
    assert before.count("roll-up") >= 3
    assert done.index("hour over") < len(before) + done[len(before) :].index("expiry")


def test_what_fails_while_an_hour_is_merged_ends_the_maintainer(tmp_path, monkeypatch):
    def merged(_data_dir, _now_ms, _grace_ms, levels):
        if levels == WIDER:
            raise OSError("the disk is full")

    monkeypatch.setattr(maintenance, "merge", merged)

    with pytest.raises(OSError, match="disk is full"):
        run(StoreSettings(data_dir=str(tmp_path)), threading.Event(), round_s=0.01)


def test_a_second_maintainer_of_the_same_directory_fails_at_start(tmp_path):
    stop, thread = in_background(tmp_path)
    until((tmp_path / "maintain.lock").exists)
    until(lambda: (tmp_path / ".tmp/maintain").exists())

    with pytest.raises(StoreLockedError, match=r"maintain\.lock"):
        run(StoreSettings(data_dir=str(tmp_path)), threading.Event())
    stop.set()
    thread.join(20)


def test_a_start_removes_what_dead_processes_left_unfinished_and_leaves_the_fresh(tmp_path):
    log = SegmentLog(tmp_path, "h")
    stale, fresh = tmp_path / ".tmp/h/stale.parquet", tmp_path / ".tmp/h/fresh.parquet"
    own = tmp_path / ".tmp/maintain/half.parquet"
    own.parent.mkdir()
    for path in (stale, fresh, own):
        path.write_bytes(b"")
    later_ms = time.time_ns() // 1_000_000 + 1_000
    hour_ago_s = time.time() - 3600
    os.utime(stale, (hour_ago_s, hour_ago_s))
    stop, thread = in_background(tmp_path, clock_ms=lambda: later_ms)

    until(lambda: not stale.exists() and not own.exists())
    stop.set()
    thread.join(20)

    assert fresh.exists()
    log.close()


def test_a_start_does_not_mind_a_file_that_its_writer_commits_under_its_eyes(tmp_path):
    elsewhere = tmp_path / ".tmp" / "three"
    elsewhere.mkdir(parents=True)
    (elsewhere / "listed-and-gone.parquet").symlink_to(tmp_path / "committed-meanwhile.parquet")

    assert stale_temporaries(tmp_path, before_ms=2**53) == []


def test_a_file_that_is_no_segment_is_reported_once(tmp_path, caplog):
    stray = tmp_path / "raw/rounds/notes.txt"
    stray.parent.mkdir(parents=True)
    stray.write_text("hello")
    rounds = []

    def counting_clock():
        rounds.append(1)
        return time.time_ns() // 1_000_000

    stop, thread = in_background(tmp_path, clock_ms=counting_clock)
    until(lambda: len(rounds) > 12)
    stop.set()
    thread.join(20)

    assert caplog.text.count("notes.txt") == 1


SEGMENT = b"PAR1" * 5


@pytest.mark.parametrize(
    ("place", "content", "is_unfit"),
    [
        ("raw/rounds/dt=2025-11-24/hr=16/h.0.1-1.parquet", SEGMENT, False),
        ("log/part_events/month=2025-11/h.0.1-1.parquet", SEGMENT, False),
        ("raw/rounds/dt=2025-11-24/hr=16/host-1.0.1-1.parquet", SEGMENT, True),
        ("raw/rounds/dt=2025-11-24/hr=16/h.0.1-1.parquet", b"PAR1", True),
        ("raw/rounds/dt=2025-11-24/hr=25/h.0.1-1.parquet", SEGMENT, True),
        ("raw/rounds/dt=2025-11-24/h.0.1-1.parquet", SEGMENT, True),
        ("raw/rounds/h.0.1-1.parquet", SEGMENT, True),
        ("raw/nonsense/dt=2025-11-24/hr=16/h.0.1-1.parquet", SEGMENT, True),
        ("raw/part_events/dt=2025-11-24/hr=16/h.0.1-1.parquet", SEGMENT, True),
        ("log/rounds/month=2025-11/h.0.1-1.parquet", SEGMENT, True),
        ("log/part_events/h.0.1-1.parquet", SEGMENT, True),
        ("raw/loose.parquet", SEGMENT, True),
        (".tmp/h/anything", SEGMENT, False),
    ],
)
def test_unfit_is_what_no_reader_would_read(tmp_path, place, content, is_unfit):
    path = tmp_path / place
    path.parent.mkdir(parents=True)
    path.write_bytes(content)

    assert unfit_files(tmp_path) == ([path] if is_unfit else [])
