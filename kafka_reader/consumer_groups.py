"""ConsumerGroupDescribe: groups of the consumer protocol (KIP-848), which DescribeGroups calls Dead.

kafka-python does not bundle the schema: it is Apache Kafka's own, in `schemas`.
"""

from collections.abc import Iterable
from functools import partial
from typing import Any

from kafka.protocol.api_message import ApiMessage

from guarantees.observations import GroupState, Member
from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader import schemas
from kafka_reader.answer import Answer
from kafka_reader.errors import CollectionError
from kafka_reader.group_descriptions import by_member_id, parsed
from kafka_reader.groups import CONSUMER


class ConsumerGroupDescribeRequest(ApiMessage, load_json=schemas):
    pass


class ConsumerGroupDescribeResponse(ApiMessage, load_json=schemas):
    pass


def describe_request(group_ids: Iterable[str]) -> ConsumerGroupDescribeRequest:
    return ConsumerGroupDescribeRequest(group_ids=sorted(group_ids), include_authorized_operations=False)


def parse_descriptions(
    request: ConsumerGroupDescribeRequest, answer: Answer | CollectionError, broker: int
) -> dict[str, GroupState | Unknown]:
    """One entry per group asked about.

    Error 29 for a whole group: one of its members' topics may not be described, and Kafka then shows nothing of it.
    """
    return parsed(request.group_ids, answer, partial(_state, broker))


def _state(broker: int, group: Any, observed_at_ms: int) -> GroupState:
    return GroupState(
        group_type=CONSUMER,
        state=group.group_state,
        coordinator=broker,
        members=tuple(_member(member) for member in by_member_id(group.members)),
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        observed_at_ms=observed_at_ms,
    )


def _member(member: Any) -> Member:
    return Member(
        member_id=member.member_id,
        group_instance_id=member.instance_id,
        client_id=member.client_id,
        host=member.client_host,
        assignment=_partitions(member.assignment),
        member_epoch=member.member_epoch,
        target_assignment=_partitions(member.target_assignment),
        rack=member.rack_id,
    )


def _partitions(assignment: Any) -> frozenset[TopicPartition]:
    return frozenset(
        TopicPartition(topic.topic_name, partition)
        for topic in assignment.topic_partitions
        for partition in topic.partitions
    )
