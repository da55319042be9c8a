import pytest

from store.expiry import Retention, expire, expired_hours
from store.log import SegmentLog
from store.reading import read
from store.segments import hour_start_ms
from tests.store.builders import HOUR, T0, round_row

NOW = T0 + 10 * HOUR + 1


@pytest.fixture
def log(tmp_path):
    opened = SegmentLog(tmp_path, "h")
    yield opened
    opened.close()


def hours(*numbers):
    return [T0 + number * HOUR for number in numbers]


def sizes(*numbers, size=10):
    return dict.fromkeys(hours(*numbers), size)


def test_an_hour_expires_when_its_last_row_is_older_than_the_retention():
    retention = Retention(max_age_ms=5 * HOUR, max_bytes=10**9)

    assert expired_hours(sizes(3, 4, 5), NOW, retention) == hours(3, 4)
    assert expired_hours(sizes(3, 4, 5), NOW - 2, retention) == hours(3)


def test_the_oldest_hours_go_until_the_rest_fits():
    retention = Retention(max_age_ms=1000 * HOUR, max_bytes=25)

    assert expired_hours(sizes(1, 2, 3, 4), NOW, retention) == hours(1, 2)
    assert expired_hours(sizes(1, 2), NOW, retention) == []


def test_the_running_hour_stays_however_large():
    assert expired_hours(sizes(9, 10, size=100), NOW, Retention(1000 * HOUR, max_bytes=1)) == hours(9)


def test_a_whole_hour_goes_from_every_table_and_what_is_kept_for_good_stays(tmp_path, log):
    for hour in (1, 9):
        log.append("rounds", [round_row(hour, T0 + hour * HOUR)])
        log.append("committed_offsets", [{"tick": hour, "observed_at": T0 + hour * HOUR}])
    log.append("part_events", [{"part": "up", "observed_at": T0}])

    assert expire(tmp_path, NOW, Retention(5 * HOUR, 10**9)) == hours(1)

    assert read(tmp_path, "rounds")["tick"].to_pylist() == [9]
    assert read(tmp_path, "committed_offsets")["tick"].to_pylist() == [9]
    assert read(tmp_path, "part_events").num_rows == 1


def test_size_counts_all_tables_together(tmp_path, log):
    for hour in (7, 8, 9):
        log.append("rounds", [round_row(hour, T0 + hour * HOUR)])
        log.append("committed_offsets", [{"tick": hour, "observed_at": T0 + hour * HOUR}])
    total = sum(path.stat().st_size for path in tmp_path.rglob("raw/**/*.parquet"))

    assert expire(tmp_path, NOW, Retention(100 * HOUR, total)) == []
    assert expire(tmp_path, NOW, Retention(100 * HOUR, total - 1)) == hours(7)


def test_no_empty_folder_is_left(tmp_path, log):
    log.append("rounds", [round_row(1, T0)])

    expire(tmp_path, NOW + 100 * HOUR, Retention(HOUR, 10**9))

    assert list((tmp_path / "raw/rounds").iterdir()) == []
    assert hour_start_ms("dt=2025-11-24", "hr=16") == T0


def test_an_empty_store_has_nothing_to_expire(tmp_path):
    assert expire(tmp_path, NOW, Retention(1, 1)) == []
