"""Topics and groups that are no longer listed: gone, or not to be seen now? Asked by name, a broker says which.

Only what was known and vanished is asked for, so in most rounds nobody is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from collectors import group_list
from collectors.coordinators import Coordinators, by_broker, unavailable
from collectors.group_list import GroupList
from collectors.intervals import Running
from collectors.signals import Signals
from guarantees.observations import Signal
from guarantees.unknown import Unknown
from kafka_reader.connection import Connections
from kafka_reader.errors import NOT_PERMITTED, is_not_permitted
from kafka_reader.groups import ListedGroup, fetch_whether_looked_up
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
    """Whether groups that no list held were looked up, by name, and what those brokers list after it."""

    why_not: Mapping[str, Unknown | None]
    lists: group_list.Answers

    @property
    def values(self) -> list[object]:
        return [*self.why_not.values(), *self.lists.values()]


def groups_left(
    signals: Signals,
    connections: Connections,
    answers: group_list.Answers,
    known: Mapping[str, ListedGroup],
    coordinators: Coordinators,
) -> GroupList:
    """The groups that are listed, and those remembered that are not surely gone.

    After a fail-over no list holds a group until its new coordinator has loaded it (seen live in nearly every one). So
    what is missing is asked for by name; a broker that looked has loaded, and its list after that is whole.
    """
    found = group_list.group_list(answers, known, coordinators)
    missing = known.keys() - found.known.keys()
    if not missing:
        return found  # and nobody is asked
    asked = by_broker(missing, answers, coordinators)
    looked_up = signals.run(
        Signal.GROUPS,
        lambda: LookedUp(fetch_whether_looked_up(connections, asked), group_list.collect(connections, asked)),
        otherwise=LookedUp(dict.fromkeys(missing, NOT_ASKED), {}),
        values=lambda found: found.values,
    )
    found = group_list.group_list({**answers, **looked_up.lists}, known, coordinators)
    whys = {group_id: looked_up.why_not[group_id] for group_id in missing - found.known.keys()}
    unseen = {group_id: _worded(why) for group_id, why in whys.items() if why is not None}
    remembered = {group_id: known[group_id] for group_id in unseen}
    return GroupList(found.listed, {**found.remembered, **remembered}, {**found.unavailable, **unseen})


def _worded(why: Unknown) -> Unknown:
    return why if is_not_permitted(why) else unavailable(why.reason)
