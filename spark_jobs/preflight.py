"""Asks the executors, before anything is read, whether they have what does not travel with the code."""

import importlib
import json
import logging
import socket
import time
from collections.abc import Iterable, Mapping, Sequence

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

logger = logging.getLogger(__name__)

# The modules of requirements-executor.txt.
NEEDED = ("numpy", "pandas", "pyarrow", "xxhash", "crc32c", "cramjam")
LACKS, LACKS_DECODERS = "lacks", "lacks_decoders"  # in an executor's answer
_TASK_S = 0.2  # a task that ends at once would leave all others to the executor that is up first


class ExecutorLacksError(Exception):
    """An executor cannot import what reading needs; the message says which one, what, and what to install."""


def check_executors(
    spark: SparkSession, tasks: int, decoders: Sequence[str] = (), needed: Sequence[str] = NEEDED
) -> None:
    """Raises ExecutorLacksError. So many tasks are asked; an executor that comes later is not.

    A decoder that is not installed is said and no error: topics whose ids need it wait, the others are read.
    """
    answers = executor_answers(spark, tasks, needed, decoders)
    if lacking := lacking_by_host(answers, LACKS):
        raise ExecutorLacksError(in_words(lacking))
    if lacking := lacking_by_host(answers, LACKS_DECODERS):
        logger.warning(decoders_in_words(lacking))


def executor_answers(spark: SparkSession, tasks: int, needed: Sequence[str], decoders: Sequence[str]) -> list[str]:
    """One answer of each task: JSON of its host, what could not be imported there, and which decoders are not there.

    A plain Python function: Arrow, which all else uses, is one of the things that may be lacking.
    """
    ask = sf.udf(answer, "string", useArrow=False)
    asked = sf.lit(json.dumps([list(needed), list(decoders)]))
    rows = spark.range(0, tasks, numPartitions=tasks).select(ask(asked).alias("answer")).collect()
    return [row["answer"] for row in rows]


def answer(asked: str) -> str:
    """Runs in the executor. What finds a decoder cannot be imported itself where a module is lacking."""
    time.sleep(_TASK_S)
    needed, decoders = json.loads(asked)
    lacks = [name for name in needed if _lacks(name)]
    without = [] if lacks else [name for name in decoders if _lacks_decoder(name)]
    return json.dumps({"host": socket.gethostname(), LACKS: lacks, LACKS_DECODERS: without})


def lacking_by_host(answers: Iterable[str], what: str) -> dict[str, list[str]]:
    """Hosts that lack something, with all that any of their tasks lacked."""
    found: dict[str, set[str]] = {}
    for each in map(json.loads, answers):
        found.setdefault(each["host"], set()).update(each[what])
    return {host: sorted(names) for host, names in sorted(found.items()) if names}


def in_words(lacking: Mapping[str, Sequence[str]]) -> str:
    hosts = "; ".join(f"{host} lacks {', '.join(names)}" for host, names in lacking.items())
    return f"Spark's executors cannot read topics: {hosts}. Install requirements-executor.txt for their Python."


def decoders_in_words(lacking: Mapping[str, Sequence[str]]) -> str:
    hosts = "; ".join(f"{host} lacks the decoder {', '.join(names)}" for host, names in lacking.items())
    return f"Topics whose ids need it are not read: {hosts}. Install its package for the executors' Python."


def _lacks_decoder(name: str) -> bool:
    from kafka_reader.decoders import NoDecoderError, decoder  # it needs what may be lacking

    try:
        decoder(name)
    except NoDecoderError:
        return True
    return False


def _lacks(name: str) -> bool:
    """What is there and does not load, for want of a shared library say, is lacking too."""
    try:
        importlib.import_module(name)
    except ImportError:
        return True
    return False
