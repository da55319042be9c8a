"""partitions_added: a topic has more partitions than before, so keys move to others (L9)."""

from collections.abc import Iterator
from dataclasses import replace

from guarantees.amounts import counted
from guarantees.findings import Evidence, Finding, Grade, Kind, Place, Statement
from guarantees.observations import Signal
from guarantees.places import TopicPartition
from guarantees.times import utc
from guarantees.view import View, numbers, present


def opened(view: View) -> Iterator[Finding]:
    """Partitions that were not there before, of a topic with the same id that was; the others of a topic are never
    left out by the metadata that names it.
    """
    if not view.before.states:
        return
    added: dict[str, list[int]] = {}
    for partition in view.round.states.keys() - view.before.states.keys():
        added.setdefault(partition.topic, []).append(partition.partition)
    for topic, partitions in sorted(added.items()):
        first = TopicPartition(topic, 0)
        known, state = view.before.states.get(first), view.round.states.get(first)
        if known is not None and state is not None and known.topic_id == state.topic_id:
            yield _finding(view, Place(view.cluster_id, topic, state.topic_id), min(partitions), max(partitions) + 1)


def continued(finding: Finding, view: View) -> Finding:
    """Closes when no group has anything left to read of what the old partitions held at the change."""
    coverage = view.coverage(Signal.COMMITTED_OFFSETS)
    if coverage is None or not coverage.is_complete:
        return finding
    seen = replace(finding, last_seen_at_ms=view.round.ended_at_ms)
    ends = _old_ends(finding.evidence)
    is_behind = any(
        reading.key.topic == finding.place.topic and reading.committed_offset < ends.get(reading.key.partition, 0)
        for reading in view.triage.behind
    )
    return seen if is_behind else replace(seen, closed_reason="every group has read what the old partitions held")


def _old_ends(evidence: Evidence) -> dict[int, int]:
    return {int(partition): end for partition, end in numbers(evidence, "high_watermarks_before").items()}


def _finding(view: View, place: Place, before: int, after: int) -> Finding:
    ends = {
        str(index): offsets.high_watermark
        for index in range(before)
        if (offsets := view.offsets.get(TopicPartition(present(place.topic), index))) is not None
    }
    return Finding(
        kind=Kind.PARTITIONS_ADDED,
        place=place,
        anchor=f"{before} -> {after} partitions",
        severity=2,
        title=f"{place.topic} has {after:,} partitions instead of {before:,}",
        statements=(
            Statement(
                Grade.PROVEN,
                f"{place.topic} had {counted(before, 'partition')} and has {after:,} "
                f"(seen {utc(view.round.ended_at_ms)}).",
            ),
            Statement(
                Grade.POSSIBLE,
                "Records of one key may be read out of order: a producer that hashes keys over the number of "
                "partitions writes them to another one, while older ones wait in the old.",
            ),
        ),
        bounds=None,
        evidence={"partitions_before": before, "partitions": after, "high_watermarks_before": ends},
        happened_at_ms=view.round.ended_at_ms,
        last_seen_at_ms=view.round.ended_at_ms,
    )
