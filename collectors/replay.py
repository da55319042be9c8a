"""The rounds before a restart, put together again from their rows: the inverse of what a round writes."""

from collections.abc import Iterable, Iterator, Mapping

from collectors import (
    committed_offsets,
    configurations,
    end_offsets,
    epoch_ends,
    from_rows,
    groups,
    open_producers,
    open_transactions,
    partition_state,
    rebalances,
    replica_offsets,
    rounds,
)
from collectors.epoch_ends import EpochsKnown
from collectors.kept_intervals import UNKNOWN_GROUPS
from collectors.rows import Row
from collectors.stored import Stored
from collectors.watched import Remembered
from guarantees.observations import GroupState, Round
from guarantees.places import TopicPartition
from store.coverage import coverage as coverage_of


def replayed_rounds(kept: Stored) -> Iterator[Round]:
    """The stored rounds of the last 15 minutes, the oldest first."""
    for tick, rows in kept.samples_by_tick():
        yield stored_round(kept.last.cluster_id, tick, rows, kept.intervals)


def remembered(kept: Stored) -> Remembered:
    """What the next round has to know of the last ones."""
    settled: dict[str, GroupState] = {}
    reads: dict[str, frozenset[TopicPartition]] = {}
    epochs = EpochsKnown()
    for observed in replayed_rounds(kept):
        settled = rebalances.settled_states(settled, groups.known(observed.groups))
        reads |= partitions_with_commits(observed)
        epochs = epoch_ends.known_after(epochs, observed)
    running = kept.running
    listed = [*running[UNKNOWN_GROUPS].values(), *running[groups.STATE_TABLE].values()]
    return Remembered(
        groups={str(each.key[0]): from_rows.listed_group(each) for each in listed},
        reads=reads,
        settled=settled,
        epochs=epochs,
        intervals=running,
    )


def partitions_with_commits(observed: Round) -> dict[str, frozenset[TopicPartition]]:
    """Of each group the partitions it has committed on, as far as the round knows."""
    found: dict[str, set[TopicPartition]] = {}
    for key, commit in observed.commits.items():
        if commit.committed_offset is not None:
            found.setdefault(key.group_id, set()).add(key.topic_partition)
    return {group_id: frozenset(partitions) for group_id, partitions in found.items()}


def stored_round(
    cluster_id: str, tick: int, rows: Mapping[str, Iterable[Row]], intervals: from_rows.Intervals
) -> Round:
    """One round, of rows that are read once. Facts kept as intervals are those that held while it ran."""
    coverage = tuple(
        coverage_of(row, from_rows.whole(row["started_at"]), from_rows.whole(row["observed_at"]))
        for row in rows[rounds.TABLE]
    )
    started_at_ms = min(each.started_at_ms for each in coverage)
    ended_at_ms = max(each.ended_at_ms for each in coverage)
    held = {
        name: [each for each in of_kind if each.started_at_ms <= ended_at_ms and each.last_seen_at_ms >= started_at_ms]
        for name, of_kind in intervals.items()
    }
    states = held[partition_state.TABLE]
    return Round(
        cluster_id=cluster_id,
        tick=tick,
        started_at_ms=started_at_ms,
        ended_at_ms=ended_at_ms,
        partitions={from_rows.partition(row): from_rows.offsets(row) for row in rows[end_offsets.TABLE]},
        replicas=from_rows.replicas(rows[replica_offsets.TABLE]),
        commits={from_rows.group_partition(row): from_rows.commit(row) for row in rows[committed_offsets.TABLE]},
        states={
            TopicPartition(str(each.value["topic"]), from_rows.whole(each.key[1])): from_rows.partition_state(
                each, ended_at_ms
            )
            for each in states
        },
        groups=from_rows.group_states(held, ended_at_ms),
        transactions=tuple(from_rows.transaction(each, ended_at_ms) for each in held[open_transactions.TABLE]),
        producers=from_rows.producers(held[open_producers.TABLE], ended_at_ms),
        epoch_ends=from_rows.epoch_ends(rows[epoch_ends.TABLE]),
        topic_settings=dict(configurations.stored(each) for each in held[configurations.TABLE]),
        coverage=coverage,
    )
