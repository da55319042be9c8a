"""From what a round read of Kafka's own topics to rows, and to what the next round has to know of it."""

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from collectors import commit_history, group_history, internal_tail, log_ledger, rebalances, transaction_timeline
from collectors.internal_tail import LogReading, Tail
from collectors.log_ledger import Unstored
from collectors.rows import Row
from guarantees.commit_history import commit_events
from guarantees.group_history import Followed, GroupChange, group_changes
from guarantees.internal_records import CONSUMER_OFFSETS, TRANSACTION_STATE, Committed, Logged, Undecoded
from guarantees.observations import GroupState
from guarantees.places import GroupPartition
from guarantees.rebalances import Rebalance
from guarantees.transaction_timeline import FollowedId, transaction_steps
from kafka_reader.internal_records import group_record, transaction_record
from kafka_reader.keyed_records import KeyedRecord
from settings import ClusterSettings

T = TypeVar("T")

TABLES = {
    CONSUMER_OFFSETS: (commit_history.TABLE, rebalances.TABLE),
    TRANSACTION_STATE: (transaction_timeline.TABLE,),
}
# Records without which a group cannot be followed.
_OF_GROUPS = frozenset(f"key {number}" for number in (2, 3, 5, 6, 7, 8))


@dataclass(frozen=True, slots=True)
class Histories:
    """What a round takes from the one before. `sampled_at_ms`: of each group the newest rebalance told by samples."""

    group_tail: Tail = field(default_factory=Tail)
    transaction_tail: Tail = field(default_factory=Tail)
    commits: Mapping[GroupPartition, Committed | None] = field(default_factory=dict)
    groups: Followed = field(default_factory=dict)
    transactional_ids: Mapping[str, FollowedId] = field(default_factory=dict)
    sampled_at_ms: Mapping[str, int] = field(default_factory=dict)
    unstored: Unstored = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sampled:
    """What the same round's samples show of groups: their states, and the rebalances between this one and earlier."""

    states: Mapping[str, GroupState]
    changes: Mapping[str, Rebalance]


@dataclass(frozen=True, slots=True)
class Told:
    """The rows of a round, those of the samples' rebalances that no record tells among them."""

    rows: Mapping[str, list[Row]]
    histories: Histories


@dataclass(frozen=True, slots=True)
class Context:
    """Of whom and when the readings are."""

    settings: ClusterSettings
    cluster_id: str
    tick: int
    topic_names: Mapping[str, str]
    now_ms: int


def resumed(data_dir: Path, cluster_id: str, before_ms: int, settled: Mapping[str, GroupState]) -> Histories:
    """After a restart, the last round being `before_ms`: nothing twice, groups followed from their settled samples."""
    tails, unstored = log_ledger.resumed(data_dir, cluster_id, before_ms, TABLES)
    groups = group_history.with_sampled({}, settled)
    return Histories(tails[CONSUMER_OFFSETS], tails[TRANSACTION_STATE], groups=groups, unstored=unstored)


def told(
    before: Histories, group_log: LogReading, transaction_log: LogReading, sampled: Sampled, context: Context
) -> Told:
    """The commits, rebalances and transaction steps of a round."""
    of_groups = _of_group_log(before, group_log, sampled, context)
    of_ids = _of_transaction_log(of_groups.histories, transaction_log, context)
    ranges = [*of_groups.rows[log_ledger.TABLE], *of_ids.rows[log_ledger.TABLE]]
    return Told({**of_groups.rows, **of_ids.rows, log_ledger.TABLE: ranges}, of_ids.histories)


def _of_group_log(before: Histories, reading: LogReading, sampled: Sampled, context: Context) -> Told:
    records = decoded(reading, group_record)
    commits, commit_rows = _commits(before, reading, records, context)
    groups, changes = _changes(before, reading, records, context)
    by_records = _told_by_records(before, reading, groups, context.now_ms)
    by_samples = {name: one for name, one in sampled.changes.items() if name not in by_records}
    # What samples told first, while the log waited for a transaction, say, is not told again.
    new = [each for each in changes if each.record.at_ms > before.sampled_at_ms.get(each.group_id, -1)]
    rebalance_rows = group_history.rows(context.cluster_id, context.tick, new, read_at_ms(reading))
    return Told(
        {
            commit_history.TABLE: log_ledger.not_stored(commit_history.TABLE, commit_rows, before.unstored),
            rebalances.TABLE: [
                *rebalances.rows(context.cluster_id, context.tick, by_samples),
                *log_ledger.not_stored(rebalances.TABLE, rebalance_rows, before.unstored),
            ],
            log_ledger.TABLE: log_ledger.rows(context.cluster_id, reading, records),
        },
        replace(
            before,
            group_tail=internal_tail.after(before.group_tail, reading),
            commits=commits,
            groups=group_history.with_sampled(groups, _quiet(sampled.states, reading, records)),
            sampled_at_ms={**before.sampled_at_ms, **{name: one.observed_at_ms for name, one in by_samples.items()}},
        ),
    )


def _commits(
    before: Histories, reading: LogReading, records: Iterable[Logged], context: Context
) -> tuple[Mapping[GroupPartition, Committed | None], list[Row]]:
    lost = internal_tail.broken(reading)
    known = before.commits
    if lost:
        known = {place: one for place, one in known.items() if not reading.lies_in(place.group_id, lost)}
    commits, events = commit_events(known, commit_history.watched(context.settings, records))
    return commits, commit_history.rows(context.cluster_id, events, read_at_ms(reading))


def _changes(
    before: Histories, reading: LogReading, records: list[Logged], context: Context
) -> tuple[Followed, list[GroupChange]]:
    """The groups that can be followed on, and their rebalances."""
    followed = _without(before.groups, reading, internal_tail.broken(reading))
    groups, changes = group_changes(followed, _watched_groups(context.settings, records), context.topic_names)
    return _without(groups, reading, _unreadable(records)), changes


def _told_by_records(before: Histories, reading: LogReading, groups: Followed, now_ms: int) -> Set[str]:
    """Groups that were followed when the round began, and whose log it read to the end with nothing left out."""
    followed = _without(before.groups, reading, internal_tail.broken(reading))
    both = group_history.told_by_records(followed, now_ms) & group_history.told_by_records(groups, now_ms)
    return {name for name in both if reading.lies_in(name, reading.at_end)}


def _quiet(states: Mapping[str, GroupState], reading: LogReading, records: Iterable[Logged]) -> dict[str, GroupState]:
    """Samples that the log, read to its end after them, does not contradict: it speaks of these groups no more."""
    touched = {getattr(each.content, "group_id", None) for each in records}
    at_end = reading.at_end
    return {name: one for name, one in states.items() if name not in touched and reading.lies_in(name, at_end)}


def _of_transaction_log(before: Histories, reading: LogReading, context: Context) -> Told:
    records = decoded(reading, transaction_record)
    known = _without(before.transactional_ids, reading, internal_tail.broken(reading))
    ids, steps = transaction_steps(known, records)
    found = transaction_timeline.rows(context.cluster_id, steps, read_at_ms(reading))
    return Told(
        {
            transaction_timeline.TABLE: log_ledger.not_stored(transaction_timeline.TABLE, found, before.unstored),
            log_ledger.TABLE: log_ledger.rows(context.cluster_id, reading, records),
        },
        replace(before, transaction_tail=internal_tail.after(before.transaction_tail, reading), transactional_ids=ids),
    )


def decoded(reading: LogReading, decode: Callable[[int, KeyedRecord], Logged]) -> list[Logged]:
    """All records of a reading, partition after partition: what belongs together lies in one."""
    return [decode(number, record) for number, one in reading.answers.items() for record in one.records]


def read_at_ms(reading: LogReading) -> dict[int, int]:
    """When each partition's answer arrived."""
    return {number: one.observed_at_ms for number, one in reading.answers.items()}


def _without(entries: Mapping[str, T], reading: LogReading, partitions: Set[int]) -> Mapping[str, T]:
    """Without what lies in these partitions of the log: groups or transactional ids by name."""
    return (
        {name: one for name, one in entries.items() if not reading.lies_in(name, partitions)} if partitions else entries
    )


def _watched_groups(settings: ClusterSettings, records: Iterable[Logged]) -> list[Logged]:
    """Records of groups that are watched; those of commits have no place here."""
    return [
        record
        for record in records
        if (name := getattr(record.content, "group_id", None)) is not None and settings.watches_group(name)
    ]


def _unreadable(records: Iterable[Logged]) -> frozenset[int]:
    """Partitions with a record of a group that could not be read: whose it was is not known."""
    return frozenset(
        record.partition
        for record in records
        if isinstance(record.content, Undecoded) and record.content.name in _OF_GROUPS
    )
