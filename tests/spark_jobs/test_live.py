"""Live rounds against the real cluster, with real collectors beside them: from records to findings."""

import shutil
import socket
import threading
import time
from collections import Counter
from contextlib import closing, contextmanager

import pytest

from collectors import runner
from guarantees.findings import Kind
from guarantees.places import TopicPartition
from kafka_reader.connection import Connections
from kafka_reader.metadata import fetch_topology
from settings import Security
from spark_jobs.audited import audited_topics
from spark_jobs.clusters import AuditedCluster
from spark_jobs.rounds import LiveRounds
from store.findings import load_findings
from store.log import SegmentLog
from store.message_ids import id_hash, is_kept
from store.metrics import METRICS_FILE, MetricsWriter, snapshot
from store.reading import read
from store.rows import python_rows
from store.segments import producer_name
from tests.spark_jobs.scripted import CODECS, Script, ids

pytestmark = [pytest.mark.integration, pytest.mark.spark]


def now_ms():
    return time.time_ns() // 1_000_000


@contextmanager
def live_rounds(spark, settings, data_dir):
    topics = audited_topics(settings.pipelines)
    with (
        closing(SegmentLog(data_dir, producer_name(socket.gethostname(), "jobs"))) as log,
        MetricsWriter(data_dir / METRICS_FILE) as metrics,
        AuditedCluster(settings.clusters[0], topics, settings.spark.round_s) as cluster,
    ):
        yield LiveRounds(spark, settings, [cluster], log, metrics, now_ms())


@contextmanager
def collecting(settings):
    stop = threading.Event()
    thread = threading.Thread(target=runner.run, args=(settings, stop))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(30)


def until(rounds, holds, within_s=60):
    """Run rounds until something is true."""
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, "it did not come true in time"
        rounds.run_round(now_ms())
        time.sleep(0.3)


def metric(data_dir, table):
    return python_rows(table, snapshot(data_dir / METRICS_FILE, [table])[table])


def findings(data_dir, kind):
    return [each.finding for each in load_findings(data_dir).values() if each.finding.kind is kind]


def spark_jobs_started(spark):
    return len(spark.sparkContext.statusTracker().getJobIdsForGroup(None))


def test_duplicates_and_losses_become_findings_and_late_ids_close_them(spark, cluster, tmp_path):
    script = Script(cluster.bootstrap).create()
    settings = script.settings(tmp_path)
    with collecting(settings), live_rounds(spark, settings, tmp_path) as rounds:
        for codec in CODECS:
            script.send(script.source, ids(codec, 0, 40), codec=codec)
        script.commit(dict.fromkeys(range(2), 0))
        rounds.run_round(now_ms())

        script.send(script.source, ids("none", 10, 30))  # a restarted producer sends again
        script.send_in_transaction(script.source, ids("tx", 0, 10), is_committed=True)
        script.send_in_transaction(script.source, ids("gone", 0, 10), is_committed=False)
        for codec in CODECS:
            script.send(script.sink, ids(codec, 5 if codec == "lz4" else 0, 40))
        script.send(script.sink, ids("tx", 0, 10))
        time.sleep(2)  # a commit sample before the commit
        script.commit(script.end_offsets(script.source))
        until(rounds, lambda: findings(tmp_path, Kind.LOST_WRITE))

        duplicates = metric(tmp_path, "duplicates")
        assert sum(row["sampled_extra_copies"] for row in duplicates) == 20
        assert {row["cause"] for row in duplicates} == {"other_producer_id"}
        assert sum(finding.bounds.estimate for finding in findings(tmp_path, Kind.DUPLICATE_WRITE)) == 20
        lost = {row["message_id"] for row in metric(tmp_path, "lost_ids") if row["state"] == "lost"}
        assert lost == set(ids("lz4", 0, 5))
        assert all(finding.closed_reason is None for finding in findings(tmp_path, Kind.LOST_WRITE))
        totals = Counter()
        for row in metric(tmp_path, "ledger"):
            totals.update({name: row[name] for name in ("records", "aborted_records", "markers", "sampled")})
        assert totals == {"records": 435, "aborted_records": 10, "markers": 4, "sampled": 435}

        started = spark_jobs_started(spark)
        assert not rounds.run_round(now_ms()), "nothing is new"
        assert spark_jobs_started(spark) == started

        script.send(script.sink, ids("lz4", 0, 5))
        until(rounds, lambda: all(finding.closed_reason for finding in findings(tmp_path, Kind.LOST_WRITE)))
        assert {row["state"] for row in metric(tmp_path, "lost_ids")} == {"late"}
        assert sum(row["ids_late"] for row in metric(tmp_path, "losses")) == 5
        assert sum(row["ids_lost"] for row in metric(tmp_path, "losses")) == 0


def test_within_a_budget_the_rate_falls_with_the_load_and_what_was_lost_before_is_still_seen_to_come(
    spark, cluster, tmp_path
):
    script = Script(cluster.bootstrap).create()
    settings = script.settings(tmp_path, records_per_s=4.0)
    hashes = {message_id: id_hash(message_id) for message_id in ids("a", 0, 400)}
    *shown, first_lost, last_lost = sorted(hashes, key=lambda message_id: hashes[message_id] % 2**64)

    def rates(topic):
        return {
            row["first_offset"]: row["sampling_rate"] for row in metric(tmp_path, "ledger") if row["topic"] == topic
        }

    with collecting(settings), live_rounds(spark, settings, tmp_path) as rounds:
        script.send(script.source, hashes)
        script.send(script.sink, shown)
        script.commit(dict.fromkeys(range(2), 0))
        rounds.run_round(now_ms())
        time.sleep(2)  # a commit sample before the commit
        script.commit(script.end_offsets(script.source))
        until(rounds, lambda: findings(tmp_path, Kind.LOST_WRITE))
        assert {*rates(script.source).values(), *rates(script.sink).values()} == {1.0}
        assert {(row["ids_lost"], row["estimate"], row["upper"]) for row in metric(tmp_path, "losses")} <= {
            (0, 0, 0), (1, 1, 1), (2, 2, 2),
        }  # fmt: skip

        script.send(script.source, hashes)
        script.send(script.sink, ids("b", 0, 400))
        rounds.run_round(now_ms())
        read_again = [
            row for row in metric(tmp_path, "ledger") if row["topic"] == script.source and row["first_offset"]
        ]
        assert {row["compared_rate"] for row in read_again} == {row["sampling_rate"] for row in read_again}
        (rate,) = {rate for first, rate in rates(script.source).items() if first}
        assert rate in {2.0**-k for k in range(1, 10)}
        copies = metric(tmp_path, "duplicates")
        assert {row["sampling_rate"] for row in copies} == {rate}
        assert sum(row["sampled_extra_copies"] for row in copies) == sum(is_kept(h, rate) for h in hashes.values())
        assert sum(row["lower"] for row in copies) <= 400 <= sum(row["upper"] for row in copies)

        script.send(script.sink, [first_lost, last_lost])
        until(rounds, lambda: all(finding.closed_reason for finding in findings(tmp_path, Kind.LOST_WRITE)))
        assert not is_kept(hashes[first_lost], max(rate for first, rate in rates(script.sink).items() if first))
        assert {row["state"] for row in metric(tmp_path, "lost_ids")} == {"late"}


def test_copies_found_after_the_rate_was_raised_are_scaled_by_the_rate_of_their_first_ones(spark, cluster, tmp_path):
    script = Script(cluster.bootstrap).create()
    hashes = [id_hash(message_id) for message_id in ids("a", 0, 400)]
    for rate in (0.25, 1.0):
        script.send(script.source, ids("a", 0, 400))
        with live_rounds(spark, script.settings(tmp_path, rate=rate), tmp_path) as rounds:
            rounds.run_round(now_ms())

    copies = metric(tmp_path, "duplicates")
    assert {row["sampling_rate"] for row in copies} == {0.25}
    assert sum(row["sampled_extra_copies"] for row in copies) == sum(is_kept(hashed, 0.25) for hashed in hashes)
    assert sum(row["lower"] for row in copies) <= 400 <= sum(row["upper"] for row in copies)
    ranges = {(row["sampling_rate"], row["compared_rate"]) for row in metric(tmp_path, "ledger") if row["records"]}
    assert ranges == {(0.25, 0.25), (1.0, 0.25)}


def test_ids_of_aborted_records_at_the_sink_are_found_and_those_that_were_committed_after_all_are_not(
    spark, cluster, tmp_path
):
    script = Script(cluster.bootstrap).create()
    settings = script.settings(tmp_path)
    script.send_in_transaction(script.source, ids("gone", 0, 6), is_committed=False)
    script.send_in_transaction(script.source, ids("retried", 0, 6), is_committed=False)
    script.send(script.sink, [*ids("gone", 0, 4), *ids("retried", 0, 6), *ids("other", 0, 5)])
    script.send_in_transaction(script.source, ids("retried", 0, 6), is_committed=True)
    with live_rounds(spark, settings, tmp_path) as rounds:
        until(rounds, lambda: findings(tmp_path, Kind.ABORTED_AT_SINK))
        rounds.run_round(now_ms())

    found = findings(tmp_path, Kind.ABORTED_AT_SINK)
    assert {one["message_id"] for each in found for one in each.evidence["aborted"]} == set(ids("gone", 0, 4))
    assert sum(each.bounds.estimate for each in found) == 4
    assert {row["found_at"].split("-")[0] for row in metric(tmp_path, "aborted_at_sink")} == {"bills"}
    with live_rounds(spark, settings, tmp_path) as rounds:
        rounds.run_round(now_ms())
    assert findings(tmp_path, Kind.ABORTED_AT_SINK) == found, "a restart neither forgets nor finds anew"


def test_findings_lost_between_commit_and_log_are_found_again_at_the_next_start(spark, cluster, tmp_path):
    script = Script(cluster.bootstrap, partitions=1).create()
    settings = script.settings(tmp_path)
    script.send(script.source, ids("a", 0, 10))
    script.send(script.source, ids("a", 0, 4))
    with live_rounds(spark, settings, tmp_path) as rounds:
        rounds.run_round(now_ms())
    (before,) = findings(tmp_path, Kind.DUPLICATE_WRITE)
    shutil.rmtree(tmp_path / "log" / "finding_events")

    with live_rounds(spark, settings, tmp_path):
        pass

    (after,) = findings(tmp_path, Kind.DUPLICATE_WRITE)
    assert after == before
    assert after.bounds.estimate == 4


def test_restart_goes_on_where_the_ledger_ends(spark, cluster, tmp_path):
    script = Script(cluster.bootstrap).create()
    settings = script.settings(tmp_path)
    for batch in range(3):
        script.send(script.source, ids("a", 20 * batch, 20 * batch + 20))
        with live_rounds(spark, settings, tmp_path) as rounds:
            rounds.run_round(now_ms())
    script.send(script.source, ids("a", 0, 5))
    with live_rounds(spark, settings, tmp_path) as rounds:
        rounds.run_round(now_ms())

    samples = read(tmp_path, "id_samples")
    assert samples.num_rows == len(
        set(zip(samples["partition"].to_pylist(), samples["offset"].to_pylist(), strict=True))
    )
    assert samples.num_rows == 65
    assert sum(row["sampled_extra_copies"] for row in metric(tmp_path, "duplicates")) == 5


def test_topic_created_again_begins_a_new_history(spark, cluster, tmp_path):
    script = Script(cluster.bootstrap, partitions=1).create()
    settings = script.settings(tmp_path)
    script.send(script.source, ids("a", 0, 10))
    with live_rounds(spark, settings, tmp_path) as rounds:
        rounds.run_round(now_ms())
        script.delete_and_create_again(script.source)
        script.send(script.source, ids("a", 0, 7))
        until(rounds, lambda: sum(row["records"] for row in metric(tmp_path, "ledger")) == 17)

    assert metric(tmp_path, "duplicates") == [], "the same ids in another topic are no duplicates"


def test_paused_leader_lets_only_its_partitions_wait(spark, cluster, tmp_path):
    script = Script(cluster.bootstrap, partitions=6).create()
    settings = script.settings(tmp_path)
    script.send(script.source, ids("a", 0, 60))
    with Connections(cluster.bootstrap, Security()) as connections:
        topology = fetch_topology(connections)
    leaders = {p: topology.leader(TopicPartition(script.source, p)) for p in range(6)}
    broker = leaders[0]
    led_elsewhere = {p for p, leader in leaders.items() if leader != broker}

    def covered():
        return {row["partition"] for row in metric(tmp_path, "ledger") if row["topic"] == script.source}

    with live_rounds(spark, settings, tmp_path) as rounds:
        cluster.pause(broker)
        try:
            rounds.run_round(now_ms())
            waiting = [row["message"] for row in metric(tmp_path, "job_runs")]
            assert covered() == led_elsewhere
        finally:
            cluster.resume(broker)
        assert any(f"{script.source}-0" in message for message in waiting if message)
        until(rounds, lambda: covered() == set(range(6)))

    assert sum(row["records"] for row in metric(tmp_path, "ledger")) == 60
