"""Audits of order and of content on a real cluster, from the request to the finding, and asked for again."""

import struct
import time
from contextlib import closing, contextmanager
from uuid import uuid4

import pytest

from guarantees.audits import Job
from guarantees.findings import Grade, Kind
from guarantees.places import TopicPartition
from kafka_reader.connection import Connections
from kafka_reader.metadata import fetch_topology
from settings import RecordOrder, Security
from spark_jobs.audits.desk import AuditDesk
from spark_jobs.findings import RecordFindings
from store.audit_requests import AuditRequest, RunState, request_row
from store.findings import load_findings
from store.log import SegmentLog
from store.metrics import METRICS_FILE, MetricsWriter
from tests.kafka_reader.built_batches import HEADER, seal
from tests.spark_jobs.scripted import Script, ids
from tests.spark_jobs.test_exact_audit_live import now_ms

pytestmark = [pytest.mark.integration, pytest.mark.spark]


@contextmanager
def asking(spark, settings, folder, window):
    """Asks for audits of the window, one after another, and gives all findings after each."""
    with closing(SegmentLog(folder, "host_jobs")) as log, MetricsWriter(folder / METRICS_FILE) as metrics:
        findings = RecordFindings(folder, log, settings.pipelines)
        desk = AuditDesk(spark, settings, metrics, lanes=2, findings=findings)

        def ask(job):
            request = AuditRequest(uuid4().hex, now_ms(), "Ada", job, "billing", *window)
            log.append("operator_actions", [request_row(request)])
            desk.look()
            while desk.step():
                pass
            assert desk.run(request.run_id).state is RunState.DONE, desk.run(request.run_id).reason
            return [history.finding for history in load_findings(folder).values()]

        yield ask


def a_follower(cluster, topic):
    with Connections(cluster.bootstrap, Security()) as connections:
        leader = fetch_topology(connections).leader(TopicPartition(topic, 0))
    return next(broker for broker in cluster.broker_ids if broker != leader)


def write_another_value(path):
    """The last byte of the first batch of a segment, with a CRC that fits: no broker and no client would notice."""
    with path.open("r+b") as file:
        stored = file.read()
        length = struct.unpack_from(">i", stored, 8)[0] + 12
        payload = stored[HEADER.size : length - 1] + bytes([stored[length - 1] ^ 1])
        file.seek(0)
        file.write(seal(HEADER.unpack_from(stored), payload))


def test_records_behind_one_that_should_follow_them_are_one_finding_however_often_it_is_asked(spark, cluster, tmp_path):
    script = Script(cluster.bootstrap, partitions=1).create()
    since = now_ms()
    script.send_numbered(script.source, [("a", 1), ("a", 3), ("a", 2), ("b", 1), ("b", 2)])
    script.send_numbered(script.source, [("b", 0), ("a", 4)])  # another producer
    time.sleep(0.3)
    settings = script.settings(tmp_path, settle_s=60.0, order=RecordOrder(header="number"))

    with asking(spark, settings, tmp_path, (since, now_ms())) as ask:
        found = {each.evidence["cause"]: each for each in ask(Job.ORDER)}
        again = ask(Job.ORDER)

    assert {each.kind for each in found.values()} == {Kind.OUT_OF_ORDER}
    assert {cause: [(one["record_key"], one["earlier"]["offset"], one["later"]["offset"]) for one in
                    each.evidence["examples"]] for cause, each in found.items()} == {
        "same_producer": [("a", 1, 2)], "other_producer": [("b", 4, 5)],
    }  # fmt: skip
    assert sorted(each.finding_id for each in again) == sorted(each.finding_id for each in found.values())


def test_a_batch_that_was_changed_on_a_follower_is_proven_and_closed_once_it_is_as_the_leaders_again(
    spark, cluster, tmp_path
):
    script = Script(cluster.bootstrap, partitions=1).create()
    since = now_ms()
    script.send(script.source, ids("a", 0, 20))
    time.sleep(1)  # followers hear of the stable offset with their next fetch
    follower = a_follower(cluster, script.source)
    segment = cluster.partition_log(follower, script.source, 0) / f"{0:020}.log"

    with asking(spark, script.settings(tmp_path, settle_s=60.0), tmp_path, (since, now_ms())) as ask:
        assert ask(Job.CONTENT) == []
        write_another_value(segment)
        (finding,) = ask(Job.CONTENT)
        write_another_value(segment)
        (over,) = ask(Job.CONTENT)

    assert (finding.kind, finding.grade, finding.closed_reason) == (Kind.CONFLICTING_OFFSET, Grade.PROVEN, None)
    (batch,) = finding.evidence["batches"]
    assert (finding.evidence["replica"], batch["base_offset"]) == (follower, 0)
    assert batch["crc"] != batch["copy_crc"]
    assert (over.finding_id, bool(over.closed_reason)) == (finding.finding_id, True)
