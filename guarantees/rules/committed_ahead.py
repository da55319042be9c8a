"""committed_ahead: a commit lies beyond the end of the log (L8, L3, X2), so records still to come will be skipped."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from guarantees.amounts import counted
from guarantees.findings import Bounds, Evidence, Finding, Grade, Kind, Statement, Unit
from guarantees.memory import Memory
from guarantees.observations import CommittedOffset, PartitionOffsets, Round
from guarantees.places import GroupPartition, TopicPartition
from guarantees.times import utc
from guarantees.triage import Reading, known_reading
from guarantees.view import View, group_place, known, listed, number, present


def opened(view: View) -> Iterator[Finding]:
    """In two consecutive rounds a commit, read first, exceeded the high watermark of the same topic id, read later."""
    for reading in view.triage.ahead:
        place = group_place(view.cluster_id, reading.key, reading.commit.topic_id)
        first = view.before.ahead.get(reading.key)
        if first is None or first.topic_id != reading.commit.topic_id:
            continue
        if (Kind.COMMITTED_AHEAD, place) not in view.open_places:
            yield _finding(view, reading, known(first.committed_offset), first.observed_at_ms)


def continued(finding: Finding, view: View) -> Finding:
    """Closes when the end of the log has reached the commit, or the commit has come back to it."""
    reading = view.reading(finding.place)
    if reading is None or reading.offsets is None:
        return finding
    high_watermark = known(reading.offsets.high_watermark)
    ahead = reading.committed_offset - high_watermark
    seen = replace(finding, last_seen_at_ms=reading.offsets.observed_at_ms)
    if ahead <= 0:
        return replace(seen, closed_reason=f"commit {reading.committed_offset:,} is within the log again")
    evidence = {**finding.evidence, **_evidence(view, reading, high_watermark)}
    return replace(
        seen,
        title=_title(reading, ahead),
        statements=_statements(reading, reading.offsets, evidence),
        bounds=Bounds(ahead, ahead, ahead, Unit.OFFSETS),
        evidence=evidence,
    )


def remember(
    before: Memory,
    observed: Round,
    offsets: Mapping[TopicPartition, PartitionOffsets],
    ahead: Iterable[Reading],
) -> dict[GroupPartition, CommittedOffset]:
    """The first commit of each unbroken run beyond the end; a partition that could not be read stays as it was."""
    runs = {}
    for key, first in before.ahead.items():
        found = known_reading(key, observed, offsets)
        if found is None or found.offsets is None:
            runs[key] = first
    for found in ahead:
        run = before.ahead.get(found.key)
        runs[found.key] = run if run is not None and run.topic_id == found.commit.topic_id else found.commit
    return runs


def _finding(view: View, reading: Reading, first_committed: int, since_ms: int) -> Finding:
    offsets = present(reading.offsets)
    high_watermark = known(offsets.high_watermark)
    ahead = reading.committed_offset - high_watermark
    evidence = {**_evidence(view, reading, high_watermark), "first_seen_ahead_at_ms": since_ms}
    return Finding(
        kind=Kind.COMMITTED_AHEAD,
        place=group_place(view.cluster_id, reading.key, reading.commit.topic_id),
        anchor=f"commit {first_committed}",
        severity=3,
        title=_title(reading, ahead),
        statements=_statements(reading, offsets, evidence),
        bounds=Bounds(ahead, ahead, ahead, Unit.OFFSETS),
        evidence=evidence,
        happened_at_ms=since_ms,
        last_seen_at_ms=offsets.observed_at_ms,
    )


def _title(reading: Reading, ahead: int) -> str:
    return f"{reading.key.group_id} has committed {counted(ahead, 'offset')} beyond the end of {_where(reading)}"


def _where(reading: Reading) -> str:
    return f"{reading.key.topic}-{reading.key.partition}"


def _statements(reading: Reading, offsets: PartitionOffsets, evidence: Evidence) -> tuple[Statement, ...]:
    committed, high_watermark = reading.committed_offset, number(evidence, "high_watermark")
    ahead, causes = committed - high_watermark, listed(evidence, "possible_causes")
    return (
        Statement(
            Grade.PROVEN,
            f"Commit {committed:,} (read {utc(reading.commit.observed_at_ms)}) lies {counted(ahead, 'offset')} beyond "
            f"the high watermark {high_watermark:,} of {_where(reading)} (read {utc(offsets.observed_at_ms)}).",
        ),
        Statement(
            Grade.POSSIBLE,
            f"Up to {counted(ahead, 'record')} still to be written below {committed:,} will be skipped by the group.",
        ),
        Statement(Grade.NOT_OBSERVABLE, f"How it came about; what leaves such a commit: {'; '.join(causes)}."),
    )


def _evidence(view: View, reading: Reading, high_watermark: int) -> dict[str, object]:
    return {
        "committed_offset": reading.committed_offset,
        "committed_leader_epoch": reading.commit.committed_leader_epoch,
        "high_watermark": high_watermark,
        "members": view.members(reading.key.group_id),
        "possible_causes": _causes(view, reading),
    }


def _causes(view: View, reading: Reading) -> list[str]:
    """The likeliest first: a cut that was seen, then what the group's members suggest."""
    is_cut = reading.key.topic_partition in view.open_cuts
    truncated = "a cut of the log (an open finding shows one)" if is_cut else "a cut of the log between two samples"
    translated = "offsets copied from another cluster while the group is empty (MirrorMaker 2)"
    recreated = "a topic deleted and created anew under a commit in flight"
    if is_cut:
        return [truncated, recreated, translated]
    if view.members(reading.key.group_id) == 0:
        return [translated, recreated, truncated]
    return [truncated, recreated, translated]
