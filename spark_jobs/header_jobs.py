"""Jobs over the batch headers that the collectors store: closed windows, one after another, between live rounds.

A window is computed once its headers are all visible; its rows and the run that made them commit together, so a window
that was begun and not committed is computed again.
"""

import logging
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from settings import Settings
from spark_jobs.runs import code_version
from spark_jobs.schemas import ddl
from spark_jobs.transforms.sequences import sequence_accounts
from spark_jobs.transforms.transactions import transaction_accounts
from store.metrics import MetricsWriter, Transaction
from store.reading import Window, segments
from store.rows import Row

logger = logging.getLogger(__name__)

WINDOW_MS = 10 * 60_000
VISIBLE_AFTER_MS = 60_000  # a collector's segment may become visible that long after its rows were observed
BEFORE_MS = 60 * 60_000  # what a window's batches follow is sought so far back
CAUGHT_UP = 6  # windows of a past without a session that are computed after all
JOBS = {"sequence_accounts": sequence_accounts, "transaction_accounts": transaction_accounts}


class HeaderJobs:
    """The windows of one process; the writer is its own."""

    def __init__(self, spark: SparkSession, settings: Settings, metrics: MetricsWriter) -> None:
        self._spark = spark
        self._metrics = metrics
        self._data_dir = Path(settings.store.data_dir)
        self._kept_ms = round(settings.store.history_retention_d * 24 * 3_600_000)
        self._is_wanted = any(cluster.header_topics for cluster in settings.clusters)
        with metrics.transaction() as transaction:
            self._done = _done(transaction)

    def run_due(self, now_ms: int) -> bool:
        """The oldest window that is due, if any."""
        due = due_windows(self._done, now_ms) if self._is_wanted else []
        if not due:
            return False
        self._run(due[0])
        self._done = max(self._done, due[0].to_ms)
        return True

    def _run(self, window: Window) -> None:
        began, about = time.monotonic(), {"window_from": window.from_ms, "window_to": window.to_ms}
        files = segments(self._data_dir, "batch_headers", Window(max(0, window.from_ms - BEFORE_MS), window.to_ms))
        found = {table: self._rows(job, files, window) if files else [] for table, job in JOBS.items()}
        done = {
            **about,
            "segments": len(files),
            "busy_s": time.monotonic() - began,
            "code_version": code_version(),
            "observed_at": time.time_ns() // 1_000_000,
        }
        with self._metrics.transaction() as transaction:
            for table, rows in found.items():
                transaction.delete(table, "window_from = make_timestamptz(? * 1000)", [window.from_ms])
                transaction.delete(table, "window_to < make_timestamptz(? * 1000)", [window.to_ms - self._kept_ms])
                if rows:
                    transaction.replace(table, [{**row, **about, "observed_at": window.to_ms} for row in rows])
            transaction.replace("header_windows", [done])
        logger.info("batch headers: %s rows in %.1f s", sum(map(len, found.values())), done["busy_s"])

    def _rows(self, job: Callable[[DataFrame, Column], DataFrame], files: list[Path], window: Window) -> list[Row]:
        batches = self._spark.read.schema(ddl("batch_headers")).parquet(*(str(file.absolute()) for file in files))
        observed = sf.col("observed_at")
        seen = batches.where(observed < _at(window.to_ms)).where(observed >= _at(window.from_ms - BEFORE_MS))
        rows: list[Row] = job(seen, observed >= _at(window.from_ms)).toArrow().to_pylist()
        return rows


def due_windows(done_to_ms: int, now_ms: int) -> list[Window]:
    """Those that are closed and not done, oldest first; after a pause only the newest of them."""
    end_ms = (now_ms - VISIBLE_AFTER_MS) // WINDOW_MS * WINDOW_MS
    first_ms = max(done_to_ms, end_ms - CAUGHT_UP * WINDOW_MS, 0)
    return [Window(from_ms, from_ms + WINDOW_MS) for from_ms in range(first_ms, end_ms, WINDOW_MS)]


def _done(transaction: Transaction) -> int:
    """Up to where windows were computed, ms since 1970."""
    (row,) = transaction.query("SELECT epoch_ms(max(window_to)) AS done FROM header_windows").to_pylist()
    return row["done"] or 0


def _at(time_ms: int) -> Column:
    return sf.timestamp_millis(sf.lit(max(0, time_ms)))
