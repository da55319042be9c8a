"""What a read_committed reader of Kafka's own topics is given: never what was aborted, and whatever was missed."""

import uuid

import pytest
from kafka.protocol.consumer import FetchResponse

from guarantees.unknown import Unknown
from kafka_reader.answer import Answer
from kafka_reader.batches import AbortedTransaction
from kafka_reader.errors import BrokerUnavailableError
from kafka_reader.fetch import Part
from kafka_reader.internal_log import parse_log
from kafka_reader.keyed_records import keyed_records
from tests.kafka_reader.answers import uncopied
from tests.kafka_reader.built_batches import ABORT_KEY, COMMIT_KEY, TRANSACTIONAL, Sent, batch, marker

TOPIC_ID = uuid.UUID("00000000-0000-4000-8000-000000000001")
PART = Part("__consumer_offsets", str(TOPIC_ID), 3)


def plain(base_offset, *keys, **changes):
    return batch([Sent(key=each, value=b"v") for each in keys], base_offset=base_offset, **changes)


def in_transaction(base_offset, producer_id, *keys):
    return plain(base_offset, *keys, producer_id=producer_id, producer_epoch=0, attributes=TRANSACTIONAL)


def keys(found):
    return [(record.offset, record.producer_id, record.key) for record in found.records]


def test_records_of_aborted_transactions_and_markers_are_left_out():
    blob = in_transaction(0, 5, b"aborted") + plain(1, b"plain") + in_transaction(2, 6, b"committed")
    blob += marker(ABORT_KEY, base_offset=3, producer_id=5) + marker(COMMIT_KEY, base_offset=4, producer_id=6)

    found = keyed_records(blob, [AbortedTransaction(5, 0)], 0)

    assert keys(found) == [(1, None, b"plain"), (2, 6, b"committed")]
    assert (found.next_offset, found.missing) == (5, 0)


def test_records_before_the_position_were_read_before():
    assert keys(keyed_records(plain(0, b"a", b"b", b"c"), [], 1)) == [(1, None, b"b"), (2, None, b"c")]


def test_offsets_that_compaction_removed_are_counted_within_batches_and_between_them():
    blob = plain(2, b"a", last_offset_delta=3) + plain(10, b"b")

    found = keyed_records(blob, [], 1)

    assert (found.next_offset, found.missing) == (11, 10 - 2)


def test_a_deleted_key_has_no_value():
    (record,) = keyed_records(batch([Sent(key=b"k", value=None)]), [], 0).records

    assert (record.key, record.value) == (b"k", None)


def answer(**changes):
    topic = FetchResponse.FetchableTopicResponse
    given = {"error_code": 0, "records": plain(7, b"k"), "log_start_offset": 2, "aborted_transactions": []} | changes
    part = topic.PartitionData(partition_index=3, high_watermark=20, last_stable_offset=8, **given)
    response = FetchResponse(
        version=13, error_code=0, session_id=0, responses=[topic(topic_id=TOPIC_ID, partitions=[part])]
    )
    return Answer(uncopied(response), 1, 2)


def test_an_answer_says_what_waits_for_the_end_of_a_transaction():
    found = parse_log({PART: 7}, answer())[PART]

    assert [record.offset for record in found.records] == [7]
    assert (found.next_offset, found.last_stable_offset, found.high_watermark) == (8, 8, 20)
    assert not found.is_at_end


def test_an_aborted_record_is_hidden_by_the_list_of_the_answer():
    aborted = FetchResponse.FetchableTopicResponse.PartitionData.AbortedTransaction(producer_id=5, first_offset=7)
    found = parse_log({PART: 7}, answer(records=in_transaction(7, 5, b"k"), aborted_transactions=[aborted]))[PART]

    assert (found.records, found.next_offset) == ((), 8)


def test_an_offset_that_is_not_there_any_more_is_told_with_the_start_of_the_log():
    found = parse_log({PART: 0}, answer(error_code=1, records=b""))[PART]

    assert (found.is_out_of_range, found.log_start_offset, found.is_at_end) == (True, 2, False)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (answer(error_code=29), "not permitted: TOPIC_AUTHORIZATION_FAILED"),
        (answer(records=plain(7, b"k")[:-1] + b"x"), "the batch at offset 7 does not match its CRC"),
        (BrokerUnavailableError("broker 1 did not answer in time"), "broker 1 did not answer in time"),
    ],
)
def test_a_partition_that_failed_is_unknown(given, reason):
    assert parse_log({PART: 7}, given) == {PART: Unknown(reason)}
