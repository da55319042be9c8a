import pytest

from store.expiry import HISTORY, Retention, expire, expired_hours
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


def write(log, *numbers):
    """A round and a sample in each of these hours."""
    for hour in numbers:
        log.append("rounds", [round_row(hour, T0 + hour * HOUR)])
        log.append("committed_offsets", [{"tick": hour, "observed_at": T0 + hour * HOUR}])


def kept(data_dir, table):
    return read(data_dir, table)["tick"].to_pylist()


def test_samples_of_a_whole_hour_go_their_history_later_and_what_is_kept_for_good_never(tmp_path, log):
    write(log, 1, 3, 9)
    log.append("part_events", [{"part": "up", "observed_at": T0}])

    assert expire(tmp_path, NOW, Retention(5 * HOUR, 10**9), history_age_ms=7 * HOUR) == hours(1, 3)

    assert kept(tmp_path, "committed_offsets") == [9]
    assert kept(tmp_path, "rounds") == [3, 9]
    assert read(tmp_path, "part_events").num_rows == 1


def test_samples_make_room_for_the_history(tmp_path, log):
    write(log, 7, 8, 9)
    total = sum(path.stat().st_size for path in tmp_path.rglob("raw/**/*.parquet"))

    assert expire(tmp_path, NOW, Retention(100 * HOUR, total), 100 * HOUR) == []
    assert expire(tmp_path, NOW, Retention(100 * HOUR, total - 1), 100 * HOUR) == hours(7)
    assert kept(tmp_path, "committed_offsets") == [8, 9]
    assert kept(tmp_path, "rounds") == [7, 8, 9]


def test_a_history_that_alone_is_too_large_loses_its_oldest_hours(tmp_path, log):
    write(log, 7, 8, 9)
    history = sum(path.stat().st_size for path in tmp_path.rglob("raw/rounds/**/*.parquet"))

    expire(tmp_path, NOW, Retention(100 * HOUR, history - 1), 100 * HOUR)

    assert kept(tmp_path, "rounds") == [8, 9]
    assert kept(tmp_path, "committed_offsets") == []


def test_every_table_is_a_sample_of_each_round_or_history():
    assert {"rounds", "partition_state", "rebalances", "group_lag_hour"} <= HISTORY
    assert HISTORY.isdisjoint({"committed_offsets", "partition_offsets", "lag_minute", "id_samples", "batch_headers"})


def test_no_empty_folder_is_left(tmp_path, log):
    log.append("rounds", [round_row(1, T0)])

    expire(tmp_path, NOW + 100 * HOUR, Retention(HOUR, 10**9), HOUR)

    assert list((tmp_path / "raw/rounds").iterdir()) == []
    assert hour_start_ms("dt=2025-11-24", "hr=16") == T0


def test_an_empty_store_has_nothing_to_expire(tmp_path):
    assert expire(tmp_path, NOW, Retention(1, 1), 1) == []
