import subprocess
import sys
import threading
from contextlib import contextmanager

import duckdb
import pytest

from store.errors import StoreBusyError, StoreError, StoreLockedError
from store.metrics import METRIC_TABLES, MetricsWriter, snapshot
from store.reading import Window, connect, read
from tests.store.builders import T0


@pytest.fixture
def path(tmp_path):
    return tmp_path / "metrics.duckdb"


@pytest.fixture
def writer(path):
    with MetricsWriter(path) as opened:
        yield opened


def run(run_id="r", **columns):
    return {"run_id": run_id, "job": "live", "observed_at": T0, **columns}


def covered(first, following):
    where = {"cluster_id": "c", "topic_id": "id", "partition": 0}
    return {**where, "first_offset": first, "next_offset": following, "observed_at": T0}


def rows(path, table="job_runs"):
    return snapshot(path, [table])[table].to_pylist()


def test_without_a_file_every_table_is_empty(path):
    assert {name: table.num_rows for name, table in snapshot(path).items()} == dict.fromkeys(METRIC_TABLES, 0)


def test_a_row_with_the_same_key_gives_way_whole(path, writer):
    with writer.transaction() as metrics:
        metrics.replace("job_runs", [run(state="running", ranges=3), run("other")])
    with writer.transaction() as metrics:
        metrics.replace("job_runs", [run(state="done")])

    assert {row["run_id"]: (row["state"], row["ranges"]) for row in rows(path)} == {
        "r": ("done", None),
        "other": (None, None),
    }


def test_a_column_that_nobody_reads_is_not_copied(tmp_path, path, writer):
    with writer.transaction() as metrics:
        metrics.replace("job_runs", [run(state="done", message="a long one")])

    with connect(tmp_path, Window(T0 - 1, T0 + 1), ["job_runs"], without=("message",)) as connection:
        assert connection.sql("SELECT run_id, state, message FROM job_runs").fetchall() == [("r", "done", None)]


def test_results_and_the_offsets_they_cover_become_visible_together(path, writer):
    with writer.transaction() as metrics:
        metrics.replace("ledger", [covered(0, 10)])
        metrics.replace("job_runs", [run()])

    assert (len(rows(path, "ledger")), len(rows(path))) == (1, 1)


def test_an_error_inside_a_transaction_undoes_all_of_it_and_the_next_one_works(path, writer):
    def fail():
        with writer.transaction() as metrics:
            metrics.replace("ledger", [covered(0, 10)])
            metrics.replace("job_runs", [{"run": "no such column"}])

    with pytest.raises(ValueError, match="job_runs has no column run"):
        fail()
    assert rows(path, "ledger") == []

    with writer.transaction() as metrics:
        metrics.replace("ledger", [covered(0, 10)])
    assert len(rows(path, "ledger")) == 1


def test_a_transaction_sees_its_own_rows_and_may_write_a_deleted_key_again(path, writer):
    with writer.transaction() as metrics:
        metrics.replace("ledger", [covered(0, 10), covered(10, 20)])
        metrics.delete("ledger", "first_offset = ?", [10])
        metrics.replace("ledger", [covered(10, 15)])
        (seen,) = metrics.query("SELECT max(next_offset) AS reached FROM ledger").to_pylist()

    assert seen == {"reached": 15}


def test_a_second_writer_fails_at_start(path, writer):
    with pytest.raises(StoreLockedError, match=r"metrics\.lock"):
        MetricsWriter(path)


def test_a_writer_that_could_not_start_holds_nothing(path):
    path.write_bytes(b"not a database")
    for _ in range(2):
        with pytest.raises(StoreError, match="cannot be opened"):
            MetricsWriter(path)


def test_reading_while_this_process_writes_waits_instead_of_meeting_the_other_mode(path, writer):
    read_rows = []
    reader = threading.Thread(target=lambda: read_rows.extend(rows(path)))
    with writer.transaction() as metrics:
        metrics.replace("job_runs", [run()])
        reader.start()
        reader.join(0.2)
        assert read_rows == []
    reader.join()

    assert [row["run_id"] for row in read_rows] == ["r"]


def test_a_thread_that_reads_inside_its_own_transaction_is_told_instead_of_waiting_for_ever(path, writer):
    with writer.transaction(), pytest.raises(StoreBusyError, match="another thread of this process"):
        snapshot(path, deadline_s=0.05)


HOLDS = """
import sys, duckdb
connection = duckdb.connect(sys.argv[1], read_only=sys.argv[2] == "reader")
print("open", flush=True)
sys.stdin.readline()
"""


@contextmanager
def held_by_another_process(path, mode):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(path), mode], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout.readline() == "open\n"
        yield lambda: holder.stdin.write("\n") and holder.stdin.flush()
        holder.kill()


def test_a_reader_gives_up_at_its_deadline_while_another_process_writes(path, writer):
    with held_by_another_process(path, "writer"), pytest.raises(StoreBusyError, match="is locked"):
        snapshot(path, deadline_s=0.2)


def test_a_writer_waits_for_the_reader_of_another_process(path, writer):
    with held_by_another_process(path, "reader") as release:
        threading.Timer(0.3, release).start()
        with writer.transaction() as metrics:
            metrics.replace("job_runs", [run()])

    assert len(rows(path)) == 1


def test_two_readers_do_not_lock_each_other_out(path, writer):
    with held_by_another_process(path, "reader"):
        assert rows(path) == []


def test_a_start_adds_the_tables_and_columns_an_older_file_lacks_and_keeps_its_rows(path, writer):
    with writer.transaction() as metrics:
        metrics.replace("job_runs", [run()])
    writer.close()
    with duckdb.connect(str(path)) as connection:
        connection.execute("ALTER TABLE job_runs DROP COLUMN backlog")
        connection.execute("DROP TABLE losses")
    assert [row["backlog"] for row in rows(path)] == [None], "readable before the migration too"
    assert rows(path, "losses") == []

    with MetricsWriter(path) as again, again.transaction() as metrics:
        metrics.replace("job_runs", [run("later", backlog=7)])

    assert {row["run_id"]: row["backlog"] for row in rows(path)} == {"r": None, "later": 7}


def test_a_file_of_a_newer_tidemark_is_not_written_to(path, writer):
    writer.close()
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE schema_version SET version = 999").fetchall()

    with pytest.raises(StoreError, match="newer Tidemark"):
        MetricsWriter(path)


def test_tables_of_the_segment_log_are_refused(path, writer):
    with writer.transaction() as metrics, pytest.raises(ValueError, match="segment log"):
        metrics.replace("rounds", [])


def test_metrics_are_read_like_any_other_table(tmp_path, path, writer):
    with writer.transaction() as metrics:
        metrics.replace("job_runs", [run(), run("other")])

    assert read(tmp_path, "job_runs", where="run_id = ?", parameters=["r"]).num_rows == 1


def test_a_window_holds_the_ranges_observed_in_it_and_all_of_what_is_a_state(tmp_path, path, writer):
    times = {"before": T0 - 1, "first": T0, "last": T0 + 9, "after": T0 + 10}
    with writer.transaction() as metrics:
        for number, at in enumerate(times.values()):
            metrics.replace("ledger", [covered(number, number + 1) | {"observed_at": at}])
            metrics.replace("duplicates", [covered_copy(number, at)])
            metrics.replace("job_runs", [run(str(number), observed_at=at)])

    with connect(tmp_path, Window(T0, T0 + 10), ["ledger", "duplicates", "job_runs"]) as connection:
        for table in ("ledger", "duplicates"):
            assert sorted(connection.sql(f"SELECT first_offset FROM {table}").fetchall()) == [(1,), (2,)]
        assert len(connection.sql("SELECT * FROM job_runs").fetchall()) == 4


def covered_copy(first, at):
    place = {"cluster_id": "c", "topic_id": "id", "partition": 0, "first_offset": first, "observed_at": at}
    return place | {"cause": "sent_twice", "first_producer_id": 1, "producer_id": 2, "producer_epoch": 0}
