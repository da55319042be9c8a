"""Asks the executors, before anything is read, whether they can import what does not travel with the code."""

import importlib
import json
import socket
import time
from collections.abc import Iterable, Mapping, Sequence

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

# The modules of requirements-executor.txt.
NEEDED = ("numpy", "pandas", "pyarrow", "xxhash", "crc32c", "cramjam")
_TASK_S = 0.2  # a task that ends at once would leave all others to the executor that is up first


class ExecutorLacksError(Exception):
    """An executor cannot import what reading needs; the message says which one, what, and what to install."""


def check_executors(spark: SparkSession, tasks: int, needed: Sequence[str] = NEEDED) -> None:
    """Raises ExecutorLacksError. So many tasks are asked; an executor that comes later is not."""
    if lacking := lacking_by_host(executor_answers(spark, tasks, needed)):
        raise ExecutorLacksError(in_words(lacking))


def executor_answers(spark: SparkSession, tasks: int, needed: Sequence[str]) -> list[str]:
    """One answer of each task: JSON of its host and what could not be imported there.

    A plain Python function: Arrow, which all else uses, is one of the things that may be lacking.
    """
    ask = sf.udf(answer, "string", useArrow=False)
    rows = spark.range(0, tasks, numPartitions=tasks).select(ask(sf.lit(json.dumps(needed))).alias("answer")).collect()
    return [row["answer"] for row in rows]


def answer(needed: str) -> str:
    """Runs in the executor."""
    time.sleep(_TASK_S)
    return json.dumps({"host": socket.gethostname(), "lacks": [name for name in json.loads(needed) if _lacks(name)]})


def lacking_by_host(answers: Iterable[str]) -> dict[str, list[str]]:
    """Hosts that lack something, with all that any of their tasks lacked."""
    found: dict[str, set[str]] = {}
    for each in map(json.loads, answers):
        found.setdefault(each["host"], set()).update(each["lacks"])
    return {host: sorted(names) for host, names in sorted(found.items()) if names}


def in_words(lacking: Mapping[str, Sequence[str]]) -> str:
    hosts = "; ".join(f"{host} lacks {', '.join(names)}" for host, names in lacking.items())
    return f"Spark's executors cannot read topics: {hosts}. Install requirements-executor.txt for their Python."


def _lacks(name: str) -> bool:
    """What is there and does not load, for want of a shared library say, is lacking too."""
    try:
        importlib.import_module(name)
    except ImportError:
        return True
    return False
