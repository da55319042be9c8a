"""What a session is told, and what travels to executors."""

import json
import subprocess
import sys
import zipfile

import pytest

from settings import SparkSettings
from spark_jobs.preflight import LACKS, LACKS_DECODERS, NEEDED, answer, decoders_in_words, in_words, lacking_by_host
from spark_jobs.session import session_conf
from spark_jobs.shipping import write_archive
from tests.spark_jobs.spark_clusters import ROOT


def test_what_the_settings_say_has_the_last_word_everywhere():
    said = {"spark.sql.shuffle.partitions": "7"}
    for master in ("local[*]", "spark://host:7077", "yarn", "sc://host"):
        assert session_conf(SparkSettings(master=master, conf=said))["spark.sql.shuffle.partitions"] == "7"


def test_paths_and_addresses_of_this_machine_are_said_to_no_cluster():
    here, there = (session_conf(SparkSettings(master=master)) for master in ("local[2]", "spark://host:7077"))
    own = {"spark.executorEnv.PYTHONPATH", "spark.driver.host", "spark.driver.bindAddress"}
    assert own <= here.keys()
    assert not own & there.keys()


def test_a_connect_server_is_told_only_what_a_session_may_change():
    conf = session_conf(SparkSettings(master="sc://host"))
    assert conf["spark.sql.session.timeZone"] == "UTC"
    assert all(name.startswith("spark.sql.") for name in conf)


def test_small_queries_on_a_cluster_are_not_cut_into_two_hundred_pieces():
    conf = session_conf(SparkSettings(master="spark://host:7077", conf={"spark.default.parallelism": "24"}))
    assert conf["spark.sql.shuffle.partitions"] == "24"


def test_the_archive_holds_every_module_a_worker_imports_and_the_schemas_of_kafka(tmp_path):
    with zipfile.ZipFile(write_archive(tmp_path / "code.zip")) as archive:
        names = set(archive.namelist())
    assert {"settings/cluster.py", "spark_jobs/audits/working.py", "kafka_reader/batches.py"} <= names
    assert {"store/message_ids.py", "guarantees/places.py"} <= names
    assert "kafka/protocol/schemas/resources/FetchRequest.json" in names
    assert not [name for name in names if name.endswith((".pyc", ".so")) or name.startswith(("lab", "dashboard"))]


def test_what_an_executor_lacks_is_named_with_its_host_once():
    answers = ['{"host": "b", "lacks": ["numpy"]}', '{"host": "a", "lacks": []}', '{"host": "b", "lacks": ["cramjam"]}']
    lacking = lacking_by_host(answers, LACKS)
    assert lacking == {"b": ["cramjam", "numpy"]}
    assert in_words(lacking) == (
        "Spark's executors cannot read topics: b lacks cramjam, numpy. "
        "Install requirements-executor.txt for their Python."
    )


def test_an_executor_that_can_import_all_lacks_nothing():
    assert lacking_by_host([answer('[["json", "zipfile"], []]')], LACKS) == {}
    assert list(lacking_by_host([answer('[["json", "no_such_module"], []]')], LACKS).values()) == [["no_such_module"]]


def test_a_decoder_that_an_executor_does_not_have_is_named_with_its_host():
    lacking = lacking_by_host([answer('[["json"], ["orders-avro"]]')], LACKS_DECODERS)
    assert list(lacking.values()) == [["orders-avro"]]
    assert decoders_in_words({"a": ["orders-avro"]}) == (
        "Topics whose ids need it are not read: a lacks the decoder orders-avro. "
        "Install its package for the executors' Python."
    )


def test_nothing_is_said_of_decoders_where_a_module_is_lacking_that_finds_them():
    assert lacking_by_host([answer('[["no_such_module"], ["orders-avro"]]')], LACKS_DECODERS) == {}


@pytest.mark.parametrize("name", NEEDED)
def test_what_executors_need_is_listed_for_them_as_it_is_pinned_for_the_driver(name):
    pins = [
        line.split("#")[0].strip()
        for file in ("requirements.txt", "requirements-executor.txt")
        for line in (ROOT / file).read_text().splitlines()
        if line.startswith(f"{name}==")
    ]
    assert len(pins) == 2
    assert pins[0] == pins[1]


def test_nothing_is_listed_for_executors_that_is_not_asked_for():
    lines = (ROOT / "requirements-executor.txt").read_text().splitlines()
    assert sorted(line.split("==")[0] for line in lines if not line.startswith("#")) == sorted(NEEDED)


def test_workers_import_nothing_that_neither_travels_nor_is_listed_for_executors():
    imports = "import spark_jobs.audits.working, spark_jobs.sources.range_reading, spark_jobs.preflight"
    code = f"{imports}, sys, json; print(json.dumps(sorted(sys.modules)))"
    said = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    imported = {name.partition(".")[0] for name in json.loads(said)}
    assert {"kafka", "numpy", "cramjam"} <= imported
    assert not imported & {"confluent_kafka", "duckdb", "scipy", "streamlit", "cachetools", "lab"}
