"""Requests that are sent again and again, encoded once."""

from kafka.protocol.consumer import ListOffsetsRequest, OffsetFetchRequest

from guarantees.places import TopicPartition
from kafka_reader.list_offsets import high_watermark_request, log_start_request
from kafka_reader.offset_fetch import commits_request
from kafka_reader.undecoded import PreparedRequests, Undecoded

P0, P1 = TopicPartition("orders", 0), TopicPartition("orders", 1)


def test_the_same_question_to_a_broker_is_the_same_request_and_any_other_is_not():
    requests = PreparedRequests()
    first = requests.get(high_watermark_request, 1, [P1, P0])

    assert requests.get(high_watermark_request, 1, [P0, P1]) is first
    assert requests.get(high_watermark_request, 2, [P0, P1]) is not first
    assert requests.get(log_start_request, 1, [P0, P1]) is not first
    assert requests.get(high_watermark_request, 1, [P0]) is not first


def test_a_request_sent_again_speaks_the_version_the_broker_understands_by_then():
    requests = PreparedRequests()
    requests.get(commits_request, 1, ["g"]).API_VERSION = 9

    again = requests.get(commits_request, 1, ["g"])

    assert again.API_VERSION is None
    again.API_VERSION = 8
    again.with_header(correlation_id=5, client_id="tidemark")
    assert again.header.correlation_id == 5
    sent = again.encode(framed=True, header=True)
    assert sent[:4] == (len(sent) - 4).to_bytes(4, "big")
    assert sent[4:8] == bytes([0, 9, 0, 8])  # OffsetFetch, version 8
    assert sent.endswith(again.body(8))
    assert [group.group_id for group in OffsetFetchRequest.decode(again.body(8), version=8).groups] == ["g"]


def test_a_request_made_without_kafka_python_is_what_it_would_have_made():
    where = [TopicPartition(topic, number) for topic in ("a", "b" * 130) for number in range(200)]
    topic = ListOffsetsRequest.ListOffsetsTopic
    by_kafka_python = ListOffsetsRequest(
        replica_id=-1,
        isolation_level=0,
        topics=[
            topic(
                name=name,
                partitions=[
                    topic.ListOffsetsPartition(partition_index=number, current_leader_epoch=-1, timestamp=-1)
                    for number in range(200)
                ],
            )
            for name in ("a", "b" * 130)
        ],
    )

    assert high_watermark_request(where).body(7) == bytes(by_kafka_python.encode(7))


def test_an_answer_says_how_long_the_broker_asks_to_be_left_alone():
    assert Undecoded(8, bytes([0, 0, 1, 0, 9])).throttle_time_ms == 256
