"""Answers decoded as columns say what kafka-python's own decoder says, field by field, whatever the brokers send."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.protocol.consumer import ListOffsetsResponse, OffsetFetchResponse
from kafka.protocol.metadata import MetadataResponse

from guarantees.places import TopicPartition
from kafka_reader import commit_columns, metadata_answer, offset_columns
from kafka_reader.errors import UnreadableAnswerError
from tests.kafka_reader import drawn_answers
from tests.kafka_reader.answers import as_bytes


def commits_in(columns):
    """Every field, by group and place."""
    layout = columns.layout
    fields = (layout.partition, columns.committed_offset, columns.leader_epoch, columns.error_code)
    return [
        (group.group_id, group.error_code, [
            (topic, [tuple(int(field[row]) for field in fields) for row in range(start, stop)])
            for topic, start, stop in group.topics
        ])
        for group in layout.groups.values()
    ]  # fmt: skip


def commits_by_kafka_python(data, version):
    decoded = OffsetFetchResponse.decode(data, version=version)
    return [
        (group.group_id, group.error_code, [
            (topic.name, [
                (part.partition_index, part.committed_offset, part.committed_leader_epoch, part.error_code)
                for part in topic.partitions
            ])
            for topic in group.topics
        ])
        for group in decoded.groups
    ]  # fmt: skip


def offsets_in(columns, asked):
    fields = (columns.error_code, columns.offset, columns.leader_epoch)
    return {
        where: tuple(int(field[row]) for field in fields) if columns.is_named[row] else None
        for row, where in enumerate(asked)
    }


def offsets_by_kafka_python(data):
    return {
        TopicPartition(topic.name, part.partition_index): (part.error_code, part.offset, part.leader_epoch)
        for topic in ListOffsetsResponse.decode(data, version=7).topics
        for part in topic.partitions
    }


def cluster_in(found):
    topics = [
        (topic.error_code, topic.name, topic.topic_id, topic.is_internal, [tuple(part) for part in topic.partitions])
        for topic in found.topics
    ]
    return [tuple(broker) for broker in found.brokers], found.cluster_id, topics


def cluster_by_kafka_python(data, version):
    decoded = MetadataResponse.decode(data, version=version)
    topics = [
        (topic.error_code, topic.name, str(topic.topic_id), topic.is_internal, [
            (
                part.partition_index, part.leader_id, part.leader_epoch,
                tuple(part.replica_nodes), tuple(part.isr_nodes), tuple(part.offline_replicas),
            )
            for part in topic.partitions
        ])
        for topic in decoded.topics
    ]  # fmt: skip
    brokers = [(broker.node_id, broker.host, broker.port, broker.rack) for broker in decoded.brokers]
    return brokers, decoded.cluster_id or "", topics


@pytest.mark.parametrize("version", [8, 9])
@given(data=st.data())
def test_commits_are_those_kafka_python_decodes(version, data):
    sent = as_bytes(data.draw(drawn_answers.offset_fetch(version))).data

    assert commits_in(commit_columns.decode(sent, None)) == commits_by_kafka_python(sent, version)


@given(drawn_answers.list_offsets(), st.lists(st.tuples(st.text(max_size=3), st.integers(0, 9)), max_size=3))
def test_offsets_are_those_kafka_python_decodes_and_what_is_not_named_has_none(answer, others):
    sent = as_bytes(answer).data
    expected = offsets_by_kafka_python(sent)
    asked = sorted({*expected, *(TopicPartition(*where) for where in others)})

    columns, _ = offset_columns.decode(sent, asked, None)

    assert offsets_in(columns, asked) == {where: expected.get(where) for where in asked}


@pytest.mark.parametrize("version", [10, 11, 12, 13])
@given(data=st.data())
def test_metadata_is_what_kafka_python_decodes(version, data):
    sent = as_bytes(data.draw(drawn_answers.metadata(version))).data

    assert cluster_in(metadata_answer.decode(sent, version, None)) == cluster_by_kafka_python(sent, version)


# A few answers with all that may stand in them, to be changed at every byte.
COMMITS = as_bytes(
    OffsetFetchResponse(
        version=8,
        groups=[
            OffsetFetchResponse.OffsetFetchResponseGroup(
                group_id=group_id,
                topics=[
                    OffsetFetchResponse.OffsetFetchResponseGroup.OffsetFetchResponseTopics(
                        name="orders",
                        partitions=[
                            OffsetFetchResponse.OffsetFetchResponseGroup.OffsetFetchResponseTopics
                            .OffsetFetchResponsePartitions(
                                partition_index=index, committed_offset=7, committed_leader_epoch=1,
                                metadata=metadata, error_code=0,
                            )
                            for index in range(2)
                        ],
                    )
                ],
            )
            for group_id, metadata in (("plain", ""), ("wordy", "abc"))
        ],
    )
).data  # fmt: skip
OFFSETS = as_bytes(
    ListOffsetsResponse(
        version=7,
        topics=[
            ListOffsetsResponse.ListOffsetsTopicResponse(
                name=name,
                partitions=[
                    ListOffsetsResponse.ListOffsetsTopicResponse.ListOffsetsPartitionResponse(
                        partition_index=index, error_code=0, timestamp=-1, offset=5, leader_epoch=2
                    )
                    for index in range(2)
                ],
            )
            for name in ("orders", "payments")
        ],
    )
).data
ASKED = [TopicPartition(name, index) for name in ("orders", "payments") for index in range(3)]
CLUSTER = as_bytes(
    MetadataResponse(
        version=12,
        cluster_id="c",
        controller_id=1,
        brokers=[MetadataResponse.MetadataResponseBroker(node_id=1, host="h", port=9092, rack=None)],
        topics=[
            MetadataResponse.MetadataResponseTopic(
                error_code=0,
                name="orders",
                partitions=[
                    MetadataResponse.MetadataResponseTopic.MetadataResponsePartition(
                        error_code=0, partition_index=index, leader_id=1, leader_epoch=2,
                        replica_nodes=[1, 2], isr_nodes=[1, 2], offline_replicas=[],
                    )
                    for index in range(2)
                ],
            )
        ],
    )
).data  # fmt: skip


def outcome(decode):
    """What a decoder says, or that it cannot."""
    try:
        return decode()
    except UnreadableAnswerError:
        return UnreadableAnswerError


def commits_of(data, known):
    return outcome(lambda: commits_in(commit_columns.decode(data, known)))


def offsets_of(data, known):
    return outcome(lambda: offsets_in(offset_columns.decode(data, ASKED, known)[0], ASKED))


def cluster_of(data, known):
    return outcome(lambda: cluster_in(metadata_answer.decode(data, 12, known)))


CASES = [
    pytest.param(COMMITS, commits_of, commit_columns.parse_layout(COMMITS), id="OffsetFetch"),
    pytest.param(OFFSETS, offsets_of, offset_columns.parse_layout(OFFSETS, ASKED), id="ListOffsets"),
    pytest.param(CLUSTER, cluster_of, metadata_answer.parse(CLUSTER, 12), id="Metadata"),
]


@pytest.mark.parametrize(("data", "decoded", "layout"), CASES)
@pytest.mark.parametrize("change", [0x01, 0x80, 0xFF])
def test_with_a_layout_known_from_before_a_change_at_any_byte_is_read_as_without_it(data, decoded, layout, change):
    assert decoded(data, layout) == decoded(data, None) != UnreadableAnswerError
    for position in range(len(data)):
        changed = bytearray(data)
        changed[position] ^= change
        assert decoded(bytes(changed), layout) == decoded(bytes(changed), None), f"byte {position}"


@pytest.mark.parametrize(("data", "decoded", "layout"), CASES)
def test_an_answer_cut_short_anywhere_is_unreadable_and_not_a_shorter_answer(data, decoded, layout):
    for size in range(len(data)):
        assert decoded(data[:size], layout) is UnreadableAnswerError, f"{size} of {len(data)} bytes"


@pytest.mark.parametrize("decode", [commits_of, offsets_of, cluster_of])
@given(data=st.binary(max_size=200))
def test_bytes_without_meaning_are_unreadable_and_nothing_worse(decode, data):
    decode(data, None)


def test_a_count_beyond_the_answer_is_refused_before_anything_is_made_of_it():
    most = b"\xff\xff\xff\xff\x0f"

    assert commits_of(bytes(4) + most + bytes(50), None) is UnreadableAnswerError
