"""ListOffsets: log start, last stable offset, high watermark from leaders; the log end of each replica from itself."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from kafka.protocol.consumer import ListOffsetsRequest

from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.connection import Answer, Connections, now_ms
from kafka_reader.errors import CollectionError, unknown_after, unknown_because

# Timestamps that name an end of the log.
LATEST = -1
EARLIEST = -2

# Isolation levels: with 0 "latest" is the high watermark, with 1 the last stable offset.
READ_UNCOMMITTED = 0
READ_COMMITTED = 1

CONSUMER = -1
# The debugging replica id: any replica answers with its own log end offset, whoever leads
# (ReplicaManager.fetchOffset, fetchOnlyFromLeader = replicaId != DEBUGGING_REPLICA_ID).
DEBUGGING_REPLICA = -2

# v5 answers OFFSET_NOT_AVAILABLE instead of a high watermark that lags a new leader's epoch; v2 knows isolation levels.
OLDEST_VERSION = 5
NEWEST_VERSION = 7


@dataclass(frozen=True, slots=True)
class ListedOffset:
    """What one broker said of one partition. `leader_epoch` is the answering replica's current one."""

    offset: int | Unknown
    leader_epoch: int | Unknown
    broker: int | None
    requested_at_ms: int | None
    observed_at_ms: int


def log_start_request(partitions: Iterable[TopicPartition]) -> ListOffsetsRequest:
    return _request(partitions, EARLIEST, READ_UNCOMMITTED, CONSUMER)


def last_stable_offset_request(partitions: Iterable[TopicPartition]) -> ListOffsetsRequest:
    return _request(partitions, LATEST, READ_COMMITTED, CONSUMER)


def high_watermark_request(partitions: Iterable[TopicPartition]) -> ListOffsetsRequest:
    return _request(partitions, LATEST, READ_UNCOMMITTED, CONSUMER)


def log_end_request(partitions: Iterable[TopicPartition]) -> ListOffsetsRequest:
    """For the replica that is asked, not for the leader."""
    return _request(partitions, LATEST, READ_UNCOMMITTED, DEBUGGING_REPLICA)


def offset_at_time_request(partitions: Iterable[TopicPartition], timestamp_ms: int) -> ListOffsetsRequest:
    """The first offset whose record is not older than the timestamp; such a record may not exist."""
    return _request(partitions, timestamp_ms, READ_UNCOMMITTED, CONSUMER)


def fetch_offsets(
    connections: Connections, requests: Mapping[int, ListOffsetsRequest]
) -> dict[int, dict[TopicPartition, ListedOffset]]:
    """Per broker asked, every partition asked about; what did not answer is Unknown."""
    answers = connections.send_all(requests)
    at_ms = now_ms()
    return {broker: parse_offsets(requests[broker], answer, broker, at_ms) for broker, answer in answers.items()}


def parse_offsets(
    request: ListOffsetsRequest, answer: Answer | CollectionError, broker: int, at_ms: int
) -> dict[TopicPartition, ListedOffset]:
    """One entry per partition asked about; −1 and errors never become numbers. `at_ms`: when the wait ended."""
    asked = [TopicPartition(topic.name, part.partition_index) for topic in request.topics for part in topic.partitions]
    if isinstance(answer, CollectionError):
        unknown = unknown_after(answer)
        return dict.fromkeys(asked, ListedOffset(unknown, unknown, None, None, at_ms))
    given = {
        TopicPartition(topic.name, part.partition_index): part
        for topic in answer.response.topics
        for part in topic.partitions
    }
    return {partition: _listed(given.get(partition), answer, broker) for partition in asked}


def _listed(part: Any, answer: Answer, broker: int) -> ListedOffset:
    if part is None:
        offset: int | Unknown = Unknown("the broker's answer does not name the partition")
    elif part.error_code != 0:
        offset = unknown_because(part.error_code)
    elif part.offset < 0:
        offset = Unknown("no such offset")
    else:
        offset = part.offset
    epoch = offset if isinstance(offset, Unknown) else _epoch(part.leader_epoch)
    return ListedOffset(offset, epoch, broker, answer.requested_at_ms, answer.observed_at_ms)


def _epoch(leader_epoch: int) -> int | Unknown:
    return leader_epoch if leader_epoch >= 0 else Unknown("the broker gave no leader epoch")


def _request(
    partitions: Iterable[TopicPartition], timestamp: int, isolation_level: int, replica_id: int
) -> ListOffsetsRequest:
    topic = ListOffsetsRequest.ListOffsetsTopic
    return ListOffsetsRequest(
        replica_id=replica_id,
        isolation_level=isolation_level,
        topics=[
            topic(
                name=name,
                partitions=[
                    topic.ListOffsetsPartition(
                        partition_index=part.partition, current_leader_epoch=-1, timestamp=timestamp
                    )
                    for part in parts
                ],
            )
            for name, parts in groupby(sorted(partitions), key=lambda part: part.topic)
        ],
        min_version=OLDEST_VERSION,
        max_version=NEWEST_VERSION,
    )
