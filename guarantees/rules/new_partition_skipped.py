"""new_partition_skipped: a group's first commit on an added partition lies above what was there at discovery (C9)."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from guarantees.amounts import counted
from guarantees.findings import Bounds, Finding, Grade, Kind, Statement, Unit
from guarantees.memory import GroupSight, Memory
from guarantees.observations import PartitionOffsets, PartitionState
from guarantees.places import GroupPartition, TopicPartition
from guarantees.triage import Reading
from guarantees.view import View, group_place, known


def opened(view: View) -> Iterator[Finding]:
    """A consumer that starts at latest learns of an added partition late and skips what was produced before (KIP-1327).

    Silent where the partition was empty when a member was first seen to own it, and where the first commit lies below
    that end: then the group reads from the start. A first commit at exactly that end, with more behind it, is where the
    group began; above it, a group at the start that reads fast looks the same as one that skipped.
    """
    for reading in view.triage.first:
        at_discovery = view.now.discovered.get(reading.key)
        start = None if reading.offsets is None else reading.offsets.log_start_offset
        if view.before.added.get(reading.key.topic_partition) != reading.commit.topic_id or not isinstance(start, int):
            continue
        if at_discovery is not None and start < at_discovery <= reading.committed_offset:
            yield _finding(view, reading, start, at_discovery)


def continued(finding: Finding, view: View) -> Finding:
    """Over with the next known commit: nothing more can be learnt."""
    reading = view.reading(finding.place)
    if reading is None:
        return finding
    seen = replace(finding, last_seen_at_ms=reading.commit.observed_at_ms)
    return replace(
        seen, closed_reason=f"the group went on from {reading.committed_offset:,}; what it skipped stays unread"
    )


def remember(
    before: Memory,
    states: Mapping[TopicPartition, PartitionState],
    offsets: Mapping[TopicPartition, PartitionOffsets],
    groups: Mapping[str, GroupSight],
) -> tuple[dict[TopicPartition, str], dict[GroupPartition, int]]:
    """Partitions that known topics grew by, and where each ended when a group was first seen to own it."""
    added = {**before.added, **_grown(before.states, states)}
    discovered = dict(before.discovered)
    for group_id, sight in groups.items() if added else ():
        owned = {p for m in sight.state.members for p in m.assignment} & added.keys()
        for partition in owned & offsets.keys():
            key = GroupPartition(group_id, partition.topic, partition.partition)
            discovered.setdefault(key, known(offsets[partition].high_watermark))
    return added, discovered


def _grown(
    before: Mapping[TopicPartition, PartitionState], states: Mapping[TopicPartition, PartitionState]
) -> dict[TopicPartition, str]:
    """Only partitions above all known ones: one of the middle was there and could not be read."""
    new = {partition: states[partition].topic_id for partition in states.keys() - before.keys()}
    if not new:
        return {}
    last: dict[tuple[str, str], int] = {}
    for partition, state in before.items():
        name = partition.topic, state.topic_id
        last[name] = max(last.get(name, 0), partition.partition)
    return {p: topic_id for p, topic_id in new.items() if p.partition > last.get((p.topic, topic_id), p.partition)}


def _finding(view: View, reading: Reading, start: int, at_discovery: int) -> Finding:
    key, committed = reading.key, reading.committed_offset
    where, is_at_end = f"{key.topic}-{key.partition}", _began_at_end(reading, at_discovery)
    # What came after the group had the partition, it may have read before its first commit.
    most = at_discovery - start
    return Finding(
        kind=Kind.NEW_PARTITION_SKIPPED,
        place=group_place(view.cluster_id, key, reading.commit.topic_id),
        anchor=f"first commit {committed}",
        severity=4 if is_at_end else 2,
        title=f"{key.group_id} may have skipped up to {counted(most, 'offset')} of the new partition {where}",
        statements=_statements(reading, start, at_discovery, is_at_end=is_at_end),
        bounds=Bounds(0, None, most, Unit.OFFSETS),
        evidence={
            "committed_offset": committed,
            "log_start_offset": start,
            "high_watermark_at_discovery": at_discovery,
        },
        happened_at_ms=reading.commit.observed_at_ms,
        last_seen_at_ms=reading.commit.observed_at_ms,
    )


def _began_at_end(reading: Reading, at_discovery: int) -> bool:
    has_more = reading.offsets is not None and known(reading.offsets.high_watermark) > at_discovery
    return reading.committed_offset == at_discovery and has_more


def _statements(reading: Reading, start: int, at_discovery: int, *, is_at_end: bool) -> tuple[Statement, ...]:
    key = reading.key
    skipped = (
        f"Up to {counted(at_discovery - start, 'offset')} of the new partition {key.topic}-{key.partition}, from "
        f"{start:,} to {at_discovery - 1:,}, were skipped by {key.group_id}"
    )
    seen = Statement(
        Grade.PROVEN,
        f"The group's first commit there is {reading.committed_offset:,}, and the partition ended at {at_discovery:,} "
        "when a member was first seen to own it.",
    )
    if is_at_end:
        assumption = "a first commit at exactly that end, with more behind it, is where the group began"
        return Statement(Grade.PROBABLE, f"{skipped}: it began at the end.", assumption), seen
    why = Statement(Grade.NOT_OBSERVABLE, "Whether auto.offset.reset is latest, or earliest and read within a round.")
    return Statement(Grade.POSSIBLE, f"{skipped}, or were read before the first commit."), seen, why
