"""Which groups there are and who coordinates them; groups of a coordinator that does not answer are remembered."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from collectors.coordinators import Coordinators, why_silent
from guarantees.unknown import Unknown
from kafka_reader.connection import Connections
from kafka_reader.groups import ListedGroup, fetch_groups

Answers = Mapping[int, list[ListedGroup] | Unknown]


@dataclass(frozen=True, slots=True)
class GroupList:
    """Groups a coordinator vouches for, and remembered ones whose coordinator is out of reach."""

    listed: Mapping[str, ListedGroup]
    remembered: Mapping[str, ListedGroup]
    unavailable: Mapping[str, Unknown]

    @property
    def known(self) -> dict[str, ListedGroup]:
        """What the next round remembers."""
        return {**self.remembered, **self.listed}


def collect(connections: Connections, brokers: Iterable[int]) -> Answers:
    return fetch_groups(connections, brokers)


def group_list(answers: Answers, known: Mapping[str, ListedGroup], coordinators: Coordinators) -> GroupList:
    """A group that is no longer listed is gone only if its coordinator answered without it."""
    listed = _listed(answers, coordinators)
    unavailable = {
        group_id: reason
        for group_id in known
        if group_id not in listed and (reason := why_silent(group_id, answers, coordinators)) is not None
    }
    return GroupList(listed, {group_id: known[group_id] for group_id in unavailable}, unavailable)


def _listed(answers: Answers, coordinators: Coordinators) -> dict[str, ListedGroup]:
    """Of two brokers that list a group the present coordinator counts: the former one may not have heard of it yet."""
    found: dict[str, ListedGroup] = {}
    for groups in answers.values():
        for group in () if isinstance(groups, Unknown) else groups:
            if group.group_id not in found or coordinators.of(group.group_id) == group.coordinator:
                found[group.group_id] = group
    return found


def of_interest(groups: GroupList, is_watched: Callable[[str], bool]) -> GroupList:
    """The groups the settings name."""
    return GroupList(
        listed={group_id: group for group_id, group in groups.listed.items() if is_watched(group_id)},
        remembered={group_id: group for group_id, group in groups.remembered.items() if is_watched(group_id)},
        unavailable={group_id: reason for group_id, reason in groups.unavailable.items() if is_watched(group_id)},
    )
