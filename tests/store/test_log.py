import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from store.contracts import SCHEMA_VERSION
from store.errors import StoreLockedError
from store.log import SegmentLog, arrow_table
from store.reading import Window, read, segments
from store.rows import python_rows
from tests.store.builders import HOUR, HOUR_WINDOW, T0, commit_row, files, id_row, leader_row, round_row


@pytest.fixture
def log(tmp_path):
    opened = SegmentLog(tmp_path, "h_collect")
    yield opened
    opened.close()


def ticks(data_dir, window=None):
    return sorted(read(data_dir, "rounds", window)["tick"].to_pylist())


def test_rows_come_back_as_they_were_appended(tmp_path, log):
    row = leader_row(1, T0, T0 + 5, replicas=(1, 2, 3), ended_reason="moved")
    log.append("partition_state", [row])

    (stored,) = python_rows("partition_state", read(tmp_path, "partition_state", HOUR_WINDOW))

    assert {name: stored[name] for name in row} == {**row, "replicas": [1, 2, 3]}
    assert stored["leader_epoch"] is None


def test_commits_are_stored_as_differences_and_come_back_as_they_were(tmp_path, log):
    offsets = [2**63 - 1, None, 0, 17, None, 2**40]
    log.append("committed_offsets", [commit_row(1, partition=n, committed_offset=at) for n, at in enumerate(offsets)])

    assert read(tmp_path, "committed_offsets").sort_by("partition")["committed_offset"].to_pylist() == offsets

    (path,) = segments(tmp_path, "committed_offsets", None)
    columns = [pq.read_metadata(path).row_group(0).column(number) for number in range(13)]
    encodings = {column.path_in_schema: column.encodings for column in columns}
    assert "DELTA_BINARY_PACKED" in encodings["committed_offset"]
    assert "RLE_DICTIONARY" in encodings["topic_id"]


def test_no_rows_make_no_segment(tmp_path, log):
    assert log.append("rounds", []) is None
    assert files(tmp_path, "rounds") == []


def test_sequence_numbers_run_over_all_tables_of_a_producer(log):
    assert log.append("rounds", [round_row(1)]) == "h_collect.0.1-1.parquet"
    assert log.append("partition_state", [leader_row(1, T0, T0)]) == "h_collect.0.2-2.parquet"


def test_a_batch_over_two_hours_has_one_name_in_both_and_each_row_once(tmp_path, log):
    name = log.append("rounds", [round_row(1, T0 - 1), round_row(2, T0), round_row(3, T0 + HOUR)])

    assert files(tmp_path, "rounds") == [name] * 3
    assert ticks(tmp_path) == [1, 2, 3]
    assert ticks(tmp_path, HOUR_WINDOW) == [2]


def test_a_late_sample_goes_to_the_folder_of_its_own_hour_under_a_new_number(tmp_path, log):
    log.append("rounds", [round_row(2, T0 + HOUR)])
    log.append("rounds", [round_row(1, T0)])

    (late,) = segments(tmp_path, "rounds", HOUR_WINDOW)

    assert (late.parent.name, late.name) == ("hr=16", "h_collect.0.2-2.parquet")


def test_what_is_kept_for_good_lies_by_month(tmp_path, log):
    log.append("part_events", [{"part": "collect", "observed_at": T0, "event": "started"}])

    assert len(list((tmp_path / "log/part_events/month=2025-11").iterdir())) == 1


def test_a_file_says_its_schema_version(tmp_path, log):
    log.append("rounds", [round_row(1)])

    (path,) = segments(tmp_path, "rounds", None)

    assert pq.read_schema(path).metadata[b"schema_version"] == str(SCHEMA_VERSION).encode()


def test_a_second_holder_of_a_producer_name_fails_at_start_and_another_name_does_not(tmp_path, log):
    with pytest.raises(StoreLockedError, match=r"h_collect\.lock"):
        SegmentLog(tmp_path, "h_collect")
    SegmentLog(tmp_path, "h_jobs").close()


def test_a_producer_name_that_no_reader_would_read_is_refused(tmp_path):
    with pytest.raises(ValueError, match="producer_name"):
        SegmentLog(tmp_path, "host-1_collect")


def test_two_producers_with_the_same_numbers_do_not_replace_each_other(tmp_path, log):
    other = SegmentLog(tmp_path, "h_jobs")
    log.append("rounds", [round_row(1)])
    other.append("rounds", [round_row(2)])
    other.close()

    assert ticks(tmp_path) == [1, 2]


def test_numbers_go_on_after_a_restart_from_the_disk_alone(tmp_path, log):
    log.append("rounds", [round_row(1)])
    log.append("rounds", [round_row(2)])
    log.close()
    (tmp_path / "h_collect.lock").write_text("")

    log = SegmentLog(tmp_path, "h_collect")

    assert log.append("rounds", [round_row(3)]) == "h_collect.0.3-3.parquet"
    log.close()


def test_numbers_go_on_after_a_restart_when_retention_has_removed_everything(tmp_path, log):
    log.append("rounds", [round_row(1)])
    log.close()
    for path in segments(tmp_path, "rounds", None):
        path.unlink()

    log = SegmentLog(tmp_path, "h_collect")

    assert log.append("rounds", [round_row(2)]) == "h_collect.0.2-2.parquet"
    log.close()


def test_a_start_removes_the_producers_own_unfinished_files_only(tmp_path, log):
    log.close()
    own, others = tmp_path / ".tmp/h_collect/x.parquet", tmp_path / ".tmp/h_jobs/x.parquet"
    others.parent.mkdir(parents=True)
    own.write_bytes(b"")
    others.write_bytes(b"")

    SegmentLog(tmp_path, "h_collect").close()

    assert (own.exists(), others.exists()) == (False, True)


def test_appending_again_works_after_the_hour_folder_expired_under_us(tmp_path, log):
    log.append("rounds", [round_row(1)])
    (path,) = segments(tmp_path, "rounds", None)
    path.unlink()
    path.parent.rmdir()

    log.append("rounds", [round_row(2)])

    assert ticks(tmp_path) == [2]


def test_an_unknown_column_is_an_error_and_nothing_is_written(tmp_path, log):
    with pytest.raises(ValueError, match="rounds has no column tik"):
        log.append("rounds", [{**round_row(1), "tik": 1}])
    assert files(tmp_path, "rounds") == []


def test_a_value_of_the_wrong_type_names_its_column():
    with pytest.raises(ValueError, match=r"rounds\.tick takes int64"):
        arrow_table("rounds", [{"tick": "one"}])


def test_a_row_without_its_time_is_refused(log):
    with pytest.raises(ValueError, match="observed_at may not be null"):
        log.append("rounds", [{"tick": 1}])


def test_an_arrow_table_gets_the_contracts_columns_and_types():
    given = pa.table({"tick": pa.array([1], pa.int16()), "observed_at": pa.array([T0], pa.int64())})

    assert arrow_table("rounds", given).equals(arrow_table("rounds", [{"tick": 1, "observed_at": T0}]))


@pytest.mark.parametrize("table", ["ledger", "id_samples"])
def test_tables_that_are_written_otherwise_are_refused(log, table):
    with pytest.raises(ValueError, match=table):
        log.append(table, [])


def append_range(log, first, last, at=T0):
    rows = [id_row(offset, at) for offset in range(first, last + 1)]
    return log.append_range(
        "id_samples", rows, topic_id_hex="0a1b", partition=3, first=first, last=last, observed_at_ms=at
    )


def offsets(data_dir):
    return sorted(read(data_dir, "id_samples")["offset"].to_pylist())


def test_a_range_is_named_by_topic_partition_and_offsets(tmp_path, log):
    assert append_range(log, 100, 102) == "0a1b_3.0.100-102.parquet"
    assert offsets(tmp_path) == [100, 101, 102]


@pytest.mark.parametrize("again_at", [T0, T0 + HOUR], ids=["same hour", "next hour"])
def test_a_range_appended_again_counts_once(tmp_path, log, again_at):
    append_range(log, 100, 102)
    append_range(log, 100, 102, again_at)

    assert offsets(tmp_path) == [100, 101, 102]


@pytest.mark.parametrize("again_at", [T0, T0 + HOUR], ids=["same hour", "next hour"])
@pytest.mark.parametrize("last", [101, 104], ids=["shorter", "longer"])
def test_a_range_the_ledger_never_saw_gives_way_to_the_one_read_after_the_restart(tmp_path, log, last, again_at):
    append_range(log, 0, 99)
    append_range(log, 100, 102)
    log.close()

    log = SegmentLog(tmp_path, "h_collect")
    append_range(log, 100, last, again_at)
    append_range(log, last + 1, last + 2, again_at)
    log.close()

    assert offsets(tmp_path) == list(range(last + 3))


def test_a_leftover_hidden_by_another_gives_way_too(tmp_path, log):
    for last in (103, 109):
        append_range(log, 100, last)
        log.close()
        log = SegmentLog(tmp_path, "h_collect")
    append_range(log, 100, 101)
    append_range(log, 102, 104)
    log.close()

    assert offsets(tmp_path) == [100, 101, 102, 103, 104]


def test_windows_end_is_not_included(tmp_path, log):
    log.append("rounds", [round_row(1, T0), round_row(2, T0 + 10)])

    assert ticks(tmp_path, Window(T0, T0 + 10)) == [1]
    assert ticks(tmp_path, Window(T0, T0 + 11)) == [1, 2]
