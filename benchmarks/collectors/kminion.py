"""kminion, an exporter in Go: one scrape of its metrics is one round. Its binary is given, not built."""

import os
import re
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.collectors.measured import Line, Totals
from lab.ports import free_ports

READY_WITHIN_S = 60
LAG = re.compile(r'kminion_kafka_consumer_group_topic_partition_lag\{.*?group_id="([^"]+)".*?\} (\S+)')


def measured(bootstrap: str, binary: str) -> Iterator[Line]:
    """The second scrape: the first makes its connections."""
    (port,) = free_ports(1)
    with tempfile.TemporaryDirectory() as directory:
        config = Path(directory) / "kminion.yaml"
        config.write_text(configuration(bootstrap, port))
        running = subprocess.Popen(
            [binary],
            env={**os.environ, "CONFIG_FILEPATH": str(config)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _scraped(port, time.monotonic() + READY_WITHIN_S)
            began_s, cpu_s = time.monotonic(), _cpu_s(running.pid)
            text = _scraped(port, time.monotonic() + READY_WITHIN_S)
            wall_s, cpu_s = time.monotonic() - began_s, _cpu_s(running.pid) - cpu_s
            yield Line(
                "kminion, per-partition series; steady", wall_s, cpu_s, _peak_mb(running.pid), totals(text.splitlines())
            )
        finally:
            running.terminate()
            running.wait()


def configuration(bootstrap: str, port: int) -> str:
    return (
        f"kafka: {{brokers: [{bootstrap}]}}\n"
        "minion: {consumerGroups: {enabled: true, scrapeMode: adminApi, granularity: partition}}\n"
        f"exporter: {{port: {port}}}\n"
    )


def totals(lines: Iterable[str]) -> Totals:
    """From its Prometheus text."""
    found = [(match[1], float(match[2])) for line in lines if (match := LAG.match(line))]
    return Totals(len({group for group, _ in found}), len(found), int(sum(lag for _, lag in found)))


def _scraped(port: int, until_s: float) -> str:
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=READY_WITHIN_S) as answer:
                text: str = answer.read().decode()
        except OSError:
            if time.monotonic() > until_s:
                raise
            time.sleep(0.5)
        else:
            return text


def _cpu_s(pid: int) -> float:
    """User and system time, fields 14 and 15 of proc(5)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _peak_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1_000
