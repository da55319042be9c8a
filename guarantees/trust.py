"""Which answers of a round can be compared with earlier ones, and what became of the groups."""

from collections.abc import Mapping
from dataclasses import replace

from guarantees.memory import GroupSight, Memory
from guarantees.observations import GroupState, PartitionOffsets, PartitionState, Round
from guarantees.places import TopicPartition
from guarantees.rebalances import Rebalance, is_settled, rebalance
from guarantees.triage import Triage
from guarantees.unknown import Unknown


def trusted_offsets(before: Memory, observed: Round) -> dict[TopicPartition, PartitionOffsets]:
    """Answers of the round that can be true of one log.

    A replaced leader still answers for a moment: its epoch is below the highest seen. Within one epoch the high
    watermark cannot fall: such an answer is of another log (a topic made anew and not yet known as such). Both are no
    samples, and neither is an answer without a high watermark.
    """
    return {
        partition: answer
        for partition, answer in observed.partitions.items()
        if not isinstance(answer.high_watermark, Unknown)
        and _can_follow(before.offsets.get(partition), answer, answer.high_watermark)
        and not _is_behind_metadata(before, observed, partition, answer)
    }


def _can_follow(known: PartitionOffsets | None, answer: PartitionOffsets, high_watermark: int) -> bool:
    if known is None or known.topic_id != answer.topic_id or isinstance(known.high_watermark, Unknown):
        return True
    if isinstance(answer.leader_epoch, Unknown) or isinstance(known.leader_epoch, Unknown):
        return high_watermark >= known.high_watermark
    if answer.leader_epoch == known.leader_epoch:
        return high_watermark >= known.high_watermark
    return answer.leader_epoch > known.leader_epoch


def _is_behind_metadata(before: Memory, observed: Round, partition: TopicPartition, answer: PartitionOffsets) -> bool:
    """Metadata of this round too: what was answered before its election is worth nothing after it."""
    if isinstance(answer.leader_epoch, Unknown):
        return False
    for states in (observed.states, before.states):
        state = states.get(partition)
        if state is not None and state.topic_id == answer.topic_id and answer.leader_epoch < state.leader_epoch:
            return True
    return False


def distrusted_groups(before: Memory, observed: Round) -> set[str]:
    """Groups whose commits cannot be compared: the coordinator failed, fell silent, or is not the one of before.

    A new coordinator is believed from its second answer on: an old one may still answer after a failover.
    """
    failed = {group_id for group_id, state in observed.groups.items() if isinstance(state, Unknown)}
    silent = {group_id for group_id in before.groups if group_id not in observed.groups}
    return (
        failed | silent | {group_id for group_id in observed.groups if _coordinator_changed(before, observed, group_id)}
    )


def _coordinator_changed(before: Memory, observed: Round, group_id: str) -> bool:
    sight, state = before.groups.get(group_id), observed.groups[group_id]
    return sight is not None and isinstance(state, GroupState) and state.coordinator != sight.state.coordinator


def group_sights(before: Memory, observed: Round) -> tuple[dict[str, GroupSight], dict[str, Rebalance]]:
    """Every group as last seen, and the rebalances this round revealed."""
    sights, found = dict(before.groups), {}
    for group_id, state in observed.groups.items():
        if isinstance(state, Unknown):
            continue
        known = before.groups.get(group_id)
        settled = None if known is None else known.settled
        seen = None if settled is None else rebalance(settled, state)
        if seen is not None:
            found[group_id] = seen
        newest = seen if seen is not None or known is None else known.rebalance
        sights[group_id] = GroupSight(
            state,
            state if is_settled(state) else settled,
            newest,
            None if state.members else _empty_since(known, state),
        )
    return sights, found


def _empty_since(known: GroupSight | None, state: GroupState) -> int | None:
    """A group that looks dead may have been asked in another protocol's words: it says nothing."""
    if state.state != "Empty":
        return None
    if known is not None:
        return state.observed_at_ms if known.empty_since_ms is None else known.empty_since_ms
    return state.observed_at_ms if state.unchanged_since_ms is None else state.unchanged_since_ms


def missing_groups(before: Memory, observed: Round) -> frozenset[str]:
    """Groups seen before that no coordinator lists; a coordinator that does not answer leaves its groups Unknown.

    Gone is what two rounds miss: when a group moves to another coordinator, one round may ask the new one before it has
    the group and the old one after it gave it up.
    """
    return frozenset(before.groups.keys() - observed.groups.keys()) if observed.groups else before.missing_groups


def in_use(sights: Mapping[str, GroupSight], found: Triage) -> dict[str, GroupSight]:
    """A group without members whose commits move is in use: its emptiness counts from the newest move."""
    moved = {move.key.group_id for move in (*found.raised, *found.fallen)}
    used = {g: sights[g] for g in moved if g in sights and sights[g].empty_since_ms is not None}
    return {**sights, **{g: replace(s, empty_since_ms=s.state.observed_at_ms) for g, s in used.items()}}


def newest_states(
    before: Memory, observed: Round
) -> tuple[dict[TopicPartition, PartitionState], dict[TopicPartition, PartitionState]]:
    """The newest state of every partition, and the last one from before its newest change of leader epoch."""
    states, former = dict(before.states), dict(before.former_states)
    for partition, state in observed.states.items():
        known = states.get(partition)
        if known is not None and known.topic_id == state.topic_id:
            if state.leader_epoch < known.leader_epoch:
                continue
            if state.leader_epoch > known.leader_epoch:
                former[partition] = known
        states[partition] = state
    return states, former
