"""The live job killed in the middle of a round: after a restart the metrics are those of an undisturbed run."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from store.metrics import METRICS_FILE, snapshot
from store.reading import read
from store.rows import python_rows
from tests.spark_jobs.scripted import Script, ids

pytestmark = [pytest.mark.integration, pytest.mark.spark, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[2]

SETTINGS = """
[[clusters]]
name = "test"
bootstrap_servers = "{bootstrap}"

[[pipelines]]
name = "billing"
cluster = "test"
source = "{source}"
group = "billing"
id = {{ header = "id" }}
rate = 1.0

[spark]
master = "local[2]"
round_s = 0.5
"""


def start(script, directory):
    directory.mkdir(exist_ok=True)
    settings = directory / "tidemark.toml"
    settings.write_text(SETTINGS.format(bootstrap=script.bootstrap, source=script.source))
    command = [sys.executable, "-m", "cli", "jobs", "live", "--settings", str(settings)]
    output = (directory / "output").open("ab")
    # A group of its own, so that the Java process dies with it.
    return subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output, start_new_session=True)


def end(process, number):
    os.killpg(process.pid, number)
    process.wait(60)


def wait_for(holds, process, within_s=240):
    deadline = time.monotonic() + within_s
    while not holds():
        assert process.poll() is None, "the job ended by itself"
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.02)


def ledger(directory):
    path = directory / "data" / METRICS_FILE
    return python_rows("ledger", snapshot(path, ["ledger"])["ledger"]) if path.exists() else []


def run_to_the_end(script, directory, records):
    process = start(script, directory)
    wait_for(lambda: sum(row["records"] for row in ledger(directory)) >= records, process)
    end(process, signal.SIGTERM)


def result(directory):
    """What must not depend on how the offsets were cut into ranges."""
    data_dir = directory / "data"
    duplicates = Counter()
    for row in python_rows("duplicates", snapshot(data_dir / METRICS_FILE, ["duplicates"])["duplicates"]):
        duplicates[row["partition"], row["cause"], row["producer_id"]] += row["sampled_extra_copies"]
    covered = Counter()
    for row in ledger(directory):
        covered[row["partition"]] += row["next_offset"] - row["first_offset"]
    samples = read(data_dir, "id_samples").select(["partition", "offset", "id_hash"]).to_pylist()
    return duplicates, covered, sorted(tuple(row.values()) for row in samples)


def test_job_killed_mid_round_gives_the_metrics_of_an_undisturbed_run(cluster, tmp_path):
    script = Script(cluster.bootstrap).create()
    script.send(script.source, ids("a", 0, 200))
    script.send(script.source, ids("a", 150, 200))

    killed, undisturbed = tmp_path / "killed", tmp_path / "undisturbed"
    process = start(script, killed)
    wait_for(lambda: any((killed / "data" / "raw").glob("id_samples/*/*/*.parquet")), process)
    end(process, signal.SIGKILL)
    assert ledger(killed) == [], "the kill came too late to prove anything"
    script.send(script.source, ids("b", 0, 30))  # the range that is read again has grown meanwhile

    run_to_the_end(script, killed, records=280)
    run_to_the_end(script, undisturbed, records=280)

    assert result(killed) == result(undisturbed)
    assert sum(result(killed)[0].values()) == 50
