"""Reading two topics without judging a record: the clients people know, and Tidemark's scan of batch headers."""

import shutil
import subprocess
from collections.abc import Iterable
from typing import TypeVar

from confluent_kafka import Consumer, TopicPartition

from collectors.frugal_process import keep_large_blocks
from guarantees.unknown import Unknown
from kafka_reader.connection import Connections
from kafka_reader.fetch import Part
from kafka_reader.header_fetch import fetch_headers
from kafka_reader.list_offsets import high_watermark_request
from kafka_reader.metadata import Topology, fetch_topology
from lab.cache import cache_dir
from lab.java import java_home
from lab.kafka_jars import kafka_classpath
from settings import Security
from spark_jobs.offsets import listed

ANSWER_BYTES = 8_000_000  # as the collectors ask
_TIMEOUT_S = 30.0
T = TypeVar("T")


def kcat(bootstrap: str, topics: Iterable[str]) -> int | None:
    """None: how many records it read is not counted. Raises FileNotFoundError where it is not installed."""
    command = shutil.which("kcat") or shutil.which("kafkacat")
    if command is None:
        raise FileNotFoundError("kcat is not installed")
    for topic in topics:
        options = ["-C", "-b", bootstrap, "-t", topic, "-o", "beginning", "-e", "-q"]
        subprocess.run([command, *options], stdout=subprocess.DEVNULL, check=True)
    return None


def consumer_perf_test(bootstrap: str, records: int, topics: Iterable[str]) -> int:
    """Kafka's own, from Kafka's own jars."""
    cache = cache_dir()
    home = java_home(cache.parent / "java")
    classpath = kafka_classpath(cache, home, lambda _: None)
    tool = [str(home / "bin" / "java"), "-Xmx512m", "-cp", classpath, "org.apache.kafka.tools.ConsumerPerformance"]
    of_both = ["--include", "|".join(topics), "--num-records", str(records), "--timeout", "60000"]
    group = ["--group", "audit-benchmark"]
    said = subprocess.run(
        [*tool, "--bootstrap-server", bootstrap, *of_both, *group, "--hide-header"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return int(said.stdout.splitlines()[-1].split(", ")[4])


def confluent_kafka(bootstrap: str, topics: Iterable[str]) -> int:
    """`consume(10000)` over everything stored, one topic after another."""
    seen = 0
    for topic in topics:
        consumer = Consumer({
            "bootstrap.servers": bootstrap, "group.id": "audit-benchmark", "enable.auto.commit": False,
        })  # fmt: skip
        parts = [TopicPartition(topic, p, 0) for p in consumer.list_topics(topic, 10).topics[topic].partitions]
        wanted = sum(consumer.get_watermark_offsets(part, 10)[1] for part in parts)
        consumer.assign(parts)
        while wanted > 0:
            got = len(consumer.consume(10_000, 10))
            if not got:
                raise RuntimeError(f"{topic}: {wanted} records did not arrive")
            wanted, seen = wanted - got, seen + got
        consumer.close()
    return seen


def header_scan(bootstrap: str, topics: Iterable[str]) -> int:
    """As the collectors do it, up to the high watermarks, with every CRC checked; the records the headers announce."""
    keep_large_blocks()
    with Connections(bootstrap, Security(), request_timeout_s=_TIMEOUT_S) as connections:
        topology = fetch_topology(connections)
        return sum(_headers_of(connections, topology, topic) for topic in topics)


def _headers_of(connections: Connections, topology: Topology, topic: str) -> int:
    places = [place for place in topology.states if place.topic == topic]
    parts = {Part(topic, topology.states[place].topic_id, place.partition): place for place in places}
    ends = listed(connections, topology, places, high_watermark_request)
    positions, seen = dict.fromkeys(parts, 0), 0
    while True:
        asked: dict[int, dict[Part, int]] = {}
        for part, place in parts.items():
            if positions[part] < _known(ends[place].offset):
                asked.setdefault(_known(topology.leader(place)), {})[part] = positions[part]
        if not asked:
            return seen
        for part, answer in fetch_headers(connections, asked, ANSWER_BYTES, _TIMEOUT_S).items():
            batches = _known(answer).batches
            positions[part] = batches[-1].next_offset if batches else positions[part]
            seen += sum(batch.records for batch in batches if batch.marker is None)


def _known(value: T | Unknown) -> T:
    if isinstance(value, Unknown):
        raise RuntimeError(value.reason)
    return value
