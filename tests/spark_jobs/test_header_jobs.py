"""Jobs over stored batch headers: which windows are due, and that each is computed once and whole."""

from datetime import UTC, datetime

import pytest

from settings import ClusterSettings, Settings, StoreSettings
from spark_jobs.header_jobs import CAUGHT_UP, VISIBLE_AFTER_MS, WINDOW_MS, HeaderJobs, due_windows
from store.log import SegmentLog
from store.metrics import METRICS_FILE, MetricsWriter, snapshot
from store.rows import python_rows
from tests.spark_jobs.test_header_accounts import batch

TOPIC_ID = "00000000-0000-0000-0000-0000000000ab"
TO_MS = 1_767_225_600_000  # 2026-01-01: the window ends
FROM_MS = TO_MS - WINDOW_MS


def test_a_window_is_due_once_its_headers_are_all_visible():
    assert due_windows(FROM_MS, TO_MS + VISIBLE_AFTER_MS - 1) == []
    assert [(w.from_ms, w.to_ms) for w in due_windows(FROM_MS, TO_MS + VISIBLE_AFTER_MS)] == [(FROM_MS, TO_MS)]


def test_after_a_pause_the_last_hour_is_computed_oldest_first():
    due = due_windows(0, TO_MS + VISIBLE_AFTER_MS)

    assert len(due) == CAUGHT_UP
    assert [w.from_ms for w in due] == sorted(w.from_ms for w in due)
    assert due[-1].to_ms == TO_MS


def settings(folder, header_topics=("orders",)):
    cluster = ClusterSettings(name="c", bootstrap_servers="nobody:1", header_topics=header_topics)
    return Settings(clusters=(cluster,), store=StoreSettings(data_dir=str(folder)))


def append(folder, observed_at_ms, *rows):
    at = datetime.fromtimestamp(observed_at_ms / 1000, UTC)
    log = SegmentLog(folder, f"host{observed_at_ms}")
    log.append_range(
        "batch_headers", [{**row, "topic_id": TOPIC_ID, "observed_at": at} for row in rows],
        topic_id_hex=TOPIC_ID.replace("-", ""), partition=0, first=rows[0]["base_offset"],
        last=rows[-1]["last_offset"], observed_at_ms=observed_at_ms,
    )  # fmt: skip
    log.close()


def table(folder, name):
    return python_rows(name, snapshot(folder / METRICS_FILE, [name])[name])


def test_without_header_topics_there_is_nothing_to_compute(tmp_path):
    with MetricsWriter(tmp_path / METRICS_FILE) as metrics:
        assert not HeaderJobs(None, settings(tmp_path, ()), metrics).run_due(TO_MS + VISIBLE_AFTER_MS)


def test_a_window_without_headers_is_done_without_spark(tmp_path):
    with MetricsWriter(tmp_path / METRICS_FILE) as metrics:
        jobs = HeaderJobs(None, settings(tmp_path), metrics)
        while jobs.run_due(TO_MS + VISIBLE_AFTER_MS):
            pass

    assert {row["segments"] for row in table(tmp_path, "header_windows")} == {0}
    assert len(table(tmp_path, "header_windows")) == CAUGHT_UP


def test_accounts_are_kept_as_long_as_the_history(tmp_path):
    kept_ms = round(settings(tmp_path).store.history_retention_d * 24 * 3_600_000)
    row = {"cluster_id": "c", "topic_id": "t", "partition": 0, "producer_id": 1, "observed_at": 0}
    ends = [TO_MS - kept_ms - 1, TO_MS - kept_ms, TO_MS - WINDOW_MS]
    with MetricsWriter(tmp_path / METRICS_FILE) as metrics:
        with metrics.transaction() as transaction:
            rows = [{**row, "window_from": to_ms - WINDOW_MS, "window_to": to_ms} for to_ms in ends]
            transaction.replace("transaction_accounts", rows)
            transaction.replace("header_windows", [{"window_from": FROM_MS - WINDOW_MS, "window_to": FROM_MS}])
        assert HeaderJobs(None, settings(tmp_path), metrics).run_due(TO_MS + VISIBLE_AFTER_MS)

    assert sorted(each["window_to"] for each in table(tmp_path, "transaction_accounts")) == ends[1:]


@pytest.mark.spark
def test_a_window_is_computed_once_over_its_own_batches_and_those_it_follows(spark, tmp_path):
    before = batch(0, 5, sequence=0, is_transactional=True)
    append(tmp_path, FROM_MS - 1_000, before)
    append(tmp_path, FROM_MS + 1_000, batch(5, 4, sequence=7, is_transactional=True), batch(9, marker="abort"))
    append(tmp_path, TO_MS, batch(10, 9, sequence=11, is_transactional=True))

    with MetricsWriter(tmp_path / METRICS_FILE) as metrics:
        with metrics.transaction() as transaction:
            transaction.replace("header_windows", [{"window_from": FROM_MS - WINDOW_MS, "window_to": FROM_MS}])
        jobs = HeaderJobs(spark, settings(tmp_path), metrics)
        assert jobs.run_due(TO_MS + VISIBLE_AFTER_MS)
        assert not jobs.run_due(TO_MS + VISIBLE_AFTER_MS)
        assert not HeaderJobs(spark, settings(tmp_path), metrics).run_due(TO_MS + VISIBLE_AFTER_MS)

    (account,) = table(tmp_path, "sequence_accounts")
    assert (account["window_from"], account["window_to"], account["observed_at"]) == (FROM_MS, TO_MS, TO_MS)
    assert (account["batches"], account["records"], account["sequences_passed_over"]) == (1, 4, 2)
    (ended,) = table(tmp_path, "transaction_accounts")
    assert (ended["aborted"], ended["records_aborted"], ended["open"]) == (1, 9, 0)
