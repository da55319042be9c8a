"""States and members of groups, kept as intervals, each type asked in its own words."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from collectors.group_list import GroupList
from collectors.intervals import Interval, Key, Running, Seen
from collectors.rows import partitions_json, tasks_json
from guarantees.observations import SHARE, GroupState, Member
from guarantees.places import TopicPartition
from guarantees.unknown import Unknown
from kafka_reader import consumer_groups, groups, share_groups, streams_groups
from kafka_reader.connection import Connections
from kafka_reader.groups import CLASSIC, CONSUMER, STREAMS, ListedGroup
from kafka_reader.metadata import Topology

STATE_TABLE = "group_state"
MEMBER_TABLE = "group_members"
STATE_DETAILS = ()
MEMBER_DETAILS = ()

# How a group of a type is described; one of a type Kafka adds later is listed, and that is all.
DESCRIBED_BY: Mapping[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    CLASSIC: (groups.describe_request, groups.parse_descriptions),
    CONSUMER: (consumer_groups.describe_request, consumer_groups.parse_descriptions),
    SHARE: (share_groups.describe_request, share_groups.parse_descriptions),
    STREAMS: (streams_groups.describe_request, streams_groups.parse_descriptions),
}


def collect(connections: Connections, listed: Iterable[ListedGroup]) -> dict[str, GroupState | Unknown]:
    """One entry per listed group."""
    by_type: dict[str, list[ListedGroup]] = {}
    for group in listed:
        by_type.setdefault(group.group_type, []).append(group)
    found: dict[str, GroupState | Unknown] = {}
    for group_type, its_groups in by_type.items():
        found |= _described(connections, group_type, its_groups)
    return found


def _described(
    connections: Connections, group_type: str, its_groups: Iterable[ListedGroup]
) -> dict[str, GroupState | Unknown]:
    if group_type not in DESCRIBED_BY:
        return {group.group_id: Unknown(f"{group_type} groups are not described") for group in its_groups}
    build, parse = DESCRIBED_BY[group_type]
    asked: dict[int, list[str]] = {}
    for group in its_groups:
        asked.setdefault(group.coordinator, []).append(group.group_id)
    requests = {broker: build(group_ids) for broker, group_ids in asked.items()}
    found: dict[str, GroupState | Unknown] = {}
    for broker, answer in connections.send_all(requests).items():
        found |= parse(requests[broker], answer, broker)
    return found


def with_real_partitions(
    states: Mapping[str, GroupState | Unknown], topology: Topology
) -> dict[str, GroupState | Unknown]:
    """A task of a Streams group reads its partition of those topics that have so many: they may have unequally many."""
    return {
        group_id: _with_real_partitions(state, topology)
        if isinstance(state, GroupState) and state.group_type == STREAMS
        else state
        for group_id, state in states.items()
    }


def _with_real_partitions(state: GroupState, topology: Topology) -> GroupState:
    def real(partitions: frozenset[TopicPartition] | None) -> frozenset[TopicPartition]:
        named = partitions or frozenset()
        return frozenset(p for p in named if p in topology.states or p.topic not in topology.topic_ids)

    members = (
        replace(each, assignment=real(each.assignment), target_assignment=real(each.target_assignment))
        for each in state.members
    )
    return replace(state, members=tuple(members))


def known(states: Mapping[str, GroupState | Unknown]) -> dict[str, GroupState]:
    return {group_id: state for group_id, state in states.items() if isinstance(state, GroupState)}


def with_since(
    states: Mapping[str, GroupState | Unknown], running: Running, gap_ms: int
) -> dict[str, GroupState | Unknown]:
    """With the time from which on each group was seen as it is, from the interval that still runs."""
    seen = states_seen(states)
    return {
        group_id: replace(state, unchanged_since_ms=_since(running.get((group_id,)), seen[(group_id,)], gap_ms))
        if isinstance(state, GroupState)
        else state
        for group_id, state in states.items()
    }


def _since(before: Interval | None, sight: Seen, gap_ms: int) -> int:
    goes_on = before is not None and before.value == sight.value and sight.at_ms - before.last_seen_at_ms <= gap_ms
    return before.started_at_ms if before is not None and goes_on else sight.at_ms


def states_seen(states: Mapping[str, GroupState | Unknown]) -> dict[Key, Seen]:
    return {
        (group_id,): Seen(
            value={
                "group_type": state.group_type,
                "state": state.state,
                "state_unknown": None,
                "coordinator": state.coordinator,
                "members": len(state.members),
                "group_epoch": state.group_epoch,
                "assignment_epoch": state.assignment_epoch,
                "topology_epoch": state.topology_epoch,
            },
            at_ms=state.observed_at_ms,
        )
        for group_id, state in known(states).items()
    }


def unknown_seen(
    states: Mapping[str, GroupState | Unknown], groups_listed: GroupList, observed_at_ms: int
) -> dict[Key, Seen]:
    """Groups nobody could describe: an interval of its own says since when and why, beside the one last known."""
    return {
        (group_id,): Seen(
            value={
                "group_type": groups_listed.known[group_id].group_type,
                "state": None,
                "state_unknown": state.reason,
                "coordinator": groups_listed.known[group_id].coordinator,
                "members": None,
                "group_epoch": None,
                "assignment_epoch": None,
                "topology_epoch": None,
            },
            at_ms=observed_at_ms,
        )
        for group_id, state in states.items()
        if isinstance(state, Unknown)
    }


def members_seen(states: Mapping[str, GroupState | Unknown]) -> dict[Key, Seen]:
    return {
        (group_id, member.member_id): Seen(value=_columns(member), at_ms=state.observed_at_ms)
        for group_id, state in known(states).items()
        for member in state.members
    }


def _columns(member: Member) -> dict[str, object]:
    return {
        "group_instance_id": member.group_instance_id,
        "client_id": member.client_id,
        "host": member.host,
        "member_epoch": member.member_epoch,
        "assignment": partitions_json(member.assignment),
        "target_assignment": partitions_json(member.target_assignment),
        "rack": member.rack,
        "process_id": member.process_id,
        "topology_epoch": member.topology_epoch,
        "tasks": tasks_json(member.tasks),
        "target_tasks": tasks_json(member.target_tasks),
    }


def group_gone(states: Mapping[str, GroupState | Unknown], interval: Interval) -> str | None:
    """`states` holds the remembered groups too: what is not in it, its coordinator no longer knows."""
    return None if interval.key[0] in states else "the coordinator no longer lists the group"


def member_gone(states: Mapping[str, GroupState | Unknown], interval: Interval) -> str | None:
    """A member is gone where its group was described without it."""
    group_id = interval.key[0]
    if group_id not in states:
        return "the coordinator no longer lists the group"
    return None if isinstance(states[str(group_id)], Unknown) else "the member left"


def known_again(states: Mapping[str, GroupState | Unknown], interval: Interval) -> str | None:
    """End of an interval of `unknown_seen`."""
    return "known again" if isinstance(states.get(str(interval.key[0])), GroupState) else "no longer listed"
