"""Topics and groups that are no longer listed: gone, or no longer to be seen? Asked by name, a broker says which.

Only what was known and vanished is asked for, so in most rounds nobody is.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from collectors.group_list import GroupList
from collectors.intervals import Running
from guarantees.unknown import Unknown
from kafka_reader.errors import NOT_PERMITTED
from kafka_reader.groups import ListedGroup
from kafka_reader.metadata import Topology
from kafka_reader.rights import Permitted

TOPIC_REFUSED = Unknown(f"{NOT_PERMITTED}: TOPIC_AUTHORIZATION_FAILED")
GROUP_REFUSED = Unknown(f"{NOT_PERMITTED}: GROUP_AUTHORIZATION_FAILED")


def topics(topology: Topology, running: Running) -> set[str]:
    """Topics of running intervals that the cluster's list no longer names."""
    known = {str(interval.value["topic"]) for interval in running.values()}
    return known - topology.topic_ids.keys() - topology.failed.keys()


def with_refused_topics(topology: Topology, permitted: Permitted) -> Topology:
    """A topic that may not be described has not ended; one that nobody could be asked about may not have."""
    refused = _refused(permitted, TOPIC_REFUSED)
    return replace(topology, failed={**topology.failed, **refused}) if refused else topology


def groups(found: GroupList, known: Iterable[str]) -> list[str]:
    """Known groups nobody lists, although their coordinator answered."""
    return [group_id for group_id in known if group_id not in found.known]


def with_refused_groups(found: GroupList, known: Mapping[str, ListedGroup], permitted: Permitted) -> GroupList:
    """A group that may not be described is remembered, like one whose coordinator is out of reach."""
    refused = _refused(permitted, GROUP_REFUSED)
    return GroupList(
        listed=found.listed,
        remembered={**found.remembered, **{group_id: known[group_id] for group_id in refused}},
        unavailable={**found.unavailable, **refused},
    )


def values(permitted: Permitted, refusal: Unknown) -> list[object]:
    """Everything asked for."""
    return [refusal if answer is False else answer for answer in permitted.values()]


def _refused(permitted: Permitted, refusal: Unknown) -> dict[str, Unknown]:
    return {
        name: answer if isinstance(answer, Unknown) else refusal
        for name, answer in permitted.items()
        if answer is not True
    }
