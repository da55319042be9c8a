"""Groups followed through their records: each rebalance, with what changed, as the coordinator wrote it.

A classic group's record is whole (key 2): two of them make a rebalance. A group of the consumer protocol (KIP-848)
is told member by member; its rebalance begins with a new group epoch and ends once every member owns its target.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from guarantees.internal_records import (
    ClassicGroup,
    ClassicGroupRecord,
    CurrentAssignment,
    GroupEpoch,
    Logged,
    LoggedMember,
    MemberMetadata,
    MemberState,
    Owned,
)
from guarantees.places import TopicPartition

T = TypeVar("T")

CLASSIC, CONSUMER = "classic", "consumer"
NOTHING: frozenset[TopicPartition] = frozenset()
_FIRST_EPOCH = 1


@dataclass(frozen=True, slots=True)
class SettledGroup:
    """A group outside a rebalance. `epoch`: its generation or group epoch; None: taken from a sample without one."""

    group_type: str
    epoch: int | None
    leader: str | None
    members: tuple[LoggedMember, ...]


@dataclass(frozen=True, slots=True)
class GroupChange:
    """From one settled state to the next, which `record` completed. `began_at_ms` None: no record says it."""

    group_id: str
    before: SettledGroup
    after: SettledGroup
    began_at_ms: int | None
    record: Logged


@dataclass(frozen=True, slots=True)
class FollowedGroup:
    """What is known of a group. `settled` None: its members were not all seen yet.

    The rest is of the consumer protocol: what has been written since, on the way to the next settled state.
    """

    settled: SettledGroup | None = None
    began_at_ms: int | None = None
    epoch: int | None = None
    members: Mapping[str, LoggedMember] = field(default_factory=dict)
    owned: Mapping[str, Owned] = field(default_factory=dict)


Followed = Mapping[str, FollowedGroup]


def group_changes(
    followed: Followed, records: Iterable[Logged], topic_names: Mapping[str, str]
) -> tuple[dict[str, FollowedGroup], list[GroupChange]]:
    """The groups afterwards, and their rebalances in the order of the log. `topic_names`: by topic id."""
    groups, changes = dict(followed), list[GroupChange]()
    for record in records:
        group_id = getattr(record.content, "group_id", None)
        if group_id is None:
            continue
        before = groups.get(group_id, FollowedGroup())
        after = _after(before, record, topic_names)
        if after is None:
            groups.pop(group_id, None)
            continue
        groups[group_id] = after
        if before.settled is not None and after.settled is not None and after.settled != before.settled:
            changes.append(GroupChange(group_id, before.settled, after.settled, _began(before, record), record))
    return groups, changes


def of_sample(group: SettledGroup) -> FollowedGroup:
    """A group to follow from a settled sample on."""
    return FollowedGroup(
        settled=group,
        epoch=group.epoch,
        members={member.member_id: replace(member, assignment=NOTHING) for member in group.members},
        owned={
            member.member_id: Owned(group.epoch or 0, group.epoch or 0, MemberState.STABLE, member.assignment, NOTHING)
            for member in group.members
        },
    )


def _began(before: FollowedGroup, record: Logged) -> int | None:
    if isinstance(record.content, ClassicGroupRecord):
        return None
    return record.at_ms if before.began_at_ms is None else before.began_at_ms


def _after(group: FollowedGroup, record: Logged, names: Mapping[str, str]) -> FollowedGroup | None:
    """None: the group was deleted."""
    content = record.content
    match content:
        case ClassicGroupRecord():
            return None if content.group is None else FollowedGroup(settled=_classic(content.group))
        case GroupEpoch():
            return None if content.epoch is None else _with_epoch(group, content.epoch, record.at_ms)
        case MemberMetadata():
            return replace(group, members=_put(group.members, content.member_id, content.member))
        case CurrentAssignment():
            owned = None if content.owned is None else _named(content.owned, names)
            return _settled(replace(group, owned=_put(group.owned, content.member_id, owned)))
    return group


def _classic(group: ClassicGroup) -> SettledGroup:
    members = tuple(sorted(group.members, key=lambda member: member.member_id))
    return SettledGroup(CLASSIC, group.generation, group.leader, members)


def _with_epoch(group: FollowedGroup, epoch: int, at_ms: int) -> FollowedGroup:
    """A group that was just created had no members before; one without members has nobody to wait for."""
    if epoch == _FIRST_EPOCH and group.settled is None:
        group = replace(group, settled=SettledGroup(CONSUMER, 0, None, ()))
    began_at_ms = at_ms if group.began_at_ms is None else group.began_at_ms
    return _settled(replace(group, epoch=epoch, began_at_ms=began_at_ms), is_empty=not group.members)


def _settled(group: FollowedGroup, *, is_empty: bool = False) -> FollowedGroup:
    """With its new settled state, once it is reached."""
    if group.settled is None or not (is_empty or _is_settled(group)):
        return group
    members = tuple(
        replace(group.members[name], assignment=group.owned[name].assigned if name in group.owned else NOTHING)
        for name in sorted(group.members)
    )
    return replace(group, settled=SettledGroup(CONSUMER, group.epoch, None, members), began_at_ms=None)


def _is_settled(group: FollowedGroup) -> bool:
    """Every member is at the group's epoch and has nothing to give up or to wait for."""
    if not group.members or group.epoch is None:
        return False
    return group.owned.keys() == group.members.keys() and all(
        owned.member_epoch == group.epoch and owned.state is MemberState.STABLE for owned in group.owned.values()
    )


def _named(owned: Owned, names: Mapping[str, str]) -> Owned:
    """By topic name; a topic that is gone keeps its id."""

    def named(partitions: frozenset[TopicPartition]) -> frozenset[TopicPartition]:
        return frozenset(TopicPartition(names.get(topic_id, topic_id), number) for topic_id, number in partitions)

    return replace(owned, assigned=named(owned.assigned), pending_revocation=named(owned.pending_revocation))


def _put(entries: Mapping[str, T], name: str, value: T | None) -> dict[str, T]:
    left = {each: known for each, known in entries.items() if each != name}
    return left if value is None else {**left, name: value}
