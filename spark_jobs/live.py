"""The resident job: a warm Spark session that follows the pipelines' topics, round after round."""

import logging
import socket
import threading
import time
from contextlib import ExitStack
from pathlib import Path

from pyspark.sql import SparkSession

from settings import Settings
from spark_jobs.audited import audited_topics, decoders
from spark_jobs.audits.desk import AuditDesk
from spark_jobs.audits.tasks import AuditTasks
from spark_jobs.clusters import AuditedCluster
from spark_jobs.findings import JOBS
from spark_jobs.header_jobs import HeaderJobs
from spark_jobs.rounds import LiveRounds
from spark_jobs.session import spark_session, tasks_at_once
from spark_jobs.sources.kafka_ranges import FORMAT, KafkaRanges, options
from store.log import SegmentLog
from store.metrics import METRICS_FILE, MetricsWriter
from store.segments import producer_name

logger = logging.getLogger(__name__)

IDLE_S = 0.2  # between two looks for work


def run(settings: Settings, stop: threading.Event) -> None:
    """Follow the topics until `stop` is set. Without pipelines there is nothing to audit: it only waits.

    Raises StoreLockedError where another process writes the metrics, SettingsError where pipelines contradict one
    another, NoJavaError; any other error ends it too, and whoever started it starts it again.
    """
    topics = audited_topics(settings.pipelines)
    if not topics:
        logger.info("no pipeline is declared: no topic is audited record by record")
        stop.wait()
        return
    data_dir = Path(settings.store.data_dir)
    with ExitStack() as closing:
        metrics = closing.enter_context(MetricsWriter(data_dir / METRICS_FILE))
        log = SegmentLog(data_dir, producer_name(socket.gethostname(), JOBS))
        closing.callback(log.close)
        clusters = [
            closing.enter_context(AuditedCluster(cluster, topics, settings.spark.round_s))
            for cluster in settings.clusters
            if any(topic.cluster == cluster.name for topic in topics)
        ]
        spark = spark_session(settings.spark, decoders(settings.pipelines))
        closing.callback(spark.stop)
        warm_up(spark)
        rounds = LiveRounds(spark, settings, clusters, log, metrics, _now_ms())
        headers = HeaderJobs(spark, settings, metrics)
        lanes = tasks_at_once(settings.spark)
        desk = AuditDesk(spark, settings, metrics, lanes=lanes, findings=rounds.findings)
        closing.enter_context(desk)
        while not stop.is_set():
            rounds.run_round(_now_ms())
            headers.run_due(_now_ms())
            audit_between_rounds(desk, stop, settings.spark.round_s)


def audit_between_rounds(desk: AuditDesk, stop: threading.Event, round_s: float) -> None:
    """Until the next round is due run what was asked for, one slice at least, so that neither holds up the other."""
    due = time.monotonic() + round_s
    while True:
        if not desk.step():
            stop.wait(max(0.0, min(IDLE_S, due - time.monotonic())))
        if stop.is_set() or time.monotonic() >= due:
            return


def warm_up(spark: SparkSession) -> None:
    """Register the sources and run one of them with nothing to read: a session's first query takes seconds longer."""
    started_at = time.monotonic()
    spark.dataSource.register(KafkaRanges)
    spark.dataSource.register(AuditTasks)
    spark.read.format(FORMAT).options(**options([], 1)).load().toArrow()
    logger.info("the session is warm after %.1f s", time.monotonic() - started_at)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
