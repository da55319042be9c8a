import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from store.contracts import TABLES
from store.log import SegmentLog
from store.metrics import MetricsWriter
from store.reading import Window, connect, read, segments
from store.types import arrow_schema, duckdb_columns
from tests.store.builders import HOUR, HOUR_WINDOW, MINUTE, T0, leader_row, round_row


@pytest.fixture
def log(tmp_path):
    opened = SegmentLog(tmp_path, "h_collect")
    yield opened
    opened.close()


def leaders(data_dir, window=HOUR_WINDOW):
    rows = read(data_dir, "partition_state", window).sort_by("started_at").to_pylist()
    return [(row["leader"], row["ended_reason"]) for row in rows]


def test_every_table_of_an_empty_store_is_there_with_its_types_and_without_rows(tmp_path):
    with connect(tmp_path, HOUR_WINDOW) as connection:
        for name, table in TABLES.items():
            described = connection.execute(f'DESCRIBE "{name}"').fetchall()
            shown = {column: kind.replace("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ") for column, kind, *_ in described}
            assert shown == duckdb_columns(table)
            assert connection.execute(f'SELECT count(*) FROM "{name}"').fetchall() == [(0,)]


@pytest.mark.parametrize("table", TABLES)
def test_an_empty_table_is_read_in_the_contracts_types(tmp_path, table):
    rows = read(tmp_path, table, HOUR_WINDOW)

    assert (rows.num_rows, rows.schema) == (0, arrow_schema(TABLES[table]))


def test_only_the_folders_of_the_window_are_listed(tmp_path, log):
    for hour in range(-30, 3):
        log.append("rounds", [round_row(hour, T0 + hour * HOUR)])

    listed = segments(tmp_path, "rounds", Window(T0 - 10, T0 + HOUR))

    assert [path.parent.name for path in listed] == ["hr=15", "hr=16"]
    assert len(segments(tmp_path, "rounds", None)) == 33


def test_a_condition_takes_parameters(tmp_path, log):
    log.append("rounds", [round_row(1), round_row(2), round_row(3, cluster="it's")])

    found = read(tmp_path, "rounds", HOUR_WINDOW, "tick >= ? AND cluster_id = ?", [2, "it's"])

    assert found["tick"].to_pylist() == [3]


def test_a_column_that_older_files_lack_is_null_in_their_rows(tmp_path, log):
    log.append("rounds", [{**round_row(2), "asked": 7}])
    (path,) = segments(tmp_path, "rounds", None)
    older = pq.read_table(path).drop_columns(["asked", "error"])
    pq.write_table(older, path.with_name("old_collect.0.1-1.parquet"))

    rows = read(tmp_path, "rounds", HOUR_WINDOW).sort_by("asked").to_pylist()

    assert [row["asked"] for row in rows] == [7, None]


def test_a_column_that_no_file_has_is_null_and_one_only_a_newer_tidemark_knows_is_left_out(tmp_path, log):
    log.append("rounds", [round_row(1)])
    (path,) = segments(tmp_path, "rounds", None)
    changed = pq.read_table(path).drop_columns(["error"]).append_column("later", pa.array(["x"]))
    pq.write_table(changed, path)

    rows = read(tmp_path, "rounds", HOUR_WINDOW)

    assert rows.schema.names == arrow_schema(TABLES["rounds"]).names
    assert rows["error"].to_pylist() == [None]


def test_an_interval_is_one_row_its_newest_restatement(tmp_path, log):
    log.append("partition_state", [leader_row(1, T0, T0, ended_reason="a")])
    log.append("partition_state", [leader_row(1, T0, T0 + 10, ended_reason="c")])
    log.append("partition_state", [leader_row(1, T0, T0 + 5, ended_reason="b")])

    assert leaders(tmp_path) == [(1, "c")]


def test_a_restatement_that_knows_the_end_beats_a_newer_one_that_does_not(tmp_path, log):
    log.append("partition_state", [leader_row(1, T0, T0 + 10)])
    log.append("partition_state", [leader_row(1, T0, T0 + 5, ended_before=T0 + 6, ended_reason="moved")])

    assert leaders(tmp_path) == [(1, "moved")]


def test_intervals_of_other_partitions_and_other_starts_are_rows_of_their_own(tmp_path, log):
    log.append("partition_state", [leader_row(1, T0, T0 + 5), leader_row(2, T0 + 6, T0 + 9)])
    log.append("partition_state", [leader_row(3, T0 + 7, T0 + 9, partition=1)])

    assert [leader for leader, _ in leaders(tmp_path)] == [1, 2, 3]


def test_an_interval_without_a_part_of_its_key_is_still_one_row(tmp_path, log):
    row = {"cluster_id": "c", "transactional_id": "t", "producer_id": 1, "producer_epoch": 0, "started_at": T0}
    log.append("open_transactions", [{**row, "last_seen_at": T0}])
    log.append("open_transactions", [{**row, "last_seen_at": T0 + 5}])

    assert read(tmp_path, "open_transactions", HOUR_WINDOW).num_rows == 1


@pytest.mark.parametrize(
    ("started", "seen", "ended", "is_shown"),
    [
        (-20, -11, -10, False),
        (-20, -11, 0, True),
        (-20, -10, None, False),
        (-20, 0, None, True),
        (MINUTE - 1, MINUTE + 5, None, True),
        (MINUTE, MINUTE + 5, None, False),
    ],
)
def test_an_interval_is_shown_when_it_held_in_the_window(tmp_path, log, started, seen, ended, is_shown):
    end = {} if ended is None else {"ended_before": T0 + ended}
    log.append("partition_state", [leader_row(1, T0 + started, T0 + seen, **end)])

    assert bool(leaders(tmp_path, Window(T0, T0 + MINUTE))) is is_shown


def test_a_past_window_knows_the_end_that_came_an_hour_later(tmp_path, log):
    log.append("partition_state", [leader_row(1, T0, T0 + MINUTE)])
    log.append("partition_state", [leader_row(1, T0, T0 + HOUR, ended_before=T0 + HOUR + 1, ended_reason="moved")])

    assert leaders(tmp_path, Window(T0, T0 + HOUR)) == [(1, "moved")]


def test_what_is_kept_for_good_is_read_whole_whatever_the_window(tmp_path, log):
    log.append("part_events", [{"part": "up", "observed_at": T0 - 1000 * HOUR}])

    assert read(tmp_path, "part_events", HOUR_WINDOW).num_rows == 1


def test_metrics_are_copied_and_do_not_keep_the_file_open(tmp_path):
    with MetricsWriter(tmp_path / "metrics.duckdb") as writer:
        with writer.transaction() as metrics:
            metrics.replace("job_runs", [{"run_id": "r", "observed_at": T0}])
        with connect(tmp_path, HOUR_WINDOW, ["job_runs"]) as connection, writer.transaction() as metrics:
            metrics.delete("job_runs", "true")
            assert connection.execute("SELECT run_id FROM job_runs").fetchall() == [("r",)]


def test_threads_that_copy_the_metrics_of_two_stores_each_see_their_own(tmp_path):
    for name in ("one", "two"):
        with MetricsWriter(tmp_path / name / "metrics.duckdb") as writer, writer.transaction() as metrics:
            metrics.replace("job_runs", [{"run_id": name, "job": name, "state": "done", "observed_at": T0}])

    def jobs(name):
        with connect(tmp_path / name, HOUR_WINDOW, ["job_runs"]) as connection:
            return connection.execute("SELECT job FROM job_runs").fetchall()

    names = ["one", "two"] * 20
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(jobs, names)) == [[(name,)] for name in names]
    with MetricsWriter(tmp_path / "one/metrics.duckdb") as writer, writer.transaction():
        pass


def test_only_the_tables_asked_for_are_there(tmp_path):
    with connect(tmp_path, HOUR_WINDOW, ["rounds"]) as connection:
        assert connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall() == [("rounds",)]


def test_a_store_in_a_folder_with_an_awkward_name_is_read(tmp_path):
    data_dir = tmp_path / "it's a store"
    log = SegmentLog(data_dir, "h_collect")
    log.append("rounds", [round_row(1)])
    log.close()
    MetricsWriter(data_dir / "metrics.duckdb").close()

    assert read(data_dir, "rounds").num_rows == 1
    assert read(data_dir, "job_runs").num_rows == 0


def test_a_file_that_is_no_segment_or_too_short_is_not_read(tmp_path, log):
    log.append("rounds", [round_row(1)])
    (path,) = segments(tmp_path, "rounds", None)
    path.with_name("copy of it.parquet").write_bytes(path.read_bytes())
    path.with_name("h_other.0.1-1.parquet").write_bytes(b"PAR1")

    assert segments(tmp_path, "rounds", None) == [path]


def test_a_file_that_was_cut_off_hides_no_other(tmp_path, log):
    log.append("rounds", [round_row(1)])
    (path,) = segments(tmp_path, "rounds", None)
    path.with_name("h_other.0.1-1.parquet").write_bytes(path.read_bytes()[:-10])

    assert read(tmp_path, "rounds").num_rows == 1


def test_where_a_wide_file_is_damaged_its_inputs_count_again(tmp_path, log):
    log.append("rounds", [round_row(1)])
    log.append("rounds", [round_row(2)])
    path = segments(tmp_path, "rounds", None)[0]
    path.with_name("h_collect.1.1-2.parquet").write_bytes(path.read_bytes()[:-10])

    assert sorted(read(tmp_path, "rounds")["tick"].to_pylist()) == [1, 2]


def test_a_window_does_not_end_before_it_begins():
    with pytest.raises(ValueError, match="ends where it begins"):
        Window(2, 1)


APPENDS = """
import sys
from pathlib import Path
from store.log import SegmentLog
log = SegmentLog(Path(sys.argv[1]), "h_other")
for tick in range(60):
    log.append("rounds", [dict(tick=tick, signal=str(n), observed_at=int(sys.argv[2])) for n in range(5)])
"""


def test_a_reader_beside_a_writer_in_another_process_sees_whole_batches_and_never_fewer(tmp_path):
    seen = []
    with subprocess.Popen([sys.executable, "-c", APPENDS, str(tmp_path), str(T0)]) as writer:
        while writer.poll() is None:
            seen.append(read(tmp_path, "rounds", HOUR_WINDOW).num_rows)
    seen.append(read(tmp_path, "rounds", HOUR_WINDOW).num_rows)

    assert writer.returncode == 0
    assert seen == sorted(seen)
    assert {rows % 5 for rows in seen} == {0}
    assert seen[-1] == 300
    assert len(set(seen)) > 2, "the reader never met the writer at work"
