"""Spark elsewhere, on the loopback: a standalone cluster or a Connect server; its Python does not know the project."""

import importlib.metadata
import os
import re
import signal
import socket
import subprocess
import time
import venv
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pyspark

from spark_jobs.java import provide_java

ROOT = Path(__file__).parents[2]
_HOME = Path(pyspark.__file__).parent
_SMALL = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_WITHIN_S = 60


def executor_python(folder: Path, requirements: Path = ROOT / "requirements-executor.txt") -> Path:
    """A Python of its own that has what the requirements name and what those require, and nothing else."""
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    (packages,) = folder.glob("lib/python*/site-packages")
    for name in _with_what_they_require(_named(requirements)):
        for file in importlib.metadata.distribution(name).files or ():
            top = file.parts[0]
            if top != ".." and not (packages / top).exists():
                (packages / top).symlink_to(importlib.metadata.distribution(name).locate_file(top))
    return python


def _named(requirements: Path) -> list[str]:
    lines = (line.split("#")[0].strip() for line in requirements.read_text().splitlines())
    return [line.split("==")[0] for line in lines if line]


def _with_what_they_require(names: list[str]) -> set[str]:
    found: set[str] = set()
    left = list(names)
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            required = importlib.metadata.distribution(name).requires or ()
            left += [re.match(r"[\w.-]+", each)[0] for each in required if "extra ==" not in each and _is_here(each)]
    return found


def _is_here(requirement: str) -> bool:
    """Some are for other systems only."""
    name = re.match(r"[\w.-]+", requirement)[0]
    return any(True for _ in importlib.metadata.Distribution.discover(name=name))


@contextmanager
def standalone_cluster(folder: Path, workers: int = 2) -> Iterator[str]:
    """A master and workers of one core; the master's address."""
    port = _free_port()
    address = f"spark://127.0.0.1:{port}"
    deploy = "org.apache.spark.deploy"
    with ExitStack() as running:
        master = [f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"]
        running.enter_context(_jvm("master", master, folder, "I have been elected leader"))
        for number in range(workers):
            place = folder / f"worker-{number}"
            worker = [f"{deploy}.worker.Worker", "--host", "127.0.0.1", "--webui-port", "0", "-c", "1", "-m", "600m"]
            running.enter_context(
                _jvm(place.name, [*worker, "-d", str(place), address], folder, "Successfully registered")
            )
        yield address


@contextmanager
def connect_server(folder: Path, python: Path, master: str = "local[2]") -> Iterator[str]:
    """A Spark Connect server; its address. Its Python is chosen when it is started, not by who connects."""
    port = _free_port()
    conf = {
        "spark.connect.grpc.binding.port": port, "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.driver.host": "127.0.0.1", "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": 2,
        "spark.driver.extraJavaOptions": _SMALL,
    }  # fmt: skip
    options = [word for name, value in conf.items() for word in ("--conf", f"{name}={value}")]
    kind = "org.apache.spark.sql.connect.service.SparkConnectServer"
    submit = ["org.apache.spark.deploy.SparkSubmit", "--master", master, *options, "--class", kind, "spark-internal"]
    environ = {"PYSPARK_PYTHON": str(python), "SPARK_DAEMON_MEMORY": "700m"}
    with _jvm("connect", submit, folder, "Spark Connect server started", **environ):
        yield f"sc://127.0.0.1:{port}"


@contextmanager
def _jvm(name: str, words: list[str], folder: Path, says: str, **environ: str) -> Iterator[None]:
    """Runs until the block ends, with a log of its own, in a folder where nothing of the project lies."""
    provide_java()
    log = folder / f"{name}.log"
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PYSPARK", "SPARK"))}
    clean |= {"SPARK_HOME": str(_HOME), "SPARK_DAEMON_MEMORY": "256m", "SPARK_DAEMON_JAVA_OPTS": _SMALL, **environ}
    with log.open("wb") as out:
        process = subprocess.Popen(
            [str(_HOME / "bin" / "spark-class"), *words],
            cwd=folder, env=clean, stdout=out, stderr=out, start_new_session=True,
        )  # fmt: skip
    try:
        _wait_for(process, log, says)
        yield
    finally:
        _stop(process)


def _wait_for(process: subprocess.Popen, log: Path, says: str) -> None:
    deadline = time.monotonic() + _WITHIN_S
    while says not in (said := log.read_text(errors="replace")):
        assert process.poll() is None, f"{log.stem} ended: {said[-2000:]}"
        assert time.monotonic() < deadline, f"{log.stem} did not start: {said[-2000:]}"
        time.sleep(0.1)


def _stop(process: subprocess.Popen) -> None:
    """All of its session: executors and Python workers too."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(20)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(20)


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])
