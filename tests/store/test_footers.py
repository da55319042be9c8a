"""Segments that a view need not open: it must show what it would show with all of them."""

import os
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from store import reading
from store.contracts import TABLES
from store.folders import SETTLED_NS, hour_folders, list_folder
from store.footers import may_hold
from store.log import SegmentLog
from store.reading import EVERYTHING, Window, connect, read
from tests.store.builders import HOUR, HOUR_WINDOW, MINUTE, SECOND, T0, leader_row, round_row, set_committed


@pytest.fixture
def log(tmp_path):
    opened = SegmentLog(tmp_path, "h")
    yield opened
    opened.close()


def opened(data_dir, table, window):
    """Of the table's segments, how many a view of the window opens, and of how many."""
    listed = [segment for folder in hour_folders(data_dir, TABLES[table]) for segment in list_folder(folder).live]
    return sum(may_hold(TABLES[table], one, window.from_ms, window.to_ms) for one in listed), len(listed)


def shown(data_dir, table, window):
    order = [(name, "ascending") for name in (*TABLES[table].key, TABLES[table].time_column)]
    return read(data_dir, table, window).sort_by(order).to_pylist()


def random_windows(number):
    for _ in range(number):
        start = T0 + random.randrange(-HOUR, HOUR)
        yield Window(start, start + random.choice([0, 1, SECOND, 3 * MINUTE, HOUR]))


def test_a_view_opens_the_segments_of_its_window_alone(tmp_path, log):
    for minute in range(30):
        log.append("rounds", [round_row(minute, T0 + minute * MINUTE + at_ms) for at_ms in (0, MINUTE - 1)])

    assert opened(tmp_path, "rounds", Window(T0 + 5 * MINUTE, T0 + 7 * MINUTE)) == (2, 30)
    assert opened(tmp_path, "rounds", Window(T0 + 5 * MINUTE, T0 + 7 * MINUTE + 1)) == (3, 30)
    assert opened(tmp_path, "rounds", EVERYTHING) == (30, 30)


def test_of_intervals_those_that_began_later_and_old_statements_without_an_end_are_not_opened(tmp_path, log):
    log.append("partition_state", [leader_row(1, T0, T0 + MINUTE)])
    log.append("partition_state", [leader_row(1, T0, T0 + 9 * MINUTE)])
    log.append("partition_state", [leader_row(2, T0 + 9 * MINUTE, T0 + 12 * MINUTE)])
    log.append("partition_state", [leader_row(3, T0 - MINUTE, T0, 1, ended_before=T0 + 10 * SECOND)])

    assert opened(tmp_path, "partition_state", Window(T0 + 5 * MINUTE, T0 + 8 * MINUTE)) == (2, 4)


def test_with_and_without_the_segments_left_out_a_view_shows_the_same(tmp_path, log, monkeypatch):
    random.seed(8)
    for tick in range(60):
        at_ms = T0 + random.randrange(-HOUR, HOUR)
        log.append("rounds", [round_row(tick, at_ms + random.randrange(5 * SECOND)) for _ in range(3)])
        began = T0 + random.randrange(-4, 4) * 10 * MINUTE
        end = {"ended_before": at_ms + SECOND} if random.random() < 0.3 else {}
        log.append("partition_state", [leader_row(1, min(began, at_ms), at_ms, random.randrange(5), **end)])
    windows = list(random_windows(60))
    tables = ("rounds", "partition_state")

    fewer = [shown(tmp_path, table, window) for table in tables for window in windows]
    left_out = [opened(tmp_path, table, window) for table in tables for window in windows]
    monkeypatch.setattr(reading, "may_hold", lambda *_: True)

    assert fewer == [shown(tmp_path, table, window) for table in tables for window in windows]
    assert sum(number < of for number, of in left_out) > 100
    assert sum(map(len, fewer)) > 500


def test_a_file_whose_footer_cannot_be_read_is_opened_so_that_its_question_says_why(tmp_path, log):
    log.append("rounds", [round_row(1)])
    (path,) = (tmp_path / "raw/rounds").rglob("*.parquet")
    path.write_bytes(b"PAR1 damaged PAR1")

    assert opened(tmp_path, "rounds", Window(0, 1)) == (1, 1)


def test_a_file_whose_times_are_none_is_opened_too(tmp_path, log):
    log.append("rounds", [round_row(1, T0)])
    (path,) = reading.segments(tmp_path, "rounds", HOUR_WINDOW)
    pq.write_table(pa.table({"observed_at": ["yesterday"]}), path)

    assert opened(tmp_path, "rounds", HOUR_WINDOW) == (1, 1)


def test_what_is_added_to_a_folder_that_was_at_rest_is_seen(tmp_path, log):
    log.append("rounds", [round_row(1)])
    (folder,) = hour_folders(tmp_path, TABLES["rounds"])
    os.utime(folder, ns=(T0, T0))
    assert len(list_folder(folder).live) == 1

    log.append("rounds", [round_row(2)])
    set_committed(folder, T0)

    assert len(list_folder(folder).live) == 2
    with connect(tmp_path, HOUR_WINDOW, ["rounds"]) as connection:
        assert connection.execute("SELECT count(*) FROM rounds").fetchall() == [(2,)]


def test_a_folder_that_has_just_changed_is_read_again_whatever_its_time_says(tmp_path, log):
    log.append("rounds", [round_row(1)])
    (folder,) = hour_folders(tmp_path, TABLES["rounds"])
    changed_ns = folder.stat().st_mtime_ns
    assert len(list_folder(folder).live) == 1

    log.append("rounds", [round_row(2)])
    os.utime(folder, ns=(changed_ns, changed_ns))  # within the resolution of the clock

    assert len(list_folder(folder).live) == 2
    assert SETTLED_NS > 1_000_000_000
