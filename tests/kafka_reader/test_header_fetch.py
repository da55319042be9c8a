"""What Fetch answers of batch headers, partition by partition."""

import uuid

import pytest
from kafka.protocol.consumer import FetchResponse

from guarantees.batches import Marker
from guarantees.unknown import Unknown
from kafka_reader.allowed import refuse_writes
from kafka_reader.answer import Answer
from kafka_reader.errors import BrokerUnavailableError
from kafka_reader.fetch import Part
from kafka_reader.header_fetch import headers_request, parse_batches, parse_headers
from tests.kafka_reader.answers import uncopied
from tests.kafka_reader.built_batches import ABORT_KEY, COMMIT_KEY, CONTROL, TRANSACTIONAL, Sent, batch, marker

TOPIC_ID = uuid.UUID(int=5)
FIRST, SECOND = Part("orders", str(TOPIC_ID), 0), Part("orders", str(TOPIC_ID), 1)


def answered(version=13, last_byte=None, **errors):
    """Both partitions, the first with two batches, the second of which may end otherwise; errors by partition."""
    topic = FetchResponse.FetchableTopicResponse
    blobs = {0: batch([Sent()] * 3, base_offset=10) + batch([Sent()], base_offset=13), 1: b""}
    if last_byte is not None:
        blobs[0] = blobs[0][:-1] + last_byte
    parts = [
        topic.PartitionData(
            partition_index=index,
            error_code=errors.get(f"p{index}", 0),
            high_watermark=20,
            last_stable_offset=20,
            log_start_offset=5,
            aborted_transactions=[],
            records=blob,
        )
        for index, blob in blobs.items()
    ]
    named = {"topic": "orders"} if version < 13 else {"topic_id": TOPIC_ID}
    response = FetchResponse(version=version, error_code=0, responses=[topic(partitions=parts, **named)])
    return Answer(uncopied(response), 1, 2)


def test_the_request_only_reads_and_names_every_partition_with_its_position():
    request = headers_request({SECOND: 7, FIRST: 10}, 1000)
    (topic,) = request.topics

    refuse_writes(request)
    assert (request.isolation_level, request.max_bytes, topic.topic_id) == (0, 1000, TOPIC_ID)
    assert [(part.partition, part.fetch_offset) for part in topic.partitions] == [(0, 10), (1, 7)]


@pytest.mark.parametrize("version", [12, 13])
def test_whole_batches_from_the_position_on_are_given(version):
    found = parse_headers({FIRST: 13, SECOND: 20}, answered(version))

    assert [one.base_offset for one in found[FIRST].batches] == [13]
    assert (found[FIRST].log_start_offset, found[FIRST].observed_at_ms) == (5, 2)
    assert (found[SECOND].batches, found[SECOND].is_out_of_range) == ((), False)


def test_an_offset_that_is_not_there_is_told_from_a_failure():
    found = parse_headers({FIRST: 3, SECOND: 20}, answered(p0=1, p1=29))

    assert (found[FIRST].is_out_of_range, found[FIRST].log_start_offset) == (True, 5)
    assert isinstance(found[SECOND], Unknown)


def test_a_broker_that_does_not_answer_leaves_its_partitions_unknown():
    found = parse_headers({FIRST: 3}, BrokerUnavailableError("no answer"))

    assert isinstance(found[FIRST], Unknown)


def test_a_damaged_batch_leaves_its_own_partition_unknown():
    found = parse_headers({FIRST: 10, SECOND: 20}, answered(last_byte=b"\xff"))

    assert "CRC" in found[FIRST].reason
    assert not isinstance(found[SECOND], Unknown)


@pytest.mark.parametrize(("key", "kind"), [(COMMIT_KEY, Marker.COMMIT), (ABORT_KEY, Marker.ABORT), (b"\0\0\0\2", None)])
def test_a_control_batch_says_how_the_transaction_ended(key, kind):
    (control,) = parse_batches(marker(key, base_offset=5, producer_id=7), 5)

    assert control.marker is kind


def test_the_coordinators_epoch_stands_in_the_markers_value():
    value = b"\0\0" + (42).to_bytes(4, "big")
    blob = batch([Sent(key=COMMIT_KEY, value=value)], producer_id=7, attributes=TRANSACTIONAL | CONTROL)

    assert parse_batches(blob, 0)[0].coordinator_epoch == 42


def test_a_marker_that_compaction_emptied_ends_nothing():
    blob = batch([], producer_id=7, attributes=TRANSACTIONAL | CONTROL, last_offset_delta=0)

    assert parse_batches(blob, 0)[0].marker is None
