"""ListOffsets: log start, last stable offset, high watermark from leaders; the log end of each replica from itself."""

from collections.abc import Iterable, Mapping

import numpy as np
from kafka.protocol.consumer import ListOffsetsRequest

from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.answer import Answer, now_ms
from kafka_reader.connection import Connections
from kafka_reader.errors import CollectionError, unknown_after, unknown_because
from kafka_reader.listed_offsets import ListedOffsets, without_answer
from kafka_reader.offset_columns import OffsetColumns, decode
from kafka_reader.offset_questions import body
from kafka_reader.undecoded import Prepared, decoded

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

# Since v5 the answer is OFFSET_NOT_AVAILABLE instead of a high watermark that lags a new leader's epoch. v7 came with
# Kafka 3.0, as did the OffsetFetch of several groups.
VERSION = 7


def log_start_request(partitions: Iterable[TopicPartition]) -> Prepared:
    return _request(partitions, EARLIEST, READ_UNCOMMITTED, CONSUMER)


def last_stable_offset_request(partitions: Iterable[TopicPartition]) -> Prepared:
    return _request(partitions, LATEST, READ_COMMITTED, CONSUMER)


def high_watermark_request(partitions: Iterable[TopicPartition]) -> Prepared:
    return _request(partitions, LATEST, READ_UNCOMMITTED, CONSUMER)


def log_end_request(partitions: Iterable[TopicPartition]) -> Prepared:
    """For the replica that is asked, not for the leader."""
    return _request(partitions, LATEST, READ_UNCOMMITTED, DEBUGGING_REPLICA)


def offset_at_time_request(partitions: Iterable[TopicPartition], timestamp_ms: int) -> Prepared:
    """The first offset whose record is not older than the timestamp; such a record may not exist."""
    return _request(partitions, timestamp_ms, READ_UNCOMMITTED, CONSUMER)


def fetch_offsets(connections: Connections, requests: Mapping[int, Prepared]) -> dict[int, ListedOffsets]:
    """Per broker asked, every partition asked about; what did not answer is Unknown."""
    answers = connections.send_all(requests)
    at_ms = now_ms()
    return {broker: parse_offsets(requests[broker], answer, broker, at_ms) for broker, answer in answers.items()}


def parse_offsets(request: Prepared, answer: Answer | CollectionError, broker: int, at_ms: int) -> ListedOffsets:
    """One row per partition asked about; −1 and errors never become numbers. `at_ms`: when the wait ended."""
    found = decoded(answer, f"broker {broker}", lambda data: decode(data, request.asked, request.layout))
    if isinstance(answer, CollectionError) or isinstance(found, CollectionError):
        return without_answer(dict.fromkeys(request.asked, unknown_after(found)), at_ms)
    columns, request.layout = found
    number = len(request.asked)
    return ListedOffsets(
        request.asked,
        columns.offset,
        columns.leader_epoch,
        _unknown(columns),
        np.full(number, broker, np.int32),
        np.full(number, answer.requested_at_ms, np.int64),
        np.full(number, answer.observed_at_ms, np.int64),
    )


def _unknown(columns: OffsetColumns) -> dict[int, Unknown]:
    is_unknown = ~columns.is_named | (columns.error_code != 0) | (columns.offset < 0)
    return {
        row: _why(bool(columns.is_named[row]), int(columns.error_code[row]))
        for row in np.flatnonzero(is_unknown).tolist()
    }


def _why(is_named: bool, error_code: int) -> Unknown:
    if not is_named:
        return Unknown("the broker's answer does not name the partition")
    return Unknown("no such offset") if error_code == 0 else unknown_because(error_code)


def _request(partitions: Iterable[TopicPartition], timestamp: int, isolation_level: int, replica_id: int) -> Prepared:
    asked = tuple(sorted(partitions))
    as_bytes = body(asked, replica_id=replica_id, isolation_level=isolation_level, timestamp=timestamp)
    request = ListOffsetsRequest(
        replica_id=replica_id, isolation_level=isolation_level, topics=[], min_version=VERSION, max_version=VERSION
    )
    return Prepared(request, asked, {VERSION: as_bytes})
