"""The data source against the real cluster: every offset of a range is accounted for."""

import json
import time
from dataclasses import replace

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from kafka_reader.connection import Connections
from settings import MessageId, Secret, Security
from spark_jobs.audited import AuditedTopic
from spark_jobs.budget import Sampling
from spark_jobs.offsets import fetch_cluster_now
from spark_jobs.ranges import OffsetRange, Part, plan
from spark_jobs.samples import read_ranges
from spark_jobs.sources.kafka_ranges import RangeRequest, options
from store.message_ids import id_hash, is_kept
from tests.spark_jobs.scripted import CODECS, Script, ids

pytestmark = [pytest.mark.integration, pytest.mark.spark]
BY_HEADER = MessageId(header="id")


def look(script, topic, horizon_s=3600.0, **known):
    audited = AuditedTopic("test", topic, BY_HEADER, frozenset({Sampling(1.0)}), horizon_s, True)
    answers = {"covered": lambda _part: False, "known_history": lambda _cluster, _topic: False, **known}
    with Connections(script.bootstrap, Security()) as connections:
        return fetch_cluster_now(connections, [audited], now_ms=round(time.time() * 1000), **answers)


def ranges_now(script, topic):
    return plan(look(script, topic).parts, {}, budget_bytes=10**9, bytes_per_offset={}).ranges


def request(script, wanted, rate=1.0, message_id=BY_HEADER, awaited=()):
    return RangeRequest(wanted, script.bootstrap, Security(), message_id, rate, 3600.0, True, awaited=awaited)


def test_request_survives_the_way_to_the_worker():
    security = Security(protocol="SASL_SSL", sasl_mechanism="PLAIN", username="u", password=Secret(env="PASSWORD"))
    part = Part("c", "t", "id", 3)
    sent = RangeRequest(OffsetRange(part, 1, 5, 9), "b:1", security, BY_HEADER, 0.5, 60.0, False, awaited=(-(2**63), 7))
    other = replace(sent, range=OffsetRange(replace(part, topic_id="other"), 1, 5, 9), awaited=())

    given = options([sent, other], 1)

    awaited = json.loads(given["awaited"])
    assert [RangeRequest.from_json(each, awaited) for each in json.loads(given["ranges"])] == [sent, other]


def test_ids_a_topic_lacks_are_kept_at_every_rate(spark, cluster):
    script = Script(cluster.bootstrap, partitions=1).create()
    script.send(script.source, ids("a", 0, 200))
    (wanted,) = ranges_now(script, script.source)
    hashes = {message_id: id_hash(message_id) for message_id in ids("a", 0, 200)}
    lacking = sorted(hashes, key=lambda message_id: hashes[message_id] % 2**64)[-3:]

    (read,) = read_ranges(spark, [request(script, wanted, 1 / 4, awaited=tuple(map(hashes.get, lacking)))], 1)

    kept = {message_id for message_id, hashed in hashes.items() if is_kept(hashed, 1 / 4)}
    assert set(read.samples["message_id"].to_pylist()) == kept | set(lacking)
    assert kept.isdisjoint(lacking)


def test_every_codec_and_every_kind_of_offset_is_accounted_for(spark, cluster):
    script = Script(cluster.bootstrap, partitions=1).create()
    for codec in CODECS:
        script.send(script.source, ids(codec, 0, 40), codec=codec)
    script.send_in_transaction(script.source, ids("kept", 0, 7), is_committed=True)
    script.send_in_transaction(script.source, ids("gone", 0, 5), is_committed=False)
    producer = script.producer()
    producer.produce(script.source, value=b"no id", partition=0)
    producer.flush()

    (wanted,) = ranges_now(script, script.source)
    (read,) = read_ranges(spark, [request(script, wanted)], 2)

    account = read.account
    assert account.error is None
    assert (account.records, account.records_without_id, account.aborted_records, account.markers) == (208, 1, 5, 2)
    assert account.records + account.aborted_records + account.markers == wanted.offsets
    assert (account.log_start_offset, account.last_stable_offset) == (0, wanted.next_offset)
    expected = [message_id for codec in CODECS for message_id in ids(codec, 0, 40)] + ids("kept", 0, 7)
    assert sorted(read.samples["message_id"].to_pylist()) == sorted(expected)
    assert sorted(read.aborted["message_id"].to_pylist()) == ids("gone", 0, 5)
    transactional = read.samples.filter(read.samples["is_transactional"])
    assert sorted(transactional["message_id"].to_pylist()) == ids("kept", 0, 7)


def test_ranges_inside_batches_split_the_records_without_overlap(spark, cluster):
    script = Script(cluster.bootstrap, partitions=1).create()
    script.send(script.source, ids("a", 0, 100), codec="lz4")
    (whole,) = ranges_now(script, script.source)
    parts = [OffsetRange(whole.part, whole.leader, *ends) for ends in ((0, 33), (33, 34), (34, 100))]

    reads = read_ranges(spark, [request(script, part) for part in parts], 2)

    assert [read.account.records for read in reads] == [33, 1, 66]
    assert [offset for read in reads for offset in read.samples["offset"].to_pylist()] == list(range(100))


def test_sample_keeps_the_same_ids_on_both_topics(spark, cluster):
    script = Script(cluster.bootstrap).create()
    for topic in (script.source, script.sink):
        script.send(topic, ids("a", 0, 500))
    wanted = [r for topic in (script.source, script.sink) for r in ranges_now(script, topic)]

    reads = read_ranges(spark, [request(script, r, rate=0.25) for r in wanted], 2)

    kept = {topic: set() for topic in (script.source, script.sink)}
    for read in reads:
        kept[read.range.part.topic] |= set(read.samples["message_id"].to_pylist())
    assert kept[script.source] == kept[script.sink]
    assert 80 < len(kept[script.source]) < 180


def test_range_of_a_topic_created_again_is_an_error_and_stops_no_other(spark, cluster):
    script = Script(cluster.bootstrap, partitions=1).create()
    for topic in (script.source, script.sink):
        script.send(topic, ids("old", 0, 10))
    old, other = (*ranges_now(script, script.source), *ranges_now(script, script.sink))
    script.delete_and_create_again(script.source)
    script.send(script.source, ids("new", 0, 20))

    failed, read = read_ranges(spark, [request(script, old), request(script, other)], 2)

    assert old.part.topic_id in failed.account.error
    assert (read.account.error, read.account.records) == (None, 10)
    (again,) = ranges_now(script, script.source)
    assert again.part.topic_id != old.part.topic_id
    assert read_ranges(spark, [request(script, again)], 2)[0].account.records == 20


def test_range_beyond_the_stable_offset_is_an_error(spark, cluster):
    script = Script(cluster.bootstrap, partitions=1).create()
    script.send(script.source, ids("a", 0, 10))
    open_transaction = script.producer(**{"transactional.id": script.source})
    open_transaction.init_transactions(30)
    open_transaction.begin_transaction()
    script.send(script.source, ids("open", 0, 5), producer=open_transaction)

    (decided,) = ranges_now(script, script.source)
    beyond = OffsetRange(decided.part, decided.leader, 0, 12)
    (failed,) = read_ranges(spark, [request(script, beyond)], 2)
    open_transaction.abort_transaction(30)

    assert decided.next_offset == 10
    assert "stable offset is 10" in failed.account.error


def test_purged_offsets_are_an_error_not_a_short_read(spark, cluster):
    script = Script(cluster.bootstrap, partitions=1).create()
    script.send(script.source, ids("a", 0, 50))
    (before,) = ranges_now(script, script.source)
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})  # its answers end with it
    for done in admin.delete_records([TopicPartition(script.source, 0, 30)]).values():
        done.result(30)

    (failed,) = read_ranges(spark, [request(script, before)], 2)

    assert "not stored" in failed.account.error
    now = look(script, script.source)
    found = plan(now.parts, {before.part: 10}, budget_bytes=10**9, bytes_per_offset={})
    assert [(r.first_offset, r.next_offset) for r in (*found.purged, *found.ranges)] == [(10, 30), (30, 50)]


def test_history_begins_at_the_horizon_and_an_added_partition_at_its_log_start(cluster):
    script = Script(cluster.bootstrap, partitions=1).create()
    script.send(script.source, ids("old", 0, 10))
    time.sleep(2.5)
    script.send(script.source, ids("new", 0, 5))

    assert [now.start for now in look(script, script.source, horizon_s=2.0).parts] == [10]
    assert [now.start for now in look(script, script.source, horizon_s=0.001).parts] == [15]
    known = look(script, script.source, horizon_s=2.0, known_history=lambda _cluster, _topic: True)
    assert [now.start for now in known.parts] == [0]


def test_topic_that_is_not_there_is_named(cluster):
    script = Script(cluster.bootstrap)

    assert list(look(script, script.source).missing) == [script.source]


def test_ids_in_json_values_are_found_and_what_has_none_or_is_no_json_is_counted_apart(spark, cluster):
    script = Script(cluster.bootstrap, partitions=1).create()
    producer = script.producer(**{"compression.type": "lz4"})
    for value in [b'{"payment": {"id": "a"}}', b'{"payment": {"id": 7}}', b'{"payment": {}}', b"not json", None]:
        producer.produce(script.source, key=b"k", value=value, partition=0)
    assert producer.flush(30) == 0

    (wanted,) = ranges_now(script, script.source)
    (read,) = read_ranges(spark, [request(script, wanted, message_id=MessageId(json="payment.id"))], 2)

    account = read.account
    assert (account.error, account.records, account.records_without_id, account.records_not_json) == (None, 5, 3, 1)
    assert read.samples["message_id"].to_pylist() == ["a", "7"]
