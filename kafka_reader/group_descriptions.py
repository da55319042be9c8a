"""What the answers to the requests that describe groups have in common, whatever the protocol of the groups."""

from collections.abc import Callable, Iterable
from typing import Any

from guarantees.observations import GroupState
from guarantees.unknown import Unknown
from kafka_reader.answer import Answer
from kafka_reader.errors import CollectionError, unknown_after, unknown_because

NOT_NAMED = Unknown("the coordinator's answer does not name the group")

# Makes a state of a group that was answered without error, observed at that time (ms since 1970).
MadeState = Callable[[Any, int], GroupState | Unknown]


def parsed(
    group_ids: Iterable[str], answer: Answer | CollectionError, state: MadeState
) -> dict[str, GroupState | Unknown]:
    """One entry per group asked about."""
    if isinstance(answer, CollectionError):
        return dict.fromkeys(group_ids, unknown_after(answer))
    given = {group.group_id: group for group in answer.response.groups}
    return {group_id: _state(given.get(group_id), answer.observed_at_ms, state) for group_id in group_ids}


def _state(group: Any, observed_at_ms: int, state: MadeState) -> GroupState | Unknown:
    if group is None:
        return NOT_NAMED
    return state(group, observed_at_ms) if group.error_code == 0 else unknown_because(group.error_code)


def by_member_id(members: Iterable[Any]) -> list[Any]:
    return sorted(members, key=lambda each: each.member_id)
