"""`tidemark jobs live` in a process of its own, killed with its whole group by SIGKILL and started again.

A start costs seconds, most of them the JVM's, so few kills fit here, at the moments that matter most;
`test_live_killed` ends the rounds of one process at ten.
"""

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from store.metrics import METRICS_FILE
from store.reading import segments
from tests.spark_jobs.outcomes import begin, end, outcome, send_a_turn
from tests.spark_jobs.scripted import Script
from tests.spark_jobs.spark_clusters import ROOT
from tests.spark_jobs.test_live import metric

pytestmark = [pytest.mark.integration, pytest.mark.spark, pytest.mark.timeout(300)]

WITHIN_S = 90
SETTINGS = """
[[clusters]]
name = "test"
bootstrap_servers = "{bootstrap}"
interval_s = 1.0
include_topics = ["{source}", "{sink}"]
include_groups = ["{group}"]

[[pipelines]]
name = "billing"
cluster = "test"
source = "{source}"
group = "{group}"
sink = "{sink}"
id = {{ header = "id" }}
rate = 1.0
settle_s = 2.0
horizon_s = 3600.0

[store]
data_dir = "{data_dir}"

[spark]
master = "local[2]"
round_s = 0.5
"""


class LiveProcess:
    """The resident job as people start it; what is killed is its process group: driver and JVM."""

    def __init__(self, script, data_dir):
        self._said = data_dir / "said.txt"
        settings = data_dir / "tidemark.toml"
        names = {name: getattr(script, name) for name in ("bootstrap", "source", "sink", "group")}
        settings.write_text(SETTINGS.format(data_dir=data_dir, **names))
        with self._said.open("ab") as said:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "cli", "jobs", "live", "--settings", str(settings)],
                cwd=ROOT, stdout=said, stderr=said, start_new_session=True,
            )  # fmt: skip

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(20)

    def kill_once(self, holds):
        deadline = time.monotonic() + WITHIN_S
        while not holds():
            assert self._process.poll() is None, self._said.read_text(errors="replace")[-3000:]
            assert time.monotonic() < deadline, "the moment did not come in time"
            time.sleep(0.0005)
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(20)


def sampled(data_dir):
    return {path.name for path in segments(data_dir, "id_samples", None)}


def unentered(data_dir):
    """Segments of samples that no row of the ledger names."""
    is_there = (data_dir / METRICS_FILE).exists()
    return sampled(data_dir) - ({row["segment"] for row in metric(data_dir, "ledger")} if is_there else set())


def has_come(moment, data_dir):
    """Whether it is time to kill: once samples are stored, or while the metrics are written."""
    known = sampled(data_dir)
    return (data_dir / f"{METRICS_FILE}.wal").exists if moment == "commit" else lambda: sampled(data_dir) - known


def test_the_live_job_killed_with_its_process_group_while_it_reads_and_commits_ends_with_the_metrics_of_one_undisturbed(
    spark, cluster, tmp_path
):
    script = Script(cluster.bootstrap).create()
    killed, undisturbed = tmp_path / "killed", tmp_path / "undisturbed"
    moments = random.Random(11).sample(["samples", "commit", "commit"], 3)
    cut = set()
    with begin(spark, script, (killed, undisturbed)):
        for turn, moment in enumerate(moments):
            send_a_turn(script, turn)
            with LiveProcess(script, killed) as live:
                live.kill_once(has_come(moment, killed))
            cut |= {"in a commit"} if (killed / f"{METRICS_FILE}.wal").exists() else set()
            cut |= {"before a commit"} if unentered(killed) else set()
        end(spark, script, (killed, undisturbed))
    assert cut == {"in a commit", "before a commit"}
    assert outcome(killed) == outcome(undisturbed)
