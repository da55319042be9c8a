"""One audit in a session of its own, for a command: where no resident session holds the metrics."""

from collections.abc import Callable

from settings import Settings
from spark_jobs.audits.desk import AuditDesk
from spark_jobs.audits.rows import Run
from spark_jobs.live import warm_up
from spark_jobs.session import spark_session, tasks_at_once
from store.metrics import MetricsWriter


def run_alone(settings: Settings, metrics: MetricsWriter, run_id: str, said: Callable[[Run], None]) -> None:
    """Until the run is over; `said` is told after every slice. Raises NoJavaError.

    A cancellation is an action like any other's: it is seen between two slices.
    """
    spark = spark_session(settings.spark)
    try:
        warm_up(spark)
        with AuditDesk(spark, settings, metrics, lanes=tasks_at_once(settings.spark), only=run_id) as desk:
            desk.look()
            while (run := desk.run(run_id)) is not None and not run.state.is_over:
                desk.step()
                said(run)
    finally:
        spark.stop()
