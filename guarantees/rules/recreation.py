"""topic_recreated, commit_of_old_topic: a topic was deleted and created anew, and commits may have outlived it (L8)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from guarantees.amounts import counted
from guarantees.findings import Bounds, Finding, Grade, Kind, Place, Statement, Unit
from guarantees.memory import Memory, Recreation
from guarantees.observations import Round
from guarantees.places import GroupPartition
from guarantees.times import utc
from guarantees.triage import Reading, Triage
from guarantees.view import View, group_place, known, number

KINDS = (Kind.COMMIT_OF_OLD_TOPIC, Kind.TOPIC_RECREATED)


@dataclass(frozen=True, slots=True)
class Skip:
    """Offsets of the new log [start, end) below a commit of the old topic, and those still to be written below it."""

    start: int
    end: int
    skipped: int
    ahead: int

    @property
    def all(self) -> int:
        return self.skipped + self.ahead

    @property
    def described(self) -> str:
        written = f"{counted(self.skipped, 'offset')} from {self.start:,} on" if self.skipped else ""
        ahead = f"{counted(self.ahead, 'offset')} still to be written" if self.ahead else ""
        return " and ".join(part for part in (written, ahead) if part)


def opened(view: View) -> Iterator[Finding]:
    """Two rounds show a new topic id. A commit that has not changed since the old one was made on the old topic.

    One round alone may see the commit in the moment before the coordinator deletes it with its topic.
    """
    ids = _topic_ids(view.round)
    for topic, change in sorted(view.before.recreated.items()):
        if ids.get(topic) == change.new_topic_id:
            yield _recreated(view, topic, change)
            yield from _commits(view, change)


def continued(finding: Finding, view: View) -> Finding:
    """A new id is an event and closes at once; a commit of the old topic when the group has moved it."""
    if finding.kind is Kind.TOPIC_RECREATED:
        return replace(finding, closed_reason="the new topic is watched from its start")
    reading = view.reading(finding.place)
    if reading is None:
        return finding
    seen = replace(finding, last_seen_at_ms=reading.commit.observed_at_ms)
    old = number(finding.evidence, "committed_offset")
    if reading.committed_offset < old:
        return replace(seen, closed_reason=f"the group went back to {reading.committed_offset:,}")
    if reading.committed_offset > old:
        return replace(seen, closed_reason=f"the group read on from {old:,}; what it skipped stays unread")
    return seen


def remember(before: Memory, observed: Round, found: Triage) -> dict[str, Recreation]:
    """Topics with another id than before. An id that was replaced is old metadata and not a third topic."""
    waiting = {topic: change for topic, change in before.recreated.items() if topic not in _topic_ids(observed)}
    changed = {
        partition.topic: (last, state)
        for partition, state in observed.states.items()
        if (last := before.states.get(partition)) is not None and last.topic_id != state.topic_id
    }
    for topic, (last, state) in changed.items():
        earlier = before.recreated.get(topic)
        if earlier is None or earlier.old_topic_id != state.topic_id:
            carried = {r.key: r.committed_offset for r in found.carried if r.key.topic == topic}
            waiting[topic] = Recreation(
                last.topic_id, state.topic_id, last.observed_at_ms, state.observed_at_ms, carried
            )
    return waiting


def _topic_ids(observed: Round) -> dict[str, str]:
    return {partition.topic: state.topic_id for partition, state in observed.states.items()}


def _commits(view: View, change: Recreation) -> Iterator[Finding]:
    for key, committed_offset in sorted(change.carried.items()):
        place = group_place(view.cluster_id, key, change.new_topic_id)
        reading = view.reading(place)
        if reading is not None and reading.committed_offset == committed_offset:
            finding = _commit(place, key, reading, change)
            if finding is not None:
                yield finding


def _recreated(view: View, topic: str, change: Recreation) -> Finding:
    return Finding(
        kind=Kind.TOPIC_RECREATED,
        place=Place(view.cluster_id, topic, change.new_topic_id),
        anchor=f"after {change.old_topic_id}",
        severity=1,
        title=f"{topic} was deleted and created anew",
        statements=(
            Statement(
                Grade.PROVEN,
                f"{topic} had the id {change.old_topic_id} ({utc(change.last_seen_old_at_ms)}) and has "
                f"{change.new_topic_id} ({utc(change.first_seen_new_at_ms)}): its records and offsets are others.",
            ),
        ),
        bounds=None,
        evidence={
            "old_topic_id": change.old_topic_id,
            "new_topic_id": change.new_topic_id,
            "last_seen_old_at_ms": change.last_seen_old_at_ms,
            "first_seen_new_at_ms": change.first_seen_new_at_ms,
        },
        happened_at_ms=change.first_seen_new_at_ms,
        last_seen_at_ms=view.round.ended_at_ms,
    )


def _commit(place: Place, key: GroupPartition, reading: Reading, change: Recreation) -> Finding | None:
    if reading.offsets is None or not isinstance(reading.offsets.log_start_offset, int):
        return None
    start, end = reading.offsets.log_start_offset, known(reading.offsets.high_watermark)
    committed = reading.committed_offset
    skipped, ahead = max(0, min(committed, end) - start), max(0, committed - end)
    if skipped + ahead == 0:
        return None
    return _carried(place, key, reading, change, Skip(start, end, skipped, ahead))


def _carried(place: Place, key: GroupPartition, reading: Reading, change: Recreation, skip: Skip) -> Finding:
    where, committed = f"{key.topic}-{key.partition}", reading.committed_offset
    return Finding(
        kind=Kind.COMMIT_OF_OLD_TOPIC,
        place=place,
        anchor=f"commit {committed} of {change.old_topic_id}",
        severity=4,
        title=f"{key.group_id} skips {counted(skip.all, 'offset')} of {where}, which was created anew",
        statements=(
            Statement(
                Grade.PROBABLE,
                f"{key.group_id} skips {skip.described} of the new {where}.",
                "the commit was made on the old topic: it is the same as before the topic was created anew",
            ),
            Statement(
                Grade.PROVEN,
                f"Commit {committed:,} stood on the topic {change.old_topic_id} and stands on {change.new_topic_id}, "
                f"whose log runs from {skip.start:,} to {skip.end:,}.",
            ),
        ),
        bounds=Bounds(0, skip.all, skip.all, Unit.OFFSETS),
        evidence={
            "old_topic_id": change.old_topic_id,
            "new_topic_id": change.new_topic_id,
            "committed_offset": committed,
            "log_start_offset": skip.start,
            "high_watermark": skip.end,
            "skipped": skip.skipped,
            "ahead": skip.ahead,
            "commit_observed_at_ms": reading.commit.observed_at_ms,
        },
        happened_at_ms=change.first_seen_new_at_ms,
        last_seen_at_ms=reading.commit.observed_at_ms,
    )
