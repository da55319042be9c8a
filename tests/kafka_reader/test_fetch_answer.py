"""Fetch answers taken from their bytes: as kafka-python reads them, and refused where they end too early."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.protocol.consumer import FetchResponse

from kafka_reader.errors import UnreadableAnswerError
from kafka_reader.fetch_answer import parse_fetch_answer
from kafka_reader.undecoded import Uncopied

TOPIC = FetchResponse.FetchableTopicResponse
DATA = TOPIC.PartitionData
INT64 = st.integers(-1, 2**62)


@st.composite
def responses(draw, version):
    aborted = st.builds(DATA.AbortedTransaction, producer_id=INT64, first_offset=INT64)
    partitions = st.builds(
        DATA,
        partition_index=st.integers(0, 2**31 - 1),
        error_code=st.integers(-1, 130),
        high_watermark=INT64,
        last_stable_offset=INT64,
        log_start_offset=INT64,
        aborted_transactions=st.none() | st.lists(aborted, max_size=3),
        records=st.none() | st.binary(max_size=300),
    )
    names = {"topic": st.text(max_size=200)} if version < 13 else {"topic_id": st.uuids()}
    topics = st.builds(TOPIC, partitions=st.lists(partitions, max_size=3), **names)
    return FetchResponse(
        version=version,
        error_code=draw(st.integers(-1, 130)),
        throttle_time_ms=draw(st.integers(0, 1000)),
        responses=draw(st.lists(topics, max_size=3)),
    )


def taken(data, version):
    return parse_fetch_answer(Uncopied.of(version, memoryview(data)))


@pytest.mark.parametrize("version", range(12, 19))
@given(data=st.data())
def test_every_field_is_what_kafka_python_reads(version, data):
    sent = bytes(data.draw(responses(version)).encode(version))
    known = FetchResponse.decode(sent, version=version)

    found = taken(sent, version)

    assert found.error_code == known.error_code
    assert [
        (one.topic, one.partition, one.error_code, one.high_watermark, one.last_stable_offset, one.log_start_offset,
         [(each.producer_id, each.first_offset) for each in one.aborted], bytes(one.records))
        for one in found.partitions
    ] == [
        (topic.topic if version < 13 else str(topic.topic_id), one.partition_index, one.error_code, one.high_watermark,
         one.last_stable_offset, one.log_start_offset,
         [(each.producer_id, each.first_offset) for each in one.aborted_transactions or ()], one.records or b"")
        for topic in known.responses for one in topic.partitions
    ]  # fmt: skip


def answer_with_records():
    data = DATA(
        partition_index=3, error_code=0, high_watermark=9, last_stable_offset=8, log_start_offset=1,
        aborted_transactions=[DATA.AbortedTransaction(producer_id=5, first_offset=2)], records=b"x" * 500,
    )  # fmt: skip
    response = FetchResponse(version=13, error_code=0, responses=[TOPIC(topic_id=UUID(int=7), partitions=[data])])
    return bytes(response.encode(13))


def test_an_answer_that_ends_too_early_is_refused_wherever_it_ends():
    whole = answer_with_records()
    assert len(taken(whole, 13).partitions) == 1

    # The tagged fields of the whole answer are not looked at: nothing of them is known.
    for end in range(len(whole) - 1):
        with pytest.raises(UnreadableAnswerError):
            taken(whole[:end], 13)


def test_records_lie_in_the_answer_and_cannot_be_written_to():
    received = bytearray(answer_with_records())

    (found,) = parse_fetch_answer(Uncopied.of(13, memoryview(received))).partitions
    received[received.index(b"xxx")] = ord("y")

    assert bytes(found.records[:3]) == b"yxx"
    assert found.records.readonly
