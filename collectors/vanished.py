"""Topics and groups that are no longer listed: gone, or not to be seen now? Asked by name, a broker says which.

Only what was known and vanished is asked for, so in most rounds nobody is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from collectors import group_list
from collectors.coordinators import Coordinators, answering, asked_by_name, unavailable
from collectors.group_list import GroupList
from collectors.intervals import Running
from collectors.signals import Signals
from guarantees.observations import Signal
from guarantees.unknown import Unknown
from kafka_reader.connection import Connections
from kafka_reader.errors import NOT_PERMITTED, is_not_permitted
from kafka_reader.groups import ListedGroup, fetch_existing
from kafka_reader.metadata import Topology
from kafka_reader.rights import Permitted, fetch_permitted_topics

TOPIC_REFUSED = Unknown(f"{NOT_PERMITTED}: TOPIC_AUTHORIZATION_FAILED")
NOT_ASKED = Unknown("whether it is gone or hidden could not be asked")


def with_refused_topics(signals: Signals, connections: Connections, topology: Topology, running: Running) -> Topology:
    """`running` are the intervals of partitions. A topic that may not be described has not ended."""
    missing = {str(interval.value["topic"]) for interval in running.values()} - topology.topic_ids.keys()
    missing -= topology.failed.keys()
    if not missing:
        return topology  # and nobody is asked
    otherwise: Permitted = dict.fromkeys(missing, NOT_ASKED)
    permitted = signals.run(
        Signal.PARTITION_STATES,
        lambda: fetch_permitted_topics(connections, missing),
        otherwise=otherwise,
        values=lambda answers: map(_why_hidden, answers.values()),
    )
    hidden = {topic: why for topic, answer in permitted.items() if (why := _why_hidden(answer)) is not None}
    return replace(topology, failed={**topology.failed, **hidden})


def _why_hidden(answer: bool | Unknown) -> Unknown | None:
    if isinstance(answer, Unknown):
        return answer
    return None if answer else TOPIC_REFUSED


@dataclass(frozen=True, slots=True)
class LookedUp:
    """Whether groups that no list held exist, by name, and what brokers list after that question."""

    exists: Mapping[str, bool | Unknown]
    lists: group_list.Answers

    @property
    def values(self) -> list[object]:
        return [*self.exists.values(), *self.lists.values()]


def groups_left(
    signals: Signals,
    connections: Connections,
    answers: group_list.Answers,
    known: Mapping[str, ListedGroup],
    coordinators: Coordinators,
) -> GroupList:
    """The groups that are listed, and those remembered that are not surely gone.

    After a fail-over no list holds a group until its new coordinator has loaded it (seen live in nearly every one). So
    what is missing is asked for by name; a coordinator that looked for it has loaded, and its list after that has it.
    """
    found = group_list.group_list(answers, known, coordinators)
    missing = {group_id: group.coordinator for group_id, group in known.items() if group_id not in found.known}
    if not missing:
        return found  # and nobody is asked
    ask = partial(fetch_existing, connections)
    looked_up = signals.run(
        Signal.GROUPS,
        lambda: LookedUp(
            asked_by_name(missing, answers, coordinators, ask), group_list.collect(connections, answering(answers))
        ),
        otherwise=LookedUp(dict.fromkeys(missing, NOT_ASKED), {}),
        values=lambda found: found.values,
    )
    found = group_list.group_list(_joined(answers, looked_up.lists), known, coordinators)
    return _with_unseen(found, looked_up, known)


def _joined(answers: group_list.Answers, later: group_list.Answers) -> group_list.Answers:
    """Both lists of each broker: while partitions move one by one, what the first one held the second may not."""
    return {broker: _both(answer, later.get(broker, [])) for broker, answer in answers.items()}


def _both(first: list[ListedGroup] | Unknown, later: list[ListedGroup] | Unknown) -> list[ListedGroup] | Unknown:
    if isinstance(first, Unknown) or isinstance(later, Unknown):
        return later if isinstance(first, Unknown) else first
    return [*first, *later]


def _with_unseen(found: GroupList, looked_up: LookedUp, known: Mapping[str, ListedGroup]) -> GroupList:
    unlisted = looked_up.exists.keys() - found.known.keys()
    unseen = {group_id: why for group_id in unlisted if (why := _why_unseen(group_id, looked_up)) is not None}
    remembered = {group_id: known[group_id] for group_id in unseen}
    return GroupList(found.listed, {**found.remembered, **remembered}, {**found.unavailable, **unseen})


def _why_unseen(group_id: str, looked_up: LookedUp) -> Unknown | None:
    """Why a group that is in no list may yet be there; None where it is gone."""
    exists = looked_up.exists[group_id]
    if isinstance(exists, Unknown):
        return exists if exists is NOT_ASKED or is_not_permitted(exists) else unavailable(exists.reason)
    if exists:
        return unavailable("it knew the group and did not list it")
    return next((unavailable(a.reason) for a in looked_up.lists.values() if isinstance(a, Unknown)), None)
