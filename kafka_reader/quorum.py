"""DescribeQuorum: who leads the controllers, who votes, and how far each has read the cluster's metadata (KIP-836).

Needs DESCRIBE on the cluster. Any broker passes the question on to the leading controller.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kafka.protocol.admin import DescribeQuorumRequest

from guarantees.unknown import Unknown
from kafka_reader.answer import Answer
from kafka_reader.connection import Connections
from kafka_reader.errors import CollectionError, unknown_after, unknown_because

METADATA_TOPIC = "__cluster_metadata"
NO_LEADER = -1


@dataclass(frozen=True, slots=True)
class QuorumReplica:
    """A controller that votes, or an observer: a broker, or a controller that does not vote.

    Times are the leader's clock, ms since 1970, None where it gives none.
    """

    replica: int
    is_voter: bool
    log_end_offset: int | Unknown
    last_fetch_at_ms: int | None
    last_caught_up_at_ms: int | None


@dataclass(frozen=True, slots=True)
class Quorum:
    """The quorum as its leader sees it. `leader` None: an election is under way. Offsets are those of the metadata."""

    leader: int | None
    leader_epoch: int
    high_watermark: int | Unknown
    replicas: tuple[QuorumReplica, ...]
    requested_at_ms: int
    observed_at_ms: int


def quorum_request() -> DescribeQuorumRequest:
    topic = DescribeQuorumRequest.TopicData
    partition = topic.PartitionData(partition_index=0)
    return DescribeQuorumRequest(topics=[topic(topic_name=METADATA_TOPIC, partitions=[partition])])


def fetch_quorum(connections: Connections, broker: int) -> Quorum | Unknown:
    """Ask one broker that is known to answer: behind a silent controller all of them would wait."""
    return parse_quorum(connections.send_all({broker: quorum_request()})[broker])


def parse_quorum(answer: Answer | CollectionError) -> Quorum | Unknown:
    if isinstance(answer, CollectionError):
        return unknown_after(answer)
    response = answer.response
    if response.error_code != 0:
        return unknown_because(response.error_code)
    for topic in response.topics:
        for partition in topic.partitions:
            if topic.topic_name == METADATA_TOPIC and partition.partition_index == 0:
                return _quorum(partition, answer)
    return Unknown("the answer does not name the metadata's partition")


def _quorum(partition: Any, answer: Answer) -> Quorum | Unknown:
    if partition.error_code != 0:
        return unknown_because(partition.error_code)
    return Quorum(
        leader=None if partition.leader_id == NO_LEADER else partition.leader_id,
        leader_epoch=partition.leader_epoch,
        high_watermark=_offset(partition.high_watermark),
        replicas=(
            *_replicas(partition.current_voters, is_voter=True),
            *_replicas(partition.observers, is_voter=False),
        ),
        requested_at_ms=answer.requested_at_ms,
        observed_at_ms=answer.observed_at_ms,
    )


def _replicas(given: Iterable[Any], *, is_voter: bool) -> list[QuorumReplica]:
    return [
        QuorumReplica(
            replica=each.replica_id,
            is_voter=is_voter,
            log_end_offset=_offset(each.log_end_offset),
            last_fetch_at_ms=_time(each.last_fetch_timestamp),
            last_caught_up_at_ms=_time(each.last_caught_up_timestamp),
        )
        for each in given
    ]


def _offset(given: int) -> int | Unknown:
    return Unknown("the leading controller does not know it") if given < 0 else given


def _time(given: int) -> int | None:
    return None if given < 0 else given
