"""OffsetForLeaderEpoch: where a leader epoch ends in the leader's log (KIP-101, KIP-320)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from kafka.protocol.consumer import OffsetForLeaderEpochRequest

from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.answer import Answer, now_ms
from kafka_reader.connection import Connections
from kafka_reader.errors import CollectionError, unknown_after, unknown_because

# Only leaders answer, whatever the replica id (ReplicaManager.lastOffsetForLeaderEpoch, fetchOnlyFromLeader).
CONSUMER = -1

# v2 knows the current leader epoch: a replaced leader answers with an error instead of with its own log.
OLDEST_VERSION = 2
NEWEST_VERSION = 4

# LeaderEpochFileCache.endOffsetFor: (-1, -1) where no epoch is known, or the asked one lies above the newest.
UNDEFINED = -1


class EpochQuestion(NamedTuple):
    """Where does `asked_epoch` end, asked of who leads in `current_leader_epoch`?"""

    partition: TopicPartition
    asked_epoch: int
    current_leader_epoch: int


@dataclass(frozen=True, slots=True)
class FoundEnd:
    """The largest epoch of the log that is not above the asked one, and where it ends."""

    answered_epoch: int | Unknown
    end_offset: int | Unknown
    broker: int | None
    requested_at_ms: int | None
    observed_at_ms: int


def epoch_ends_request(questions: Iterable[EpochQuestion]) -> OffsetForLeaderEpochRequest:
    """One epoch per partition: the answer does not repeat what was asked."""
    topic = OffsetForLeaderEpochRequest.OffsetForLeaderTopic
    return OffsetForLeaderEpochRequest(
        replica_id=CONSUMER,
        topics=[
            topic(
                topic=name,
                partitions=[
                    topic.OffsetForLeaderPartition(
                        partition=each.partition.partition,
                        current_leader_epoch=each.current_leader_epoch,
                        leader_epoch=each.asked_epoch,
                    )
                    for each in its
                ],
            )
            for name, its in groupby(sorted(questions), key=lambda each: each.partition.topic)
        ],
        min_version=OLDEST_VERSION,
        max_version=NEWEST_VERSION,
    )


def fetch_epoch_ends(
    connections: Connections, questions_by_leader: Mapping[int, Iterable[EpochQuestion]]
) -> dict[EpochQuestion, FoundEnd]:
    """One entry per question; what did not answer is Unknown."""
    asked = {broker: sorted(questions) for broker, questions in questions_by_leader.items()}
    answers = connections.send_all({broker: epoch_ends_request(questions) for broker, questions in asked.items()})
    at_ms = now_ms()
    found: dict[EpochQuestion, FoundEnd] = {}
    for broker, answer in answers.items():
        found |= parse_epoch_ends(asked[broker], answer, broker, at_ms)
    return found


def parse_epoch_ends(
    questions: Iterable[EpochQuestion], answer: Answer | CollectionError, broker: int, at_ms: int
) -> dict[EpochQuestion, FoundEnd]:
    """One entry per question. `at_ms`: when the wait ended."""
    if isinstance(answer, CollectionError):
        unknown = unknown_after(answer)
        return {each: FoundEnd(unknown, unknown, None, None, at_ms) for each in questions}
    given = {
        TopicPartition(topic.topic, part.partition): part
        for topic in answer.response.topics
        for part in topic.partitions
    }
    return {each: _found(given.get(each.partition), answer, broker) for each in questions}


def _found(part: Any, answer: Answer, broker: int) -> FoundEnd:
    epoch, end = _values(part)
    return FoundEnd(epoch, end, broker, answer.requested_at_ms, answer.observed_at_ms)


def _values(part: Any) -> tuple[int, int] | tuple[Unknown, Unknown]:
    if part is None:
        reason = Unknown("the broker's answer does not name the partition")
    elif part.error_code != 0:
        reason = unknown_because(part.error_code)
    elif part.leader_epoch == UNDEFINED or part.end_offset == UNDEFINED:
        reason = Unknown("the log knows no such epoch")
    else:
        return part.leader_epoch, part.end_offset
    return reason, reason
