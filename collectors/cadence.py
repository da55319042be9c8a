"""How often a round asks what seldom changes: log starts and metadata of a large cluster.

Their values stay in the rounds between, with the time at which they were observed. A cluster of few partitions is asked
everything in every round: that costs next to nothing, and what changes shows a round earlier.
"""

from collections.abc import Iterable, Mapping

from collectors.scope import Scope
from collectors.watched import Remembered
from guarantees.cadence import ASKED_LESS_OFTEN, FEW_PARTITIONS
from guarantees.observations import Coverage, PartitionOffsets, PartitionState, Signal
from guarantees.places import TopicPartition
from kafka_reader.listed_offsets import ListedOffsets
from kafka_reader.metadata import Topology

METADATA_ROUNDS = ASKED_LESS_OFTEN[Signal.PARTITION_STATES]
LOG_START_ROUNDS = ASKED_LESS_OFTEN[Signal.LOG_START]
# What fails when a broker is gone or leaders have moved.
OF_LEADERS = frozenset({Signal.PARTITION_STATES, Signal.LOG_START, Signal.END_OFFSETS, Signal.REPLICA_OFFSETS})


def remembered_topology(remembered: Remembered) -> Topology | None:
    """That of the round before where it will do; None where the brokers have to be asked.

    They are asked at once after a round in which anything failed, moved or was out of sync.
    """
    topology = remembered.topology
    if topology is None or len(topology.states) <= FEW_PARTITIONS or not remembered.is_calm:
        return None
    return None if remembered.rounds_done % METADATA_ROUNDS == 0 else topology


def remembered_log_starts(remembered: Remembered, scope: Scope) -> ListedOffsets | None:
    """Those of the round before where they will do: all known, and of the same topics, partitions and leaders."""
    log_starts = remembered.log_starts
    if log_starts is None or log_starts.unknown or scope is not remembered.scope:
        return None
    if len(log_starts) <= FEW_PARTITIONS or remembered.rounds_done % LOG_START_ROUNDS == 0:
        return None
    return log_starts


def is_calm(
    coverage: Iterable[Coverage],
    states: Mapping[TopicPartition, PartitionState],
    partitions: Mapping[TopicPartition, PartitionOffsets],
) -> bool:
    """Every leader and replica answered or refused, every replica is in sync, and who led by metadata leads still."""
    if any(each.failed for each in coverage if each.signal in OF_LEADERS):
        return False
    return all(
        state.leader is not None
        and len(state.in_sync_replicas) == len(state.replicas)
        and ((offsets := partitions.get(partition)) is None or offsets.leader_epoch == state.leader_epoch)
        for partition, state in states.items()
    )
