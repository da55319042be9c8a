"""The code that travels to executors: Tidemark's own packages and kafka-python, as one zip of pure Python.

What is native cannot travel so and is installed where executors run: requirements-executor.txt lists it.
"""

import atexit
import importlib.util
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import SparkSession

OWN = ("settings", "guarantees", "kafka_reader", "spark_jobs", "store")
FOREIGN = ("kafka",)  # kafka-python has no native part
ARCHIVE = "tidemark_code.zip"
_SUFFIXES = frozenset({".py", ".json"})  # of modules and of the schemas they read


def ship_code(spark: SparkSession, *, is_remote: bool) -> None:
    """Put it on the path of every Python worker of the session. A source registered before would not find it."""
    folder = Path(tempfile.mkdtemp(prefix="tidemark-code-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # executors that come later fetch it too
    archive = write_archive(folder / ARCHIVE)
    if is_remote:
        spark.addArtifacts(str(archive), pyfile=True)
    else:
        spark.sparkContext.addPyFile(str(archive))


def write_archive(path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name in (*OWN, *FOREIGN):
            for file, inside in _files(name):
                archive.write(file, inside)
    return path


def _files(name: str) -> Iterator[tuple[Path, str]]:
    """Of a package, found as it would be imported, each with its place in the archive."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"{name} is not installed: nothing to send to the executors")
    folder = Path(spec.origin).parent
    for file in sorted(folder.rglob("*")):
        if file.suffix in _SUFFIXES and file.is_file():
            yield file, str(file.relative_to(folder.parent))
