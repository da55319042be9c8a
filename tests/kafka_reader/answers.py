"""Answers as brokers give them, built with kafka-python's own classes."""

from typing import Any

from kafka.protocol.admin import (
    DescribeGroupsResponse,
    DescribeProducersResponse,
    DescribeTopicPartitionsResponse,
    DescribeTransactionsResponse,
    ListGroupsResponse,
    ListTransactionsResponse,
)
from kafka.protocol.consumer import ListOffsetsResponse, OffsetFetchResponse, OffsetForLeaderEpochResponse
from kafka.protocol.metadata import MetadataResponse

from kafka_reader.answer import Answer
from kafka_reader.undecoded import Uncopied, Undecoded

ASKED_MS, ANSWERED_MS = 1_000, 1_005


def answer(response: Any) -> Answer:
    return Answer(response, ASKED_MS, ANSWERED_MS)


def undecoded(response: Any) -> Answer:
    """As the bytes a broker would send."""
    return answer(as_bytes(response))


def as_bytes(response: Any) -> Undecoded:
    return Undecoded(response.API_VERSION, bytes(response.encode()))


def uncopied(response: Any) -> Uncopied:
    """As the bytes a broker would send, for a request whose answer is taken where it lies."""
    return Uncopied.of(response.API_VERSION, memoryview(bytearray(response.encode())))


def listed_offsets(*partitions: tuple[str, int, dict[str, int]]) -> Answer:
    """(topic, partition, {offset, leader_epoch, error_code}) …"""
    topic = ListOffsetsResponse.ListOffsetsTopicResponse
    return undecoded(
        ListOffsetsResponse(
            version=7,
            topics=[
                topic(name=name, partitions=[topic.ListOffsetsPartitionResponse(partition_index=index, **values)])
                for name, index, values in partitions
            ],
        )
    )


def epoch_ends(*partitions: tuple[str, int, dict[str, int]]) -> Answer:
    """(topic, partition, {leader_epoch, end_offset, error_code}) …"""
    topic = OffsetForLeaderEpochResponse.OffsetForLeaderTopicResult
    return answer(
        OffsetForLeaderEpochResponse(
            version=4,
            topics=[
                topic(topic=name, partitions=[topic.EpochEndOffset(partition=index, **values)])
                for name, index, values in partitions
            ],
        )
    )


def fetched_offsets(group_id: str, *partitions: tuple[str, int, dict[str, Any]], error_code: int = 0) -> Answer:
    """(topic, partition, {committed_offset, committed_leader_epoch, error_code}) … of one group."""
    group = OffsetFetchResponse.OffsetFetchResponseGroup
    topic = group.OffsetFetchResponseTopics
    return undecoded(
        OffsetFetchResponse(
            version=8,
            groups=[
                group(
                    group_id=group_id,
                    error_code=error_code,
                    topics=[
                        topic(
                            name=name,
                            partitions=[
                                topic.OffsetFetchResponsePartitions(partition_index=index, metadata="", **values)
                            ],
                        )
                        for name, index, values in partitions
                    ],
                )
            ],
        )
    )


def listed_groups(*groups: dict[str, str], error_code: int = 0) -> Answer:
    return answer(
        ListGroupsResponse(
            version=5, error_code=error_code, groups=[ListGroupsResponse.ListedGroup(**group) for group in groups]
        )
    )


def described_group(*, members: list[dict[str, Any]] = (), **group: Any) -> Answer:
    described = DescribeGroupsResponse.DescribedGroup
    return answer(
        DescribeGroupsResponse(
            version=5,
            groups=[
                described(members=[described.DescribedGroupMember(member_metadata=b"", **m) for m in members], **group)
            ],
        )
    )


def metadata(*topics: dict[str, Any], brokers: tuple[int, ...] = (1, 2, 3)) -> MetadataResponse:
    topic_class = MetadataResponse.MetadataResponseTopic
    return MetadataResponse(
        version=12,
        cluster_id="cluster",
        controller_id=1,
        brokers=[
            MetadataResponse.MetadataResponseBroker(node_id=node, host="h", port=9092, rack=None) for node in brokers
        ],
        topics=[
            topic_class(
                **{
                    **topic,
                    "partitions": [
                        topic_class.MetadataResponsePartition(**part) for part in topic.get("partitions", [])
                    ],
                }
            )
            for topic in topics
        ],
    )


def described_partitions(*topics: dict[str, Any]) -> DescribeTopicPartitionsResponse:
    topic_class = DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic
    part_class = topic_class.DescribeTopicPartitionsResponsePartition
    return DescribeTopicPartitionsResponse(
        version=0,
        topics=[
            topic_class(**{**topic, "partitions": [part_class(**part) for part in topic["partitions"]]})
            for topic in topics
        ],
    )


def described_producers(topic: str, partition: int, *states: dict[str, int], error_code: int = 0) -> Answer:
    topic_class = DescribeProducersResponse.TopicResponse
    part_class = topic_class.PartitionResponse
    part = part_class(
        partition_index=partition,
        error_code=error_code,
        error_message=None,
        active_producers=[part_class.ProducerState(**state) for state in states],
    )
    return answer(DescribeProducersResponse(version=0, topics=[topic_class(name=topic, partitions=[part])]))


def listed_transactions(*transactional_ids: str, error_code: int = 0) -> Answer:
    state = ListTransactionsResponse.TransactionState
    return answer(
        ListTransactionsResponse(
            version=1,
            error_code=error_code,
            transaction_states=[
                state(transactional_id=name, producer_id=7, transaction_state="Ongoing") for name in transactional_ids
            ],
        )
    )


def described_transaction(*, topics: list[tuple[str, list[int]]] = (), **state: Any) -> Answer:
    state_class = DescribeTransactionsResponse.TransactionState
    listed = [state_class.TopicData(topic=topic, partitions=partitions) for topic, partitions in topics]
    return answer(DescribeTransactionsResponse(version=0, transaction_states=[state_class(topics=listed, **state)]))
