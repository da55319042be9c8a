"""Topics and groups that are no longer listed: gone, or no longer to be seen? Asked by name, a broker says which.

Only what was known and vanished is asked for, so in most rounds nobody is.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from collectors.group_list import GroupList
from collectors.intervals import Running
from collectors.signals import Signals
from guarantees.observations import Signal
from guarantees.unknown import Unknown
from kafka_reader.connection import Connections
from kafka_reader.errors import NOT_PERMITTED
from kafka_reader.groups import ListedGroup
from kafka_reader.metadata import Topology
from kafka_reader.rights import Permitted, fetch_permitted_groups, fetch_permitted_topics

TOPIC_REFUSED = Unknown(f"{NOT_PERMITTED}: TOPIC_AUTHORIZATION_FAILED")
GROUP_REFUSED = Unknown(f"{NOT_PERMITTED}: GROUP_AUTHORIZATION_FAILED")
NOT_ASKED = Unknown("whether it is gone or hidden could not be asked")


def with_refused_topics(signals: Signals, connections: Connections, topology: Topology, running: Running) -> Topology:
    """`running` are the intervals of partitions. A topic that may not be described has not ended."""
    missing = {str(interval.value["topic"]) for interval in running.values()} - topology.topic_ids.keys()
    missing -= topology.failed.keys()
    refused = _refused(
        signals, Signal.PARTITION_STATES, missing, lambda: fetch_permitted_topics(connections, missing), TOPIC_REFUSED
    )
    return replace(topology, failed={**topology.failed, **refused}) if refused else topology


def with_refused_groups(
    signals: Signals, connections: Connections, found: GroupList, known: Mapping[str, ListedGroup]
) -> GroupList:
    """A group that may not be described is remembered, like one whose coordinator is out of reach."""
    missing = known.keys() - found.known.keys()
    refused = _refused(
        signals, Signal.GROUPS, missing, lambda: fetch_permitted_groups(connections, missing), GROUP_REFUSED
    )
    return GroupList(
        listed=found.listed,
        remembered={**found.remembered, **{group_id: known[group_id] for group_id in refused}},
        unavailable={**found.unavailable, **refused},
    )


def _refused(
    signals: Signals, signal: Signal, missing: Collection[str], ask: Callable[[], Permitted], refusal: Unknown
) -> dict[str, Unknown]:
    """Of what vanished, all that is not surely gone."""
    if not missing:
        return {}  # and no coverage: nobody was asked
    otherwise: Permitted = dict.fromkeys(missing, NOT_ASKED)
    permitted = signals.run(
        signal,
        ask,
        otherwise=otherwise,
        values=lambda answers: [refusal if answer is False else answer for answer in answers.values()],
    )
    return {
        name: answer if isinstance(answer, Unknown) else refusal
        for name, answer in permitted.items()
        if answer is not True
    }
