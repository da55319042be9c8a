"""ShareGroupDescribe and DescribeShareGroupOffsets: groups whose members share partitions (KIP-932).

kafka-python does not bundle the schemas: they are Apache Kafka's own, in `schemas`. What a share group did with a
record is in no answer: an accepted and a rejected one move the start offset alike, and delivery counts are not given.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from kafka.protocol.api_message import ApiMessage

from guarantees.lag import NOT_STARTED
from guarantees.observations import SHARE, GroupState, Member
from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader import schemas
from kafka_reader.answer import Answer
from kafka_reader.connection import Connections
from kafka_reader.errors import CollectionError, unknown_after, unknown_because
from kafka_reader.group_descriptions import by_member_id, parsed

NO_LAG = Unknown("no lag in the answer: brokers before 4.2 give none (KIP-1226)")


class ShareGroupDescribeRequest(ApiMessage, load_json=schemas):
    pass


class ShareGroupDescribeResponse(ApiMessage, load_json=schemas):
    pass


class DescribeShareGroupOffsetsRequest(ApiMessage, load_json=schemas):
    pass


class DescribeShareGroupOffsetsResponse(ApiMessage, load_json=schemas):
    pass


@dataclass(frozen=True, slots=True)
class ShareOffset:
    """Where a share group stands in a partition.

    `start_offset`: every lower offset is done with, accepted, rejected or given up. `lag`: offsets from there to the
    high watermark that are not done with, as the broker counts them.
    """

    topic_id: str | None
    start_offset: int | Unknown
    lag: int | Unknown


@dataclass(frozen=True, slots=True)
class ShareOffsets:
    """All started partitions of one group, or why they are unknown."""

    partitions: Mapping[TopicPartition, ShareOffset] | Unknown
    broker: int | None
    requested_at_ms: int | None
    observed_at_ms: int | None


def describe_request(group_ids: Iterable[str]) -> ShareGroupDescribeRequest:
    """v0 was the preview of Kafka 4.0."""
    return ShareGroupDescribeRequest(group_ids=sorted(group_ids), include_authorized_operations=False, min_version=1)


def parse_descriptions(
    request: ShareGroupDescribeRequest, answer: Answer | CollectionError, broker: int
) -> dict[str, GroupState | Unknown]:
    """One entry per group asked about. Error 29: a topic of its members may not be described."""
    return parsed(request.group_ids, answer, partial(_state, broker))


def _state(broker: int, group: Any, observed_at_ms: int) -> GroupState:
    return GroupState(
        group_type=SHARE,
        state=group.group_state,
        coordinator=broker,
        members=tuple(_member(member) for member in by_member_id(group.members)),
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        observed_at_ms=observed_at_ms,
    )


def _member(member: Any) -> Member:
    """Its assignment is what it may fetch from; other members may hold the same partitions."""
    return Member(
        member_id=member.member_id,
        group_instance_id=None,
        client_id=member.client_id,
        host=member.client_host,
        assignment=frozenset(
            TopicPartition(topic.topic_name, partition)
            for topic in member.assignment.topic_partitions
            for partition in topic.partitions
        ),
        member_epoch=member.member_epoch,
        rack=member.rack_id,
    )


def offsets_request(group_ids: Iterable[str]) -> DescribeShareGroupOffsetsRequest:
    """Of every group all partitions. Topics the principal may not describe are left out of the answer."""
    group = DescribeShareGroupOffsetsRequest.DescribeShareGroupOffsetsRequestGroup
    return DescribeShareGroupOffsetsRequest(
        groups=[group(group_id=group_id, topics=None) for group_id in sorted(group_ids)]
    )


def fetch_offsets(
    connections: Connections, groups_by_coordinator: Mapping[int, Iterable[str]]
) -> dict[str, ShareOffsets]:
    """One entry per group; all groups of a coordinator in one request."""
    requests = {broker: offsets_request(group_ids) for broker, group_ids in groups_by_coordinator.items()}
    return {
        group_id: offsets
        for broker, answer in connections.send_all(requests).items()
        for group_id, offsets in parse_offsets(requests[broker], answer, broker).items()
    }


def parse_offsets(
    request: DescribeShareGroupOffsetsRequest, answer: Answer | CollectionError, broker: int
) -> dict[str, ShareOffsets]:
    """One entry per group asked about. An unknown group has no partitions and no error."""
    asked = [group.group_id for group in request.groups]
    if isinstance(answer, CollectionError):
        return dict.fromkeys(asked, ShareOffsets(unknown_after(answer), None, None, None))
    given = {group.group_id: group for group in answer.response.groups}
    return {
        group_id: ShareOffsets(_partitions(given.get(group_id)), broker, answer.requested_at_ms, answer.observed_at_ms)
        for group_id in asked
    }


def _partitions(group: Any) -> dict[TopicPartition, ShareOffset] | Unknown:
    if group is None:
        return Unknown("the coordinator's answer does not name the group")
    if group.error_code != 0:
        return unknown_because(group.error_code)
    return {
        TopicPartition(topic.topic_name, part.partition_index): _offset(str(topic.topic_id), part)
        for topic in group.topics
        for part in topic.partitions
    }


def _offset(topic_id: str, part: Any) -> ShareOffset:
    """A start offset of −1 says that nothing was read yet; its lag of −1 says nothing."""
    if part.error_code != 0:
        reason = unknown_because(part.error_code)
        return ShareOffset(topic_id, reason, reason)
    if part.start_offset < 0:
        return ShareOffset(topic_id, NOT_STARTED, NOT_STARTED)
    return ShareOffset(topic_id, part.start_offset, NO_LAG if part.lag < 0 else part.lag)
