"""All interval tables of a round, each advanced by what it saw."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from collectors import configurations, groups, open_producers, open_transactions, partition_state
from collectors.group_list import GroupList
from collectors.intervals import Interval, Key, Running, Seen, Step, advance, columns, rows
from collectors.rows import Row, Rows
from guarantees.observations import Round
from kafka_reader.metadata import Topology

# The groups nobody can describe are intervals of their own in the table of group states.
UNKNOWN_GROUPS = "unknown groups"


@dataclass(frozen=True, slots=True)
class Facts:
    """A round and what it does not keep: who was listed, which coordinators answered, whether metadata was asked."""

    topology: Topology
    round: Round
    groups: GroupList
    transactions: open_transactions.Answers
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
