"""Kafka's own command: `kafka-consumer-groups --describe --all-groups`."""

import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.collectors.measured import Line, Totals, cost, peak_mb
from lab.cache import cache_dir
from lab.java import java_home
from lab.kafka_jars import kafka_classpath

COMMAND = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
# GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG …
LEAST_COLUMNS, TOPIC, PARTITION, LAG = 6, 1, 2, 5


def measured(bootstrap: str) -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as directory:
        output = Path(directory) / "described.txt"
        with cost() as spent, output.open("w") as file:
            subprocess.run(command(bootstrap), stdout=file, stderr=subprocess.DEVNULL, check=True)
        with output.open() as lines:
            found = totals(lines)
    yield Line("kafka-consumer-groups --describe --all-groups", spent.wall_s, spent.cpu_s, peak_mb(), found)


def command(bootstrap: str) -> list[str]:
    """As bin/kafka-consumer-groups.sh starts it, with its heap, and with patience for a busy machine."""
    cache = cache_dir()
    home = java_home(cache.parent / "java")
    return [
        *(str(home / "bin" / "java"), "-Xmx256M", "-cp", kafka_classpath(cache, home, progress=lambda _: None)),
        *(COMMAND, "--bootstrap-server", bootstrap, "--describe", "--all-groups", "--timeout", "120000"),
    ]


def totals(lines: Iterable[str]) -> Totals:
    """From its table; partitions without a commit have a dash for their lag."""
    rows = [row for row in map(str.split, lines) if len(row) >= LEAST_COLUMNS and row[LAG].lstrip("-").isdigit()]
    return Totals(len({row[0] for row in rows}), len(rows), sum(int(row[LAG]) for row in rows))
