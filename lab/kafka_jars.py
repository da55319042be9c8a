"""Obtain Apache Kafka's jars once, through the Ivy that PySpark bundles; no Kafka distribution and no Maven needed."""

import fcntl
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.errors import LabError

KAFKA_VERSION = "4.2.0"
# The newest 3.x of Maven Central: what a cluster that was not upgraded yet may run.
KAFKA_3_VERSION = "3.9.2"
EXPECTED_JARS = 92  # only for the progress line
MARKER = "complete.json"
_PROGRESS_EVERY_S = 3.0
# Ivy's words for a server that answered wrongly, a host it does not find, and Spark's summary of both.
_CAUSES = ("Server access error", "not found. url=", "unresolved dependency", "Exception")

Progress = Callable[[str], None]


def coordinates(version: str) -> tuple[str, ...]:
    """What a broker and its command-line tools consist of."""
    return (
        f"org.apache.kafka:kafka_2.13:{version}",
        f"org.apache.kafka:kafka-tools:{version}",
        # Without a binding for slf4j the brokers and command-line clients say nothing.
        "org.apache.logging.log4j:log4j-slf4j-impl:2.25.3",
    )


def kafka_classpath(cache: Path, java_home: Path, progress: Progress, version: str = KAFKA_VERSION) -> str:
    """The class path of Kafka's jars, fetched first if `cache` does not hold all of them.

    Another version than the lab's own has a folder inside `cache`.
    """
    if version != KAFKA_VERSION:
        cache = cache / version
    cache.mkdir(parents=True, exist_ok=True)
    spark_home = _spark_home()
    with _one_at_a_time(cache, progress):
        if not is_complete(cache, version):
            _fetch(cache, java_home, spark_home, progress, version)
            _mark_complete(cache, version)
    return f"{cache / 'jars'}/*:{_scala_library(spark_home)}"


def is_complete(cache: Path, version: str = KAFKA_VERSION) -> bool:
    """The marker is written last and lists every jar with its size: a broken download does not pass for a whole one."""
    try:
        marked = json.loads((cache / MARKER).read_text())
    except (OSError, ValueError):
        return False
    return bool(marked == _contents(cache, version))


def resolve_command(cache: Path, spark_home: Path, empty_script: Path, version: str) -> list[str]:
    """A Spark application without a line of code: resolving its packages is all it does."""
    return [
        *(str(spark_home / "bin" / "spark-submit"), "--master", "local[1]"),
        *("--packages", ",".join(coordinates(version))),
        *("--conf", f"spark.jars.ivy={cache}", "--conf", "spark.ui.enabled=false"),
        str(empty_script),
    ]


def why_it_failed(log: str) -> str:
    """The line of the resolver's output that names the cause (the first words found decide), or its last line."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    for words in _CAUSES:
        if telling := next((line for line in lines if words in line), None):
            return telling[:300]
    return lines[-1][:300] if lines else "no output"


def _fetch(cache: Path, java_home: Path, spark_home: Path, progress: Progress, version: str) -> None:
    shutil.rmtree(cache / "jars", ignore_errors=True)  # Ivy fills it from its own cache, which resumes
    progress(f"Fetching Apache Kafka {version} from Maven Central into {cache} (once, about 50 MB)")
    empty_script, log = cache / "empty.py", cache / "resolve.log"
    empty_script.touch()
    homes = {"JAVA_HOME": str(java_home), "SPARK_HOME": str(spark_home), "PYSPARK_PYTHON": sys.executable}
    with log.open("w") as output:
        resolving = subprocess.Popen(
            resolve_command(cache, spark_home, empty_script, version),
            env={**os.environ, **homes},
            stdout=output,
            stderr=output,
        )
        try:
            _report_until_done(resolving, cache, progress)
        finally:
            resolving.kill()
            resolving.wait()
    if resolving.returncode != 0:
        raise LabError(
            f"Kafka {version} could not be fetched from Maven Central ({why_it_failed(log.read_text())}): check "
            "the network, a proxy and its certificates, and start again, or point TIDEMARK_CACHE to a folder that "
            f"holds it. Details: {log}"
        )


def _report_until_done(resolving: "subprocess.Popen[bytes]", cache: Path, progress: Progress) -> None:
    while True:
        try:
            resolving.wait(timeout=_PROGRESS_EVERY_S)
        except subprocess.TimeoutExpired:
            downloaded = [path.stat().st_size for path in (cache / "cache").glob("*/*/jars/*.jar")]
            progress(f"  {len(downloaded)} of about {EXPECTED_JARS} jars, {sum(downloaded) / 1e6:.0f} MB")
        else:
            return


def _mark_complete(cache: Path, version: str) -> None:
    partial = cache / f"{MARKER}.partial"
    partial.write_text(json.dumps(_contents(cache, version), indent=0, sort_keys=True))
    partial.replace(cache / MARKER)


def _contents(cache: Path, version: str) -> dict[str, object]:
    sizes = {path.name: path.stat().st_size for path in (cache / "jars").glob("*.jar")}
    return {"coordinates": list(coordinates(version)), "jars": sizes}


def _spark_home() -> Path:
    """Found, not imported: the lab only runs Spark's launcher."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise LabError("PySpark is not installed, and the lab fetches Kafka with it: run `make demo` or `make test`.")
    return Path(spec.origin).parent


def _scala_library(spark_home: Path) -> Path:
    """Spark's resolver leaves it out of what it fetches, because Spark brings it."""
    found = sorted((spark_home / "jars").glob("scala-library-2.13.*.jar"))
    if not found:
        raise LabError(f"PySpark in {spark_home} has no Scala 2.13 library: install the pinned version again.")
    return found[-1]


@contextmanager
def _one_at_a_time(cache: Path, progress: Progress) -> Iterator[None]:
    """Two starts at once share one download."""
    with (cache / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress(f"Waiting for another process that is fetching Kafka into {cache}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
