from uuid import UUID

import pytest
from kafka.protocol.consumer import FetchRequest, FetchResponse
from kafka.protocol.metadata import MetadataResponse

from kafka_reader.answer import Answer
from kafka_reader.batches import AbortedTransaction
from kafka_reader.errors import BrokerUnavailableError, CollectionError, RequestRefusedError
from kafka_reader.fetch import NotStableError, OffsetsGoneError, Part, TopicGoneError, fetch_request, read_range
from kafka_reader.undecoded import PreparedRequests
from tests.kafka_reader.answers import as_bytes, uncopied
from tests.kafka_reader.built_batches import Sent, batch

PART = Part("orders", "6f1c1f3e-0f0e-4c2a-8a55-000000000001", 3)


def answer(records=b"", error_code=0, stable=100, aborted=(), response_error=0):
    topic = FetchResponse.FetchableTopicResponse
    data = topic.PartitionData(
        partition_index=PART.partition,
        error_code=error_code,
        high_watermark=stable + 5,
        last_stable_offset=stable,
        log_start_offset=0,
        aborted_transactions=[
            topic.PartitionData.AbortedTransaction(producer_id=producer_id, first_offset=first)
            for producer_id, first in aborted
        ],
        records=records,
    )
    return uncopied(
        FetchResponse(
            version=13, throttle_time_ms=0, error_code=response_error, session_id=0,
            responses=[topic(topic_id=UUID(PART.topic_id), partitions=[data])],
        )
    )  # fmt: skip


def ten(base_offset):
    return batch([Sent() for _ in range(10)], base_offset=base_offset)


SILENCE = BrokerUnavailableError("silence")


@pytest.fixture
def slow(monkeypatch):
    """Silence is a time-out, and a short one."""
    monkeypatch.setattr("kafka_reader.fetch._SOON_S", 0.0)
    monkeypatch.setattr("kafka_reader.fetch._BACK_WITHIN_S", 0.0)


class ScriptedBrokers:
    """Gives its answers in order and notes who was asked for which offset; always names `leader` in metadata."""

    def __init__(self, *answers, leader=2):
        self._answers, self._leader, self.asked, self.timeouts_s = list(answers), leader, [], []
        self.prepared = PreparedRequests()

    def send(self, node_id, request, timeout_s=None):
        self.asked.append((node_id, request.topics[0].partitions[0].fetch_offset))
        self.timeouts_s.append(timeout_s)
        answer = self._answers.pop(0)
        if isinstance(answer, CollectionError):
            raise answer
        return answer

    def learn_brokers(self, brokers, cluster_id):
        """Nobody is reached by an address."""

    def send_any(self, request):
        topic = MetadataResponse.MetadataResponseTopic
        part = topic.MetadataResponsePartition(
            error_code=0, partition_index=3, leader_id=self._leader, leader_epoch=1,
            replica_nodes=[1, 2], isr_nodes=[1, 2], offline_replicas=[],
        )  # fmt: skip
        response = MetadataResponse(
            version=12, brokers=[], cluster_id="c", controller_id=1,
            topics=[topic(error_code=0, name="orders", topic_id=UUID(int=1), is_internal=False, partitions=[part])],
        )  # fmt: skip
        return Answer(as_bytes(response), 0, 0)


def read(brokers, first=0, following=20):
    return list(read_range(brokers, 1, PART, first_offset=first, next_offset=following, max_bytes=1000))


def test_range_is_read_to_its_end_from_where_the_last_batch_ended():
    brokers = ScriptedBrokers(answer(ten(0)), answer(ten(10), aborted=[(7, 4)]))

    fetched = read(brokers, first=5)

    assert brokers.asked == [(1, 5), (1, 10)]
    assert [f.blob for f in fetched] == [ten(0), ten(10)]
    assert fetched[1].aborted == (AbortedTransaction(7, 4),)
    assert (fetched[1].last_stable_offset, fetched[1].high_watermark, fetched[1].log_start_offset) == (100, 105, 0)


def test_empty_range_asks_nobody():
    brokers = ScriptedBrokers()

    assert read(brokers, first=20) == []
    assert brokers.asked == []


def test_moved_leader_is_followed():
    brokers = ScriptedBrokers(answer(error_code=6), answer(ten(0)), answer(ten(10)), leader=2)

    assert len(read(brokers)) == 2
    assert brokers.asked == [(1, 0), (2, 0), (2, 10)]


def test_silent_leader_that_was_replaced_is_left_for_the_one_that_leads_now():
    brokers = ScriptedBrokers(SILENCE, answer(ten(0)), answer(ten(10)), leader=2)

    assert len(read(brokers)) == 2
    assert brokers.asked == [(1, 0), (2, 0), (2, 10)]


def test_slow_leader_is_waited_for_the_second_time(slow):
    brokers = ScriptedBrokers(SILENCE, answer(ten(0)), answer(ten(10)), leader=1)

    assert len(read(brokers)) == 2
    assert brokers.timeouts_s[:2] == [0.0, 10.0]
    assert brokers.asked == [(1, 0), (1, 0), (1, 10)]


def test_silent_leader_that_leads_still_is_an_error_after_the_second_time(slow):
    brokers = ScriptedBrokers(SILENCE, SILENCE, leader=1)

    with pytest.raises(BrokerUnavailableError, match="silence"):
        read(brokers)
    assert brokers.asked == [(1, 0), (1, 0)]


def test_leader_that_is_known_to_be_silent_is_not_waited_for():
    brokers = ScriptedBrokers(SILENCE, leader=1)

    with pytest.raises(BrokerUnavailableError, match="silence"):
        read(brokers)
    assert brokers.asked == [(1, 0)]


@pytest.mark.parametrize(
    ("script", "error", "message"),
    [
        ([answer(error_code=1)], OffsetsGoneError, "offset 0 is not stored"),
        ([answer(error_code=100)], TopicGoneError, "UNKNOWN_TOPIC_ID"),
        ([answer(error_code=103)], TopicGoneError, "INCONSISTENT_TOPIC_ID"),
        ([answer(error_code=29)], RequestRefusedError, "Fetch: not permitted: TOPIC_AUTHORIZATION_FAILED"),
        ([answer(ten(0), stable=19)], NotStableError, "stable offset is 19"),
        ([answer(b"")], CollectionError, "no whole batch"),
        ([answer(ten(0)[:50])], CollectionError, "no whole batch"),
        ([answer(ten(0)), answer(ten(0))], CollectionError, "no whole batch"),
        ([answer(response_error=70)], RequestRefusedError, "FETCH_SESSION_ID_NOT_FOUND"),
        ([answer(error_code=6)] * 5, BrokerUnavailableError, "leader keeps moving"),
    ],
)
def test_incomplete_range_is_an_error(script, error, message):
    with pytest.raises(error, match=message):
        read(ScriptedBrokers(*script))


def test_damaged_batch_is_an_error():
    blob = bytearray(ten(0))
    blob[-1] ^= 1

    with pytest.raises(CollectionError, match="CRC"):
        read(ScriptedBrokers(answer(bytes(blob))))


def test_partition_without_a_leader_waits():
    with pytest.raises(BrokerUnavailableError, match="no leader"):
        read(ScriptedBrokers(answer(error_code=6), leader=-1))


@pytest.mark.parametrize("version", [12, 13, 17])
def test_request_survives_the_wire_by_name_and_by_id(version):
    request = fetch_request(PART, 42, 1000)

    sent = FetchRequest.decode(request.body(version), version=version)

    topic = sent.topics[0]
    assert (topic.topic == "orders") if version == 12 else (str(topic.topic_id) == PART.topic_id)
    assert (topic.partitions[0].partition, topic.partitions[0].fetch_offset) == (3, 42)
    assert sent.isolation_level == 1
