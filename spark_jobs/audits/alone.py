"""One audit in a session of its own, for a command: where no resident session holds the metrics."""

import socket
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from settings import Settings
from spark_jobs.audited import decoders
from spark_jobs.audits.desk import AuditDesk
from spark_jobs.audits.rows import Run
from spark_jobs.findings import JOBS, RecordFindings
from spark_jobs.live import warm_up
from spark_jobs.session import spark_session, tasks_at_once
from store.log import SegmentLog
from store.metrics import MetricsWriter
from store.segments import producer_name


def run_alone(settings: Settings, metrics: MetricsWriter, run_id: str, said: Callable[[Run], None]) -> None:
    """Until the run is over; `said` is told after every slice. Raises NoJavaError.

    A cancellation is an action like any other's: it is seen between two slices.
    """
    data_dir, lanes = Path(settings.store.data_dir), tasks_at_once(settings.spark)
    with ExitStack() as closing:
        spark = spark_session(settings.spark, decoders(settings.pipelines))
        closing.callback(spark.stop)
        warm_up(spark)
        log = SegmentLog(data_dir, producer_name(socket.gethostname(), JOBS))
        closing.callback(log.close)
        findings = RecordFindings(data_dir, log, settings.pipelines)
        desk = AuditDesk(spark, settings, metrics, lanes=lanes, only=run_id, findings=findings)
        closing.enter_context(desk)
        desk.look()
        while (run := desk.run(run_id)) is not None and not run.state.is_over:
            desk.step()
            said(run)
