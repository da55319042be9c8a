"""Who was elected, and whether it was in sync when last seen (KIP-966: an eligible replica is elected without loss)."""

from collections.abc import Mapping
from dataclasses import dataclass

from guarantees.memory import Memory
from guarantees.observations import PartitionState, Round
from guarantees.places import TopicPartition


@dataclass(frozen=True, slots=True)
class Election:
    """A leader in a newer epoch than the state seen before; with a jump of several epochs not the only one."""

    before: PartitionState
    after: PartitionState


def elections(before: Memory, observed: Round) -> dict[TopicPartition, Election]:
    """Partitions whose leader this round shows in a newer epoch."""
    found = {}
    for partition, state in observed.states.items():
        known = before.states.get(partition)
        if known is None or state.leader_epoch <= known.leader_epoch or state.leader is None:
            continue
        if known.topic_id == state.topic_id:
            found[partition] = Election(known, state)
    return found


def last_state_before(
    memory: Memory, partition: TopicPartition, topic_id: str | None, leader_epoch: int
) -> PartitionState | None:
    """The newest state of the partition from before a leader epoch."""
    kept: tuple[Mapping[TopicPartition, PartitionState], ...] = (memory.states, memory.former_states)
    for states in kept:
        state = states.get(partition)
        if state is not None and state.topic_id == topic_id and state.leader_epoch < leader_epoch:
            return state
    return None


def is_outside(last: PartitionState | None, leader: int | None) -> bool | None:
    """The leader was neither in sync nor eligible; None where that was not seen.

    Nobody in sync and nobody asked who is eligible: the last in-sync replica may have been. A broker that was no
    replica at all has been assigned since, and becomes leader in order once it has caught up.
    """
    if last is None or leader not in last.replicas:
        return None
    if not last.in_sync_replicas and last.eligible_leader_replicas is None:
        return None
    return leader not in {*last.in_sync_replicas, *(last.eligible_leader_replicas or ())}


def is_last_known(last: PartitionState, leader: int | None) -> bool:
    """Nobody was in sync or eligible, and the leader is the last that had been (KIP-966, LastKnownElr)."""
    nobody = not last.in_sync_replicas and last.eligible_leader_replicas == ()
    return nobody and leader in (last.last_known_eligible_leader_replicas or ())
