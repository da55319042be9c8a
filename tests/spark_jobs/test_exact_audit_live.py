"""Exact audits of a real cluster: every offset accounted for, every copy and every missing id counted and named."""

import struct
import time
from dataclasses import replace
from uuid import UUID

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from cli.backlog import backlog_lines
from guarantees.audits import Job
from kafka_reader.batch_headers import batch_headers
from kafka_reader.connection import Connections
from kafka_reader.fetch import Part, read_replica
from settings import RecordOrder, Security
from spark_jobs.audits import content_reading, folders
from spark_jobs.audits.content import ContentAudit, content_tally
from spark_jobs.audits.content_reading import read_content
from spark_jobs.audits.exact import AuditFailedError, ExactAudit
from spark_jobs.audits.order import OrderAudit
from spark_jobs.audits.planning import fetch_plan
from spark_jobs.sources.open_clusters import OpenClusters
from store.audit_requests import AuditRequest
from store.log import SegmentLog
from tests.kafka_reader.built_batches import HEADER, seal
from tests.spark_jobs.scripted import Script, ids

pytestmark = [pytest.mark.integration, pytest.mark.spark]


def now_ms():
    return time.time_ns() // 1_000_000


def planned(script, folder, since_ms, job=Job.AUDIT, **changed):
    settings = script.settings(folder, **changed)
    request = AuditRequest("r", now_ms(), "Ada", job, "billing", since_ms, now_ms())
    return fetch_plan(settings.clusters[0], settings.pipelines[0], request, folder, now_ms()), settings


def audited(spark, plan, settings, folder, kind=ExactAudit):
    audit = kind(spark, plan, folders.run_folder(folder, "r"), settings.pipelines[0], settings.clusters[0], lanes=2)
    while audit.next_slice():
        pass
    return audit.result()


def test_copies_losses_and_every_offset_of_a_real_window_are_counted_and_named(spark, cluster, tmp_path):
    script = Script(cluster.bootstrap).create()
    script.send(script.source, ids("before", 0, 10))
    script.send(script.sink, ids("before", 0, 10))
    time.sleep(0.3)
    since = now_ms()
    script.send(script.source, ids("a", 0, 60), codec="lz4")
    script.send(script.source, ids("a", 10, 15))  # another producer sends again
    script.send(script.source, ids("before", 0, 2))  # the first copy lies before the window
    script.send_in_transaction(script.source, ids("kept", 0, 7), is_committed=True)
    script.send_in_transaction(script.source, ids("gone", 0, 5), is_committed=False)
    script.send(script.sink, [*ids("a", 3, 60), *ids("before", 0, 2), *ids("kept", 0, 7), *ids("strange", 0, 4)])
    time.sleep(0.3)

    plan, settings = planned(script, tmp_path, since, settle_s=60.0)  # the edge: long enough for a busy machine
    found = audited(spark, plan, settings, tmp_path)

    source = [found.account(each) for each in plan.side("source")]
    assert sum(account.visible for account in source) == 60 + 5 + 2 + 7
    assert (sum(a.aborted for a in source), sum(a.markers for a in source)) == (5, 4)
    assert {found.gaps(each) for each in plan.ranges} == {0}
    assert found.is_whole
    assert found.extra_copies == 5 + 2 + 2
    assert {group["cause"] for group in found.groups["source"]} == {"other_producer_id"}
    assert sorted(one.message_id for one in found.listed if one.state == "lost") == ids("a", 0, 3)
    assert sorted(one.message_id for one in found.listed if one.state == "surplus") == ids("strange", 0, 4)
    examples = {e["message_id"] for group in found.groups["source"] for e in group["examples"]}
    assert examples <= {*ids("a", 10, 15), *ids("before", 0, 2)}
    assert len(examples) >= 5


def test_a_fan_out_of_two_is_missed_where_the_sink_has_one_and_extra_where_it_has_three(spark, cluster, tmp_path):
    script = Script(cluster.bootstrap).create()
    since = now_ms() - 1
    script.send(script.source, ids("a", 0, 20))
    script.send(script.sink, [*ids("a", 0, 20), *ids("a", 0, 3), *ids("a", 4, 20), "a-7"])
    time.sleep(0.3)

    plan, settings = planned(script, tmp_path, since, settle_s=60.0, fan_out=2)
    found = audited(spark, plan, settings, tmp_path)

    assert [one.message_id for one in found.listed if one.state == "lost"] == ["a-3"]
    (group,) = found.groups["sink"]
    assert (group["extra_copies"], [example["message_id"] for example in group["examples"]]) == (1, ["a-7"])
    assert (found.groups["source"], found.total("surplus"), found.is_whole) == ([], 0, True)


def test_every_replica_is_read_and_compared_with_the_leader_and_with_what_was_read_earlier(
    spark, cluster, tmp_path, monkeypatch
):
    script = Script(cluster.bootstrap, partitions=1).create()
    since = now_ms() - 1
    for number in range(3):
        script.send(script.source, ids(f"a{number}", 0, 20), codec="lz4")
    script.send_in_transaction(script.source, ids("gone", 0, 5), is_committed=False)
    time.sleep(1)  # followers hear of the stable offset with their next fetch
    plan, settings = planned(script, tmp_path, since, Job.CONTENT, settle_s=60.0)
    found = audited(spark, plan, settings, tmp_path, ContentAudit)

    (source,) = plan.side("source")
    counts = found.content["source", 0]
    assert len(source.replicas) == 3
    assert counts["batches"] >= 5
    assert counts == {"batches": counts["batches"], "batches_compared": 2 * counts["batches"], "batches_differing": 0,
                      "copies_silent": 0}  # fmt: skip
    assert (found.account(source).visible, found.account(source).aborted, found.is_whole) == (60, 5, True)

    stored = [header_row(source, offset, *known) for offset, known in leaders_batches(settings, source).items()]
    stored[1]["crc"] += 1  # as if it had been another content when the collectors read it
    keep_headers(tmp_path, source, stored)
    monkeypatch.setattr(content_reading, "read_replica", with_another_value(content_reading.read_replica))
    audit = ContentAudit(spark, plan, folders.run_folder(tmp_path, "r2"), settings.pipelines[0], settings.clusters[0],
                         lanes=1)  # fmt: skip
    (task, *_) = [task for _, tasks in audit._steps(now_ms() + 60_000) for task in tasks() if task.name == "source-0"]
    with OpenClusters() as clusters:
        assert read_content(task, clusters).error is None
    found = content_tally(plan, folders.run_folder(tmp_path, "r2"))

    assert found.content["source", 0]["batches_differing"] == 2 + 1
    copies = [one["copy"] for one in found.differing]
    assert sorted(copies) == [-1, *sorted(set(source.replicas) - {source.leader})]
    assert all(one["crc"] != one["copy_crc"] for one in found.differing)


def leaders_batches(settings, source):
    part = Part(source.part.topic, source.part.topic_id, source.part.partition)
    with Connections(settings.clusters[0].bootstrap_servers, Security()) as connections:
        answers = read_replica(connections, source.leader, part, first_offset=source.read_first,
                             next_offset=source.read_next, max_bytes=10**6)  # fmt: skip
        return {offset: known for one in answers for offset, known in content_reading.contents(one.headers).items()}


def header_row(source, base_offset, leader_epoch, crc):
    """As the collectors keep it; what is not compared is anything."""
    numbers = dict.fromkeys(("records", "body_hash", "size_bytes", "base_timestamp_ms", "max_timestamp_ms"), 1)
    return {
        "cluster_id": source.part.cluster_id, "topic": source.part.topic, "topic_id": source.part.topic_id,
        "partition": 0, "base_offset": base_offset, "last_offset": base_offset, "leader_epoch": leader_epoch,
        "crc": crc, "is_transactional": False, "is_log_append_time": False, "observed_at": now_ms(), **numbers,
    }  # fmt: skip


def keep_headers(folder, source, rows):
    log = SegmentLog(folder, "host_collect")
    log.append_range("batch_headers", rows, topic_id_hex=UUID(source.part.topic_id).hex, partition=0,
                     first=source.read_first, last=source.read_next - 1, observed_at_ms=now_ms())  # fmt: skip
    log.close()


def with_another_value(read_replica):
    """The first batch of a replica with one byte changed, and a CRC that fits: nobody else would notice."""

    def changed(*arguments, **named):
        for number, fetched in enumerate(read_replica(*arguments, **named)):
            if number == 0:
                blob = bytes(fetched.blob)
                header, length = HEADER.unpack_from(blob), struct.unpack_from(">i", blob, 8)[0] + 12
                payload = blob[HEADER.size : length - 1] + bytes([blob[length - 1] ^ 1])
                blob = seal(header, payload) + blob[length:]
                fetched = replace(fetched, blob=memoryview(blob), headers=batch_headers(blob))
            yield fetched

    return changed


def test_what_is_purged_after_the_plan_is_counted_and_the_rest_is_audited(spark, cluster, tmp_path):
    script = Script(cluster.bootstrap, partitions=1).create()
    since = now_ms() - 1
    script.send(script.source, ids("a", 0, 50))
    script.send(script.sink, ids("a", 0, 50))
    plan, settings = planned(script, tmp_path, since)
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    for done in admin.delete_records([TopicPartition(script.source, 0, 30)]).values():
        done.result(30)

    found = audited(spark, plan, settings, tmp_path)

    (source,) = plan.side("source")
    assert (found.account(source).purged, found.account(source).visible, found.gaps(source)) == (30, 20, 0)
    assert not found.is_whole
    assert found.total("surplus") == 30, "their source records are gone"
    again, _ = planned(script, tmp_path, since)
    assert again.side("source")[0].begins_at_log_start
    assert "begins at the log start" in " ".join(again.blind_spots)


def test_a_topic_created_again_ends_the_audit_with_the_reason(spark, cluster, tmp_path, monkeypatch):
    monkeypatch.setattr("spark_jobs.audits.exact.PAUSE_S", 0.0)
    monkeypatch.setattr("spark_jobs.audits.exact.FRUITLESS", 2)
    script = Script(cluster.bootstrap, partitions=1).create()
    since = now_ms() - 1
    script.send(script.source, ids("a", 0, 5))
    plan, settings = planned(script, tmp_path, since)
    script.delete_and_create_again(script.source)

    with pytest.raises(AuditFailedError, match=plan.ranges[0].part.topic_id):
        audited(spark, plan, settings, tmp_path)


def test_records_behind_one_that_should_follow_them_are_counted_with_both_offsets_and_keys(spark, cluster, tmp_path):
    script = Script(cluster.bootstrap).create()
    script.send_numbered(script.source, [("a", 1), ("b", 5)])
    time.sleep(0.3)
    since = now_ms()
    script.send_numbered(script.source, [("a", 3), ("a", 2), ("a", 3), ("b", 4), ("b", 9)])
    script.send_numbered(script.source, [("a", 2), ("a", None), (None, 7), ("c", "seven")])  # another producer
    script.send_in_transaction(script.source, ["a"], is_committed=False)
    time.sleep(0.3)

    order = RecordOrder(header="number")
    plan, settings = planned(script, tmp_path, since, Job.ORDER, settle_s=60.0, order=order)
    found = audited(spark, plan, settings, tmp_path, OrderAudit)

    counts = [found.order["source", partition] for partition in range(2)]
    sums = {name: sum(count[name] for count in counts) for name in counts[0]}
    assert sums == {"ordered": 6, "keys": 2, "keys_elsewhere": 0, "out_of_order": 2, "repeated": 2,
                    "numbers_missing": 3}  # fmt: skip
    accounts = [found.account(each) for each in plan.side("source")]
    assert (sum(a.visible for a in accounts), sum(a.aborted for a in accounts)) == (9, 1)
    assert (sum(a.without_key for a in accounts), sum(a.without_place for a in accounts)) == (1, 2)
    assert {found.gaps(each) for each in plan.ranges} == {0}
    examples = {example["key"]: example for group in found.order_groups for example in group["examples"]}
    assert sorted(examples) == ["a", "b"]
    assert [(examples[key]["earlier"]["place"], examples[key]["later"]["place"]) for key in "ab"] == [(3, 2), (5, 4)]
    assert examples["b"]["earlier"]["offset"] == 0, "it lies before the window"
    assert examples["b"]["earlier"]["producer_id"] != examples["b"]["later"]["producer_id"]


def test_a_window_that_is_not_over_and_a_topic_that_is_not_there_are_refused(cluster, tmp_path):
    script = Script(cluster.bootstrap)
    settings = script.settings(tmp_path)
    cluster_settings, pipeline = settings.clusters[0], settings.pipelines[0]
    over = AuditRequest("r", 0, "Ada", Job.AUDIT, "billing", 0, now_ms())
    open_ended = AuditRequest("r", 0, "Ada", Job.AUDIT, "billing", 0, now_ms() + 60_000)

    with pytest.raises(AuditFailedError, match="not over yet"):
        fetch_plan(cluster_settings, pipeline, open_ended, tmp_path, now_ms())
    unordered = AuditRequest("r", 0, "Ada", Job.ORDER, "billing", 0, now_ms())
    with pytest.raises(AuditFailedError, match="declares no order"):
        fetch_plan(cluster_settings, pipeline, unordered, tmp_path, now_ms())
    with pytest.raises(AuditFailedError, match=f"topic {script.source} is not there"):
        fetch_plan(cluster_settings, pipeline, over, tmp_path, now_ms())


def test_the_backlog_of_topics_never_read_is_all_they_hold_within_the_horizon(cluster, tmp_path):
    script = Script(cluster.bootstrap).create()
    script.send(script.source, ids("a", 0, 30))

    lines = {line["topic"]: line for line in backlog_lines(script.settings(tmp_path), now_ms())}

    assert (lines[script.source]["offsets"], lines[script.sink]["offsets"]) == (30, 0)
    assert lines[script.source]["unknown"] == {}
