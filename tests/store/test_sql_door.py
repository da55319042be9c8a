"""Questions to a store through a process of their own."""

import io
import os
import time
from decimal import Decimal
from pathlib import Path

import pytest

from store.errors import QueryError
from store.log import SegmentLog
from store.metrics import MetricsWriter
from store.sql_door import Running, answer_of, ask
from store.sql_process import Limits, Request, respond
from tests.store.builders import HOUR, HOUR_WINDOW, T0, leader_row, round_row

ENDLESS = "SELECT count(*) FROM range(1000000000000) a, range(1000000) b"


def limits(*, time_s=60.0, rows=100, memory_bytes=200_000_000, answer_bytes=1_000_000):
    return Limits(time_s, rows, memory_bytes, answer_bytes)


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    folder = tmp_path_factory.mktemp("door")
    log = SegmentLog(folder, "h_collect")
    log.append("rounds", [round_row(1), round_row(2, cluster="=x"), round_row(3, T0 - 2 * HOUR)])
    log.append("partition_state", [leader_row(1, T0, T0 + 5_000, in_sync_replicas=[1, 2])])
    log.close()
    with MetricsWriter(folder / "metrics.duckdb") as metrics, metrics.transaction() as transaction:
        transaction.replace("job_runs", [{"run_id": "r", "job": "live", "observed_at": T0}])
    return folder


def answered(data_dir, sql, **allowed):
    """What the process would say, without one."""
    out = io.StringIO()
    respond(Request(str(data_dir), HOUR_WINDOW.from_ms, HOUR_WINDOW.to_ms, sql, limits(**allowed)), out)
    return answer_of(out.getvalue(), "", 0, HOUR_WINDOW, limits(**allowed), 1.0)


def test_an_answer_has_its_columns_values_and_tables(data_dir):
    sql = """
        SELECT r.tick, r.cluster_id AS name, r.observed_at, in_sync_replicas, r.observed_at IS NULL AS flag,
               1.5 AS exact, 2::DOUBLE / 3 AS real, 170141183460469231731687303715884105727 AS huge, NULL AS gap,
               'infinity'::TIMESTAMPTZ AS never, 'a\nb' AS lines, run_id, 1 AS run_id
        FROM rounds r, partition_state, job_runs ORDER BY r.tick DESC -- last"""

    answer = ask(data_dir, HOUR_WINDOW, sql, limits())

    assert [name for name, _ in answer.columns][-3:] == ["lines", "run_id", "run_id_1"]
    assert answer.rows[0] == (
        2, "=x", "2025-11-24T16:00:00.000Z", "[1, 2]", False,
        Decimal("1.5"), 2 / 3, 2**127 - 1, None, "infinity", "a\nb", "r", 1,
    )  # fmt: skip
    assert [row[0] for row in answer.rows] == [2, 1]  # the third was observed before the window
    assert (answer.tables, answer.cut_by) == (("rounds", "partition_state", "job_runs"), None)
    (data_dir / "metrics.lock").unlink()
    MetricsWriter(data_dir / "metrics.duckdb").close()  # nobody holds it


def test_more_rows_than_allowed_are_cut_and_the_first_are_those_of_the_order(data_dir):
    answer = answered(data_dir, "FROM range(1000) t(n) SELECT n ORDER BY n DESC", rows=3)

    assert (answer.rows, answer.cut_by) == (((999,), (998,), (997,)), "rows")


def test_exactly_as_many_rows_as_allowed_are_all(data_dir):
    assert answered(data_dir, "FROM range(3)", rows=3).cut_by is None


def test_an_answer_that_grows_too_large_is_cut(data_dir):
    answer = answered(data_dir, "SELECT repeat('x', 400) FROM range(50)", answer_bytes=1_000)

    assert (len(answer.rows), answer.cut_by) == (2, "bytes")


def test_a_query_without_end_is_killed_and_never_saw_our_environment(data_dir, monkeypatch):
    monkeypatch.setenv("KAFKA_PASSWORD", "hunter2")
    with Running(data_dir, HOUR_WINDOW, ENDLESS, limits(time_s=1.0)) as running:
        assert running.wait(0.2) is None
        assert b"hunter2" not in Path(f"/proc/{running.pid}/environ").read_bytes()
        with pytest.raises(QueryError, match="took more than 1 s and was ended"):
            running.wait(20.0)

    assert 1.0 <= running.took_s < 20.0
    assert not_running(running.pid)


def test_leaving_a_query_kills_it(data_dir):
    with Running(data_dir, HOUR_WINDOW, ENDLESS, limits()) as running:
        assert running.wait(0.1) is None

    assert not_running(running.pid)


def test_a_query_that_eats_memory_is_refused(data_dir):
    with pytest.raises(QueryError, match="more memory than it may take"):
        answered(data_dir, "SELECT list(n) FROM range(100000000) t(n)", memory_bytes=50_000_000)


def test_what_duckdb_says_against_a_query_is_said(data_dir):
    with pytest.raises(QueryError, match='"nothing" not found'):
        answered(data_dir, "SELECT nothing FROM rounds")


@pytest.mark.parametrize(
    ("told", "problem", "code", "said"),
    [
        ("", "terminate called after throwing an instance of 'std::bad_alloc'", -6, "more memory than its 200 MB"),
        ('{"columns": [], "tables": []}\n[1', "", -9, "died with code -9"),
        ("", "Traceback\nImportError: no duckdb", 1, "died with code 1: ImportError: no duckdb"),
    ],
)
def test_a_process_that_died_on_the_way_has_no_answer_but_a_reason(told, problem, code, said):
    with pytest.raises(QueryError, match=said):
        answer_of(told, problem, code, HOUR_WINDOW, limits(), 1.0)


def not_running(pid):
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False
