"""DescribeProducers: who has an open transaction on a partition (KIP-664). Needs READ on the topic."""

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from kafka.protocol.admin import DescribeProducersRequest

from guarantees.observations import OpenProducer
from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.answer import Answer
from kafka_reader.connection import Connections
from kafka_reader.errors import CollectionError, unknown_after, unknown_because

NO_OPEN_TRANSACTION = -1


def producers_request(partitions: Iterable[TopicPartition]) -> DescribeProducersRequest:
    return DescribeProducersRequest(
        topics=[
            DescribeProducersRequest.TopicRequest(name=name, partition_indexes=[part.partition for part in parts])
            for name, parts in groupby(sorted(partitions), key=lambda part: part.topic)
        ]
    )


def fetch_open_producers(
    connections: Connections, partitions_by_leader: Mapping[int, Iterable[TopicPartition]]
) -> dict[TopicPartition, tuple[OpenProducer, ...] | Unknown]:
    """Producers with an open transaction, of every partition asked about."""
    requests = {broker: producers_request(partitions) for broker, partitions in partitions_by_leader.items()}
    answers = connections.send_all(requests)
    found: dict[TopicPartition, tuple[OpenProducer, ...] | Unknown] = {}
    for broker, answer in answers.items():
        found |= parse_open_producers(requests[broker], answer)
    return found


def fetch_known_producers(
    connections: Connections, partitions_by_leader: Mapping[int, Iterable[TopicPartition]]
) -> dict[TopicPartition, frozenset[int] | Unknown]:
    """The producer ids of which each leader keeps state, with an open transaction or without."""
    requests = {broker: producers_request(partitions) for broker, partitions in partitions_by_leader.items()}
    found: dict[TopicPartition, frozenset[int] | Unknown] = {}
    for broker, answer in connections.send_all(requests).items():
        found |= {partition: _ids(part) for partition, part in _parts(requests[broker], answer).items()}
    return found


def parse_open_producers(
    request: DescribeProducersRequest, answer: Answer | CollectionError
) -> dict[TopicPartition, tuple[OpenProducer, ...] | Unknown]:
    """One entry per partition asked about. Producers without an open transaction are of no interest here."""
    observed_at_ms = 0 if isinstance(answer, CollectionError) else answer.observed_at_ms
    return {partition: _open(part, observed_at_ms) for partition, part in _parts(request, answer).items()}


def _parts(request: DescribeProducersRequest, answer: Answer | CollectionError) -> dict[TopicPartition, Any]:
    """The broker's answer for every partition asked about, or why there is none."""
    asked = [TopicPartition(topic.name, index) for topic in request.topics for index in topic.partition_indexes]
    if isinstance(answer, CollectionError):
        return dict.fromkeys(asked, unknown_after(answer))
    given = {
        TopicPartition(topic.name, part.partition_index): part
        for topic in answer.response.topics
        for part in topic.partitions
    }
    return {partition: _good(given.get(partition)) for partition in asked}


def _good(part: Any) -> Any:
    if part is None:
        return Unknown("the broker's answer does not name the partition")
    return part if part.error_code == 0 else unknown_because(part.error_code)


def _ids(part: Any) -> frozenset[int] | Unknown:
    return part if isinstance(part, Unknown) else frozenset(state.producer_id for state in part.active_producers)


def _open(part: Any, observed_at_ms: int) -> tuple[OpenProducer, ...] | Unknown:
    if isinstance(part, Unknown):
        return part
    return tuple(
        OpenProducer(
            producer_id=state.producer_id,
            producer_epoch=state.producer_epoch,
            last_sequence=state.last_sequence,
            last_timestamp_ms=state.last_timestamp,
            coordinator_epoch=state.coordinator_epoch,
            current_transaction_start_offset=state.current_txn_start_offset,
            observed_at_ms=observed_at_ms,
        )
        for state in part.active_producers
        if state.current_txn_start_offset != NO_OPEN_TRANSACTION
    )
