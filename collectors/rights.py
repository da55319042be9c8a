"""What may be described beyond what was listed, asked in every Nth round: refusals are logged by a careful broker.

Brokers leave out of their lists what the principal may not describe, without a word. So each pattern of the settings is
tried with a name that nobody has: refused, what the list shows may not be all, and "none seen" is not "none". A rule
that denies single names inside a permitted pattern cannot be noticed.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from guarantees.observations import GroupState
from guarantees.unknown import Unknown
from kafka_reader import rights as ask
from kafka_reader.connection import Connections
from kafka_reader.errors import NOT_PERMITTED
from kafka_reader.metadata import Topology
from kafka_reader.rights import Permitted
from settings import ClusterSettings, PipelineSettings

# Stands for whatever a pattern's wildcards match; it says for itself why it is asked for.
NOBODYS = "5f0c2b7e-tidemark-asks-what-it-may-describe"

LEFT_OUT = "what may not be described is left out, none seen is not none"

EVERY_ID = "*"


@dataclass(frozen=True, slots=True)
class Rights:
    """May everything be described that a pattern of the settings matches, or that a pipeline names."""

    topics: Permitted = field(default_factory=dict)
    groups: Permitted = field(default_factory=dict)
    transactional_ids: Permitted = field(default_factory=dict)


def unknown(topics: Iterable[str], groups: Iterable[str]) -> Rights:
    """Where asking itself failed."""
    reason = Unknown("the rights could not be asked for")
    return Rights(dict.fromkeys(topics, reason), dict.fromkeys(groups, reason), {EVERY_ID: reason})


def collect(connections: Connections, topics: Collection[str], groups: Collection[str]) -> Rights:
    """Each pattern and name once; any broker may answer."""
    found = Rights(
        topics=_by_pattern(topics, ask.fetch_permitted_topics(connections, map(name_like, topics))),
        groups=_by_pattern(groups, ask.fetch_permitted_groups(connections, map(name_like, groups))),
        transactional_ids=_by_pattern(
            [EVERY_ID], ask.fetch_permitted_transactional_ids(connections, [name_like(EVERY_ID)])
        ),
    )
    return with_cluster_rights(found, ask.fetch_cluster_operations(connections))


def named(settings: ClusterSettings, pipelines: Iterable[PipelineSettings]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The patterns and names of topics and of groups that somebody wants to have watched."""
    own = list(pipelines)
    topics = [*settings.include_topics, *(each for p in own for each in (p.source, p.sink) if each is not None)]
    return tuple(dict.fromkeys(topics)), tuple(dict.fromkeys([*settings.include_groups, *(p.group for p in own)]))


def hidden_reads(states: Iterable[GroupState | Unknown], topology: Topology) -> list[str]:
    """Topics that members of visible groups read and the cluster's list does not name: hidden, or deleted meanwhile."""
    read = {
        partition.topic
        for state in states
        if isinstance(state, GroupState)
        for member in state.members
        for partition in member.assignment
    }
    return sorted(read - topology.topic_ids.keys() - topology.failed.keys())


def name_like(pattern: str) -> str:
    """A name that nobody has and the pattern matches; without wildcards there is but the one, which it may be."""
    name = re.sub(r"\[!?([^]])[^]]*\]", r"\1", pattern).replace("*", NOBODYS).replace("?", "x")
    return name if fnmatchcase(name, pattern) else pattern


def is_pattern(name: str) -> bool:
    return any(wildcard in name for wildcard in "*?[")


def with_cluster_rights(rights: Rights, operations: ask.Operations | Unknown) -> Rights:
    """Who may describe the cluster is shown every group (KafkaApis.handleListGroupsRequest)."""
    if isinstance(operations, Unknown) or ask.DESCRIBE not in operations:
        return rights
    groups = {name: is_pattern(name) or permitted for name, permitted in rights.groups.items()}
    return replace(rights, groups=groups)


def values(rights: Rights) -> Iterator[object]:
    """Everything asked for, Unknown where it is refused or nobody answered."""
    for what, permitted in (
        ("topic", rights.topics),
        ("group", rights.groups),
        ("transactional id", rights.transactional_ids),
    ):
        for name, answer in permitted.items():
            yield _refusal(what, name) if answer is False else answer


def hidden_transactions(rights: Rights) -> tuple[Unknown, ...]:
    """Why a list of open transactions may not be all of them."""
    return tuple(_refusal("transactional id", name) for name, may in rights.transactional_ids.items() if may is False)


def _refusal(what: str, name: str) -> Unknown:
    if not is_pattern(name):
        return Unknown(f"{NOT_PERMITTED}: DESCRIBE on {what} {name}")
    matching = f"every {what}" if name == EVERY_ID else f"every {what} like {name}"
    return Unknown(f"{NOT_PERMITTED}: DESCRIBE on {matching}: {LEFT_OUT}")


def _by_pattern(patterns: Iterable[str], permitted: Permitted) -> Permitted:
    return {pattern: permitted[name_like(pattern)] for pattern in patterns}
