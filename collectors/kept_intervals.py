"""All interval tables of a round, each advanced by what it saw."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from collectors import configurations, features, groups, open_producers, open_transactions, partition_state, quorum
from collectors.group_list import GroupList
from collectors.intervals import Interval, Key, Running, Seen, Step, advance, columns, rows
from collectors.rows import Row, Rows
from guarantees.observations import Round
from guarantees.unknown import Unknown
from kafka_reader.features import Described
from kafka_reader.metadata import Topology
from kafka_reader.quorum import Quorum

# The groups nobody can describe are intervals of their own in the table of group states.
UNKNOWN_GROUPS = "unknown groups"


@dataclass(frozen=True, slots=True)
class Facts:
    """A round and what it does not keep: who was listed, which coordinators answered, the cluster itself.

    `are_states_new`: metadata was asked for in this round.
    """

    topology: Topology
    round: Round
    groups: GroupList
    transactions: open_transactions.Answers
    described: Described | None
    quorum: Quorum | Unknown
    are_states_new: bool


@dataclass(frozen=True, slots=True)
class Kept:
    """How one kind of interval is kept: in which table, which columns are details, what is seen, and what is gone."""

    table: str
    details: Sequence[str]
    seen: Callable[[Facts], Mapping[Key, Seen]]
    gone: Callable[[Facts, Interval], str | None]


KEPT: Mapping[str, Kept] = {
    partition_state.TABLE: Kept(
        partition_state.TABLE,
        partition_state.DETAILS,
        lambda facts: partition_state.seen(facts.round.states, facts.round.topic_settings),
        lambda facts, interval: partition_state.gone(facts.topology, interval),
    ),
    configurations.TABLE: Kept(
        configurations.TABLE,
        configurations.DETAILS,
        lambda facts: configurations.seen(facts.topology, facts.round.topic_settings, facts.round.ended_at_ms),
        lambda facts, interval: configurations.gone(facts.topology, interval),
    ),
    groups.STATE_TABLE: Kept(
        groups.STATE_TABLE,
        groups.STATE_DETAILS,
        lambda facts: groups.states_seen(facts.round.groups),
        lambda facts, interval: groups.group_gone(facts.round.groups, interval),
    ),
    UNKNOWN_GROUPS: Kept(
        groups.STATE_TABLE,
        groups.STATE_DETAILS,
        lambda facts: groups.unknown_seen(facts.round.groups, facts.groups, facts.round.ended_at_ms),
        lambda facts, interval: groups.known_again(facts.round.groups, interval),
    ),
    groups.MEMBER_TABLE: Kept(
        groups.MEMBER_TABLE,
        groups.MEMBER_DETAILS,
        lambda facts: groups.members_seen(facts.round.groups),
        lambda facts, interval: groups.member_gone(facts.round.groups, interval),
    ),
    open_transactions.TABLE: Kept(
        open_transactions.TABLE,
        open_transactions.DETAILS,
        lambda facts: open_transactions.seen(facts.round.transactions),
        lambda facts, interval: open_transactions.gone(facts.transactions, interval),
    ),
    open_producers.TABLE: Kept(
        open_producers.TABLE,
        open_producers.DETAILS,
        lambda facts: open_producers.seen(facts.topology, facts.round.producers),
        lambda facts, interval: open_producers.gone(facts.round.partitions, facts.round.producers, interval),
    ),
    features.BROKER_TABLE: Kept(
        features.BROKER_TABLE,
        features.DETAILS,
        lambda facts: features.brokers_seen(facts.described, facts.round.ended_at_ms),
        lambda facts, interval: features.broker_gone(facts.described, interval),
    ),
    features.VERSION_TABLE: Kept(
        features.VERSION_TABLE,
        features.DETAILS,
        lambda facts: features.versions_seen(facts.described, facts.round.ended_at_ms),
        lambda facts, interval: features.broker_gone(facts.described, interval),
    ),
    features.FEATURE_TABLE: Kept(
        features.FEATURE_TABLE,
        features.DETAILS,
        lambda facts: features.features_seen(facts.described, facts.round.ended_at_ms),
        lambda facts, interval: features.feature_gone(facts.described, interval),
    ),
    quorum.TABLE: Kept(
        quorum.TABLE,
        quorum.DETAILS,
        lambda facts: quorum.seen(facts.quorum),
        lambda facts, interval: None,
    ),
}


def advance_all(before: Mapping[str, Running], facts: Facts, gap_ms: int) -> tuple[dict[str, Running], dict[str, Rows]]:
    """The running intervals after the round, and the rows it leaves, by table."""
    steps = {name: _step(name, kept, before.get(name, {}), facts, gap_ms) for name, kept in KEPT.items()}
    written: dict[str, list[Row]] = {}
    for name, step in steps.items():
        if name != partition_state.TABLE:
            table = KEPT[name].table
            written.setdefault(table, []).extend(rows(table, facts.round.cluster_id, step.written))
    states = columns(partition_state.TABLE, facts.round.cluster_id, steps[partition_state.TABLE].written)
    return {name: step.running for name, step in steps.items()}, {**written, partition_state.TABLE: states}


def _step(name: str, kept: Kept, before: Running, facts: Facts, gap_ms: int) -> Step:
    if name == partition_state.TABLE and not facts.are_states_new:
        return Step(before, ())  # stated again as they are, they would say nothing
    gone = partial(kept.gone, facts)
    return advance(before, kept.seen(facts), gap_ms=gap_ms, now_ms=facts.round.ended_at_ms, gone=gone)
