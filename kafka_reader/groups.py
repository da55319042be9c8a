"""ListGroups and DescribeGroups: which groups a broker coordinates, and who is in the classic ones."""

import struct
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from kafka.protocol.admin import DescribeGroupsRequest, ListGroupsRequest
from kafka.protocol.consumer import ConsumerProtocolAssignment, ConsumerProtocolType

from guarantees.observations import GroupState, Member
from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader.answer import Answer
from kafka_reader.connection import Connections
from kafka_reader.errors import CollectionError, unknown_after, unknown_because
from kafka_reader.group_descriptions import NOT_NAMED, by_member_id, parsed
from kafka_reader.rights import groups_request

CLASSIC = "classic"
CONSUMER = "consumer"
STREAMS = "streams"

GROUP_ID_NOT_FOUND = 69
DEAD = "Dead"  # the same, before v6


@dataclass(frozen=True, slots=True)
class ListedGroup:
    """A group as its coordinator lists it. Types are Kafka's: classic, consumer, share, streams."""

    group_id: str
    group_type: str
    protocol_type: str
    state: str
    coordinator: int


def list_request() -> ListGroupsRequest:
    """Every state and every type; v4 gives the state (KIP-518)."""
    return ListGroupsRequest(states_filter=[], types_filter=[], min_version=4)


def fetch_groups(connections: Connections, brokers: Iterable[int]) -> dict[int, list[ListedGroup] | Unknown]:
    """Ask every broker for the groups it coordinates: no FindCoordinator needed.

    Groups the principal may not describe are left out without a word, and so are all groups of a broker that is down.
    """
    answers = connections.send_all({broker: list_request() for broker in brokers})
    return {broker: parse_groups(answer, broker) for broker, answer in answers.items()}


def parse_groups(answer: Answer | CollectionError, broker: int) -> list[ListedGroup] | Unknown:
    if isinstance(answer, CollectionError):
        return unknown_after(answer)
    if answer.response.error_code != 0:
        return unknown_because(answer.response.error_code)
    return [
        # Before v5 (Kafka 3.8) no type is given and, previews aside, there is only one.
        ListedGroup(group.group_id, group.group_type.lower() or CLASSIC, group.protocol_type, group.group_state, broker)
        for group in answer.response.groups
    ]


def describe_request(group_ids: Iterable[str]) -> DescribeGroupsRequest:
    """v4 gives the group instance id. For groups of another type the answer is Dead or error 69."""
    return DescribeGroupsRequest(groups=sorted(group_ids), include_authorized_operations=False, min_version=4)


def fetch_existing(
    connections: Connections, group_ids_by_broker: Mapping[int, Collection[str]]
) -> dict[str, bool | Unknown]:
    """Whether a broker asked for a group knows it as a classic one; Unknown where none of them is its coordinator.

    A list leaves out the groups of a coordinator that has not begun or finished to load, without a word
    (GroupCoordinatorService.listGroups, 4.2: of active shards only); asked by name, it says NOT_COORDINATOR or
    COORDINATOR_LOAD_IN_PROGRESS. Groups of another type are denied like those that do not exist: then the coordinator
    has loaded, and a list asked for after that has them.
    """
    answers = connections.send_all(
        {broker: groups_request(group_ids) for broker, group_ids in group_ids_by_broker.items()}
    )
    found: dict[str, bool | Unknown] = {}
    for broker, answer in answers.items():
        for group_id, told in parse_existing(group_ids_by_broker[broker], answer).items():
            if isinstance(found.get(group_id, NOT_NAMED), Unknown):
                found[group_id] = told
    return found


def parse_existing(group_ids: Collection[str], answer: Answer | CollectionError) -> dict[str, bool | Unknown]:
    """One entry per group asked about."""
    if isinstance(answer, CollectionError):
        return dict.fromkeys(group_ids, unknown_after(answer))
    told = {group.group_id: _exists(group) for group in answer.response.groups}
    return {group_id: told.get(group_id, NOT_NAMED) for group_id in group_ids}


def _exists(group: Any) -> bool | Unknown:
    if group.error_code not in (0, GROUP_ID_NOT_FOUND):
        return unknown_because(group.error_code)
    return group.error_code == 0 and group.group_state != DEAD


def parse_descriptions(
    request: DescribeGroupsRequest, answer: Answer | CollectionError, broker: int
) -> dict[str, GroupState | Unknown]:
    """One entry per group asked about."""
    return parsed(request.groups, answer, partial(_state, broker))


def _state(broker: int, group: Any, observed_at_ms: int) -> GroupState | Unknown:
    try:
        members = tuple(_member(member, group.protocol_type) for member in by_member_id(group.members))
    except (struct.error, ValueError, IndexError):
        return Unknown("a member's assignment cannot be decoded")
    return GroupState(CLASSIC, group.group_state, broker, members, None, None, observed_at_ms)


def _member(member: Any, protocol_type: str) -> Member:
    return Member(
        member_id=member.member_id,
        group_instance_id=member.group_instance_id,
        client_id=member.client_id,
        host=member.client_host,
        assignment=_assignment(member.member_assignment) if protocol_type == ConsumerProtocolType else frozenset(),
    )


def _assignment(assigned: bytes) -> frozenset[TopicPartition]:
    """Bytes the group's leader wrote; none while the group rebalances."""
    if not assigned:
        return frozenset()
    decoded = ConsumerProtocolAssignment.decode(assigned)
    return frozenset(
        TopicPartition(topic.topic, partition)
        for topic in decoded.assigned_partitions
        for partition in topic.partitions
    )
