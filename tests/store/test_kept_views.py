"""Kept views: what several questions ask of is what each of them would have read."""

import random

import pytest

from store import kept_views
from store.log import SegmentLog
from store.reading import Window, connect
from tests.store.builders import HOUR, MINUTE, SECOND, T0, leader_row


@pytest.fixture
def log(tmp_path):
    opened = SegmentLog(tmp_path, "h")
    yield opened
    opened.close()


def rows(data_dir, window, *, is_kept):
    read_once = ["partition_state"] if is_kept else []
    with connect(data_dir, window, ["partition_state"], read_once=read_once) as connection:
        return sorted(connection.sql("SELECT * FROM partition_state").fetchall(), key=str)


def test_a_kept_view_shows_what_a_view_shows(tmp_path, log):
    random.seed(5)
    for tick in range(80):
        at_ms = T0 + random.randrange(-HOUR, HOUR)
        began = min(at_ms, T0 + random.randrange(-4, 4) * 10 * MINUTE)
        end = {"ended_before": at_ms + random.randrange(SECOND)} if random.random() < 0.3 else {}
        log.append("partition_state", [
            leader_row(tick, began, at_ms, random.randrange(5), in_sync_replicas=[1, tick], **end)
            | {"topic_id": random.choice(["id", None])},
        ])  # fmt: skip
    starts = [T0 + random.randrange(-HOUR, HOUR) for _ in range(60)]
    windows = [Window(start, start + random.choice([1, SECOND, MINUTE, HOUR])) for start in starts]

    kept = [rows(tmp_path, window, is_kept=True) for window in windows]

    assert kept == [rows(tmp_path, window, is_kept=False) for window in windows]
    assert sum(map(len, kept)) > 100


def test_a_restatement_that_knows_the_end_hides_a_newer_one_from_a_later_window(tmp_path, log):
    log.append("partition_state", [leader_row(1, T0, T0 + 9 * MINUTE)])
    log.append("partition_state", [leader_row(1, T0, T0 + MINUTE, ended_before=T0 + 2 * MINUTE)])

    assert rows(tmp_path, Window(T0 + 5 * MINUTE, T0 + HOUR), is_kept=True) == []


def views_over(data_dir):
    return [
        view
        for (_, segments, _), view in kept_views._kept.items()
        if any(data_dir in one.path.parents for one in segments)
    ]


def test_statements_are_read_once_for_all_windows_until_a_segment_is_added(tmp_path, log):
    log.append("partition_state", [leader_row(1, T0, T0 + 9 * MINUTE)])
    first = rows(tmp_path, Window(T0, T0 + MINUTE), is_kept=True)
    (held,) = views_over(tmp_path)

    assert rows(tmp_path, Window(T0 + MINUTE, T0 + 3 * MINUTE), is_kept=True) == first
    assert [view is held for view in views_over(tmp_path)] == [True]

    log.append("partition_state", [leader_row(2, T0, T0 + 9 * MINUTE, partition=1)])
    assert len(rows(tmp_path, Window(T0, T0 + MINUTE), is_kept=True)) == 2


def test_kept_statements_do_not_outgrow_the_memory_set_aside_for_them(tmp_path, log, monkeypatch):
    for number in range(30):
        began_ms = T0 + number * kept_views.SPAN_MS
        log.append("partition_state", [leader_row(number, began_ms, began_ms + MINUTE, ended_before=began_ms + MINUTE)])
    kept_views._kept.clear()
    rows(tmp_path, Window(T0, T0 + MINUTE), is_kept=True)
    monkeypatch.setattr(kept_views._kept, "_Cache__maxsize", 10 * kept_views._kept.currsize)
    kept_views._kept.clear()

    for number in range(30):
        began_ms = T0 + number * kept_views.SPAN_MS
        assert len(rows(tmp_path, Window(began_ms, began_ms + MINUTE), is_kept=True)) == 1

    assert 0 < len(views_over(tmp_path)) < 30
    assert kept_views._kept.currsize <= kept_views._kept.maxsize
