"""A broker that hangs while ranges are read: those of other leaders are read meanwhile, its own are named and wait."""

import time

import pytest

from guarantees.places import TopicPartition
from kafka_reader.connection import Connections
from kafka_reader.metadata import fetch_topology
from settings import Security
from spark_jobs.audits import blocks, folders
from spark_jobs.audits.exact import ExactAudit
from spark_jobs.live import warm_up
from spark_jobs.sources.range_reading import read_requests
from tests.spark_jobs.scripted import Script, ids
from tests.spark_jobs.test_exact_audit_live import now_ms, planned
from tests.spark_jobs.test_live import live_rounds, metric, until

pytestmark = [pytest.mark.integration, pytest.mark.spark]

PARTITIONS = 12
AT_MOST_S = 9  # a broker's time-out, a slice and Spark's own time; one time-out a range would be more


@pytest.fixture
def script(cluster, spark):
    """Without a second replica nobody takes over from who hangs, however long that is."""
    script = Script(cluster.bootstrap, partitions=PARTITIONS, replicas=1).create()
    for topic in (script.source, script.sink):
        script.send(topic, ids("a", 0, 20 * PARTITIONS))
    warm_up(spark)
    return script


def hung(cluster, script):
    """A broker, and for each topic the partitions that others lead."""
    with Connections(cluster.bootstrap, Security()) as connections:
        topology = fetch_topology(connections)
    leaders = {
        (topic, p): topology.leader(TopicPartition(topic, p))
        for topic in (script.source, script.sink)
        for p in range(PARTITIONS)
    }
    broker = leaders[script.source, 0]
    return broker, {place for place, leader in leaders.items() if leader != broker}


def reasons(broker):
    """The second one once the controller has noticed."""
    return f"broker {broker} did not answer in time", "has no leader"


def test_a_round_commits_the_ranges_of_other_leaders_within_seconds_and_the_next_one_says_why_some_wait(
    spark, cluster, script, tmp_path, monkeypatch
):
    broker, led_elsewhere = hung(cluster, script)
    paused = []

    def covered():
        return {(row["topic"], row["partition"]) for row in metric(tmp_path, "ledger")}

    with live_rounds(spark, script.settings(tmp_path), tmp_path) as rounds:
        look = rounds._look

        def look_and_pause(at_ms):
            looked = look(at_ms)
            if not paused:
                cluster.pause(broker)
                paused.append(broker)
            return looked

        monkeypatch.setattr(rounds, "_look", look_and_pause)
        try:
            started_s = time.monotonic()
            rounds.run_round(now_ms())
            took_s = time.monotonic() - started_s
            assert covered() == led_elsewhere
            rounds.run_round(now_ms())
            (*_, said) = [row["message"] for row in metric(tmp_path, "job_runs") if row["message"]]
        finally:
            cluster.resume(broker)
        assert took_s < AT_MOST_S
        assert any(reason in said for reason in reasons(broker)), said
        until(rounds, lambda: len(covered()) == 2 * PARTITIONS)
    assert sum(row["records"] for row in metric(tmp_path, "ledger")) == 2 * 20 * PARTITIONS


def test_a_leader_that_hangs_while_it_is_read_lets_the_task_go_on_with_others_within_seconds(cluster, script, tmp_path):
    plan, settings = planned(script, tmp_path, 0)
    audit = ExactAudit(None, plan, tmp_path, settings.pipelines[0], settings.clusters[0], lanes=1)
    broker, led_elsewhere = hung(cluster, script)
    own = [each for each in plan.side("source") if each.leader == broker]
    other = next(each for each in plan.side("source") if (each.part.topic, each.part.partition) in led_elsewhere)
    requests = [audit._request(each, each.read_first, each.read_next) for each in (own[0], own[1], own[1], other)]
    accounts = (
        rows["account"][0].as_py() for rows in read_requests(enumerate(requests)) if rows["account"][0].is_valid
    )
    assert next(accounts)["error"] is None, "the connection is there"
    cluster.pause(broker)
    try:
        started_s = time.monotonic()
        hung_once, hung_again, others = accounts
        took_s = time.monotonic() - started_s
    finally:
        cluster.resume(broker)
    assert took_s < AT_MOST_S
    assert any(reason in hung_once["error"] for reason in reasons(broker))
    assert any(reason in hung_again["error"] for reason in reasons(broker))
    assert (others["error"], others["records"]) == (None, other.read_next - other.read_first)


def test_a_slice_of_an_audit_reads_the_ranges_of_other_leaders_and_says_why_some_wait(spark, cluster, script, tmp_path):
    plan, settings = planned(script, tmp_path, 0)
    folder = folders.run_folder(tmp_path, "r")
    audit = ExactAudit(spark, plan, folder, settings.pipelines[0], settings.clusters[0], lanes=2)
    broker, led_elsewhere = hung(cluster, script)
    read = {(each.part.topic, each.part.partition): each.name for each in plan.ranges}
    cluster.pause(broker)
    try:
        started_s = time.monotonic()
        assert audit.next_slice()
        took_s = time.monotonic() - started_s
    finally:
        cluster.resume(broker)

    assert blocks.covered(folder / folders.READ).keys() == {read[place] for place in led_elsewhere}
    assert took_s < AT_MOST_S
    assert any(reason in audit.waits for reason in reasons(broker)), audit.waits
    while audit.next_slice():
        pass
    assert audit.result().is_whole
    assert audit.waits is None
