"""The same round and the same audit in this process, on a standalone cluster and through Spark Connect: by setting."""

import json
import os
import subprocess
import sys
import time
from dataclasses import asdict

import pytest

from tests.spark_jobs.one_answer import answer
from tests.spark_jobs.scripted import CODECS, Script, ids
from tests.spark_jobs.spark_clusters import ROOT, connect_server, executor_python, standalone_cluster

# Five JVMs one after another: seconds each on a machine of its own, a minute each on a busy one.
pytestmark = [pytest.mark.integration, pytest.mark.spark, pytest.mark.timeout(400)]

_SMALL = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@pytest.fixture(scope="module")
def foreign_python(tmp_path_factory):
    """It has what requirements-executor.txt names; the project is not among it, as the import shows."""
    python = executor_python(tmp_path_factory.mktemp("executor") / "python")
    for name in ("settings", "kafka_reader", "kafka", "spark_jobs"):
        tried = subprocess.run([python, "-c", f"import {name}"], env={}, cwd=python.parent, capture_output=True)
        assert b"ModuleNotFoundError" in tried.stderr, f"{name} can be imported: this would prove nothing"
    install_decoder(next(python.parents[1].glob("lib/python*/site-packages")))
    return python


def install_decoder(packages):
    """A small package of somebody's own, of which the project knows nothing but the name of its entry point."""
    (packages / "our_ids.py").write_text("def shouted(key, value):\n    return key.decode().upper()\n")
    about = packages / "our_ids-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: our-ids\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[tidemark.decoders]\nshouted = our_ids:shouted\n")


@pytest.fixture(scope="module")
def script(cluster):
    """Copies, a lost id, one that only the sink has, a transaction of each kind, every codec."""
    script = Script(cluster.bootstrap).create()
    begun_ms = _now_ms()
    for codec in CODECS:
        script.send(script.source, ids(codec, 0, 20), codec=codec)
    script.send(script.source, ids("none", 5, 10))
    script.send_in_transaction(script.source, ids("kept", 0, 7), is_committed=True)
    script.send_in_transaction(script.source, ids("gone", 0, 5), is_committed=False)
    for codec in CODECS:
        script.send(script.sink, ids(codec, 3 if codec == "lz4" else 0, 20))
    script.send(script.sink, [*ids("kept", 0, 7), *ids("strange", 0, 4)])
    time.sleep(0.3)
    return script, (begun_ms - 1, _now_ms())


@pytest.fixture(scope="module")
def here(spark, script, tmp_path_factory):
    found = answer(spark, script[0], tmp_path_factory.mktemp("here"), script[1], lanes=2)
    counts = found["audit"]["counts"]
    assert {state: sum(each.values()) for state, each in counts.items()} == {
        "lost": 3, "late": 0, "waiting": 0, "surplus": 4,
    }  # fmt: skip
    assert sum(group["extra_copies"] for group in found["audit"]["groups"]["source"]) == 5
    assert sum(json.loads(row)["sampled_extra_copies"] for row in found["duplicates"]) == 5
    assert sum(len(json.loads(row)["lost"]) for row in found["judged"]) == 3
    return found


def elsewhere(script, data_dir, **spark):
    """The answer of a session in a process of its own: a process has one kind of session."""
    spec = {"script": asdict(script[0]), "window": script[1], "spark": spark}
    spec["data_dir"] = os.path.relpath(data_dir, ROOT)  # as the settings may have it: workers stand elsewhere
    ran = subprocess.run(
        [sys.executable, "-m", "tests.spark_jobs.one_answer", json.dumps(spec)],
        cwd=ROOT, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-3000:]
    return json.loads(ran.stdout.splitlines()[-1])


def assert_same(found, here):
    assert "no_such_module. Install requirements-executor.txt" in found.pop("preflight")
    assert_decoded(**found.pop("decoded"))
    assert found == here


def assert_decoded(said, shouted, nowhere):
    """The executors have one of the two decoders, this process has none."""
    (named,) = said
    assert "lacks the decoder nowhere. Install its package for the executors' Python." in named
    assert {"LZ4-0", "KEPT-6", "STRANGE-3"} <= set(shouted["ids"])
    assert (shouted["waits"], nowhere["ids"]) == ([], [])
    assert any("no decoder 'nowhere' is installed here" in reason for reason in nowhere["waits"])


def test_a_standalone_cluster_whose_executors_do_not_know_the_project_finds_the_same_rows(
    script, here, foreign_python, tmp_path
):
    with standalone_cluster(tmp_path) as master:
        conf = {
            "spark.driver.host": "127.0.0.1", "spark.driver.extraJavaOptions": _SMALL, "spark.driver.memory": "700m",
            "spark.executor.memory": "512m", "spark.executor.extraJavaOptions": _SMALL,
            "spark.pyspark.python": str(foreign_python), "spark.default.parallelism": "2",
        }  # fmt: skip
        found = elsewhere(script, tmp_path, master=master, conf=conf)
    assert len(list(tmp_path.glob("worker-*/app-*/*/stderr"))) == 2, "both workers had an executor"
    assert_same(found, here)


def test_spark_connect_finds_the_same_rows(script, here, foreign_python, tmp_path):
    with connect_server(tmp_path, foreign_python) as address:
        found = elsewhere(script, tmp_path, master=address, conf={"spark.default.parallelism": "2"})
    assert_same(found, here)


def _now_ms():
    return time.time_ns() // 1_000_000
