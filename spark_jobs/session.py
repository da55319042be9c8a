"""The one place that builds a Spark session."""

import logging
import os
import re
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from pyspark.sql import SparkSession

from settings import SparkSettings
from spark_jobs.java import provide_java
from spark_jobs.preflight import check_executors
from spark_jobs.shipping import ship_code

logger = logging.getLogger(__name__)

CLUSTER_TASKS = 8  # side by side where the settings do not say how many cores the cluster gives

_REMOTE = "sc://"  # Spark Connect

_ALWAYS: Mapping[str, str] = {
    "spark.app.name": "tidemark",
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Columns need not remember the line that made them: that costs more than the small queries themselves.
    "spark.sql.dataFrameQueryContext.enabled": "false",
    # Above 32 paths Spark would start a job only to list files it was given by name.
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
    # Segments are small: pack many of them into a task instead of counting each as 4 MB.
    "spark.sql.files.openCostInBytes": "65536",
}

# For glibc in Python workers: blocks of a few MB, which decoding takes and gives back for every answer, come from
# memory they hold already. Asked of the kernel anew each time, their pages cost a quarter of the decoder's time.
_WORKERS_KEEP: Mapping[str, str] = {
    "MALLOC_MMAP_THRESHOLD_": str(64 * 2**20),
    "MALLOC_TRIM_THRESHOLD_": str(128 * 2**20),
}

# On one machine: rounds are short, so start-up and latency count, not peak speed.
_LOCAL: Mapping[str, str] = {
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # Workers on this machine import the sources from where this package lies.
    "spark.executorEnv.PYTHONPATH": str(Path(__file__).resolve().parents[1]),
    "spark.sql.shuffle.partitions": "2",
    # Plans of small, known shape: planning them again after each stage costs more than it saves.
    "spark.sql.adaptive.enabled": "false",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData",
}


def spark_session(settings: SparkSettings, decoders: Sequence[str] = ()) -> SparkSession:
    """A session whose workers can import the sources; the settings' `conf` has the last word.

    Which of the `decoders` a cluster's executors lack is said in the log.
    Raises NoJavaError, and ExecutorLacksError where a cluster's executors cannot read topics.
    """
    started_at = time.monotonic()
    is_remote = settings.master.startswith(_REMOTE)
    if not is_remote:
        _provide_for_a_driver(settings)
    builder = SparkSession.builder
    builder = builder.remote(settings.master) if is_remote else builder.master(settings.master)
    for name, value in session_conf(settings).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    if not _is_local(settings):
        ship_code(session, is_remote=is_remote)
        check_executors(session, tasks_at_once(settings), decoders)
    logger.info("Spark %s on %s is up after %.1f s", session.version, settings.master, time.monotonic() - started_at)
    return session


def _provide_for_a_driver(settings: SparkSettings) -> None:
    """What a driver in this process and its own Python workers need. Raises NoJavaError."""
    provide_java()
    # Else workers run whatever python3 is on the PATH. The name must be good on executors too.
    os.environ["PYSPARK_PYTHON"] = settings.conf.get("spark.pyspark.python", sys.executable)
    for name, value in _WORKERS_KEEP.items():
        os.environ.setdefault(name, value)


def _is_local(settings: SparkSettings) -> bool:
    return settings.master.startswith("local")


def tasks_at_once(settings: SparkSettings) -> int:
    """How many tasks the master runs side by side, as far as the settings say it."""
    if known := settings.conf.get("spark.default.parallelism"):
        return int(known)
    cores = re.fullmatch(r"local(?:\[(\d+|\*)(?:,\d+)?\])?", settings.master)
    if cores is None:
        return CLUSTER_TASKS
    return (os.cpu_count() or 1) if cores[1] == "*" else int(cores[1] or 1)


def session_conf(settings: SparkSettings) -> dict[str, str]:
    """Tidemark's defaults, those for one machine or for a cluster, then what the settings say.

    Of the defaults a Spark Connect server is only told what a session may change.
    """
    if _is_local(settings):
        defaults = {**_ALWAYS, **_executors_keep(), **_LOCAL}
    else:
        defaults = {**_ALWAYS, **_executors_keep(), "spark.sql.shuffle.partitions": str(tasks_at_once(settings))}
    if settings.master.startswith(_REMOTE):
        defaults = {name: value for name, value in defaults.items() if name.startswith("spark.sql.")}
    return {**defaults, **settings.conf}


def _executors_keep() -> dict[str, str]:
    return {f"spark.executorEnv.{name}": value for name, value in _WORKERS_KEEP.items()}
