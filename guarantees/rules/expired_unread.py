"""expired_unread: the log start overtook a commit (L1, L2), so offsets the group had not committed are gone."""

from collections.abc import Iterator
from dataclasses import replace

from guarantees.amounts import counted
from guarantees.findings import Bounds, Finding, Grade, Kind, Statement, Unit
from guarantees.lag import MARKER_SLACK
from guarantees.observations import PartitionOffsets
from guarantees.times import utc
from guarantees.topic_settings import RETENTION_BYTES, RETENTION_MS, TopicSettings, deletes_nothing_by_age_or_size
from guarantees.triage import Reading
from guarantees.view import View, group_place, known, number, present


def opened(view: View) -> Iterator[Finding]:
    """The log start, read first, lies beyond the commit, and an earlier round saw it at or below that commit.

    A commit that lay below the log start at first sight is an idle or abandoned group and stays silent; so does a group
    that had read all but what markers may use when its segments aged out.
    """
    for reading in view.triage.overtaken:
        place = group_place(view.cluster_id, reading.key, reading.commit.topic_id)
        before = view.before.offsets.get(reading.key.topic_partition)
        if before is None or before.topic_id != reading.commit.topic_id:
            continue
        if (Kind.EXPIRED_UNREAD, place) not in view.open_places and _overtook_unread(reading, before):
            yield _finding(view, reading, before)


def continued(finding: Finding, view: View) -> Finding:
    """Closes when a commit reaches the log start; until then the hole grows with it, and shrinks with late commits."""
    reading = view.reading(finding.place)
    if reading is None:
        return finding
    seen = replace(finding, last_seen_at_ms=reading.commit.observed_at_ms)
    if reading.committed_offset >= number(finding.evidence, "log_start_offset"):
        return replace(seen, closed_reason=f"the group moved on to {reading.committed_offset:,}; the hole stays unread")
    if reading.offsets is None or not isinstance(reading.offsets.log_start_offset, int):
        return seen
    start = max(reading.offsets.log_start_offset, number(finding.evidence, "log_start_offset"))
    hole = start - reading.committed_offset
    evidence = {**finding.evidence, "log_start_offset": start, "newest_committed_offset": reading.committed_offset}
    told = _statements(reading, start, reading.offsets.log_start_observed_at_ms)
    return replace(
        seen,
        title=_title(reading, hole),
        statements=(*told, finding.statements[-1]),
        bounds=Bounds(0, None, hole, Unit.OFFSETS),
        evidence=evidence,
    )


def _overtook_unread(reading: Reading, before: PartitionOffsets) -> bool:
    start, now = before.log_start_offset, known(present(reading.offsets).log_start_offset)
    if not isinstance(start, int) or start > reading.committed_offset:
        return False
    was_caught_up = known(before.high_watermark) - reading.committed_offset <= MARKER_SLACK
    return not (was_caught_up and now - reading.committed_offset <= MARKER_SLACK)


def _finding(view: View, reading: Reading, before: PartitionOffsets) -> Finding:
    offsets = present(reading.offsets)
    committed, start = reading.committed_offset, known(offsets.log_start_offset)
    hole, members = start - committed, view.members(reading.key.group_id)
    return Finding(
        kind=Kind.EXPIRED_UNREAD,
        place=group_place(view.cluster_id, reading.key, reading.commit.topic_id),
        anchor=f"commit {committed}",
        severity=2 if members == 0 else 4,
        title=_title(reading, hole),
        statements=(
            *_statements(reading, start, offsets.log_start_observed_at_ms),
            _mover(view, reading.key.topic),
        ),
        bounds=Bounds(0, None, hole, Unit.OFFSETS),
        evidence={
            "committed_offset": committed,
            "newest_committed_offset": committed,
            "commit_observed_at_ms": reading.commit.observed_at_ms,
            "log_start_offset_before": known(before.log_start_offset),
            "log_start_offset_at_overtaking": start,
            "log_start_offset": start,
            "log_start_observed_at_ms": offsets.log_start_observed_at_ms,
            "high_watermark_before": known(before.high_watermark),
            "members": members,
        },
        happened_at_ms=reading.commit.observed_at_ms,
        last_seen_at_ms=reading.commit.observed_at_ms,
    )


def _where(reading: Reading) -> str:
    return f"{reading.key.topic}-{reading.key.partition}"


def _title(reading: Reading, hole: int) -> str:
    gone, were, them = counted(hole, "offset"), "was" if hole == 1 else "were", "it" if hole == 1 else "them"
    return f"{gone} of {_where(reading)} {were} deleted before {reading.key.group_id} had committed {them}"


def _statements(reading: Reading, start: int, start_read_at_ms: int) -> tuple[Statement, Statement]:
    committed = reading.committed_offset
    return (
        Statement(
            Grade.PROVEN,
            f"The log start of {_where(reading)} is {start:,} (read {utc(start_read_at_ms)}) and "
            f"{reading.key.group_id} stands at {committed:,} (read {utc(reading.commit.observed_at_ms)}): "
            f"{counted(start - committed, 'offset')} from {committed:,} to {start - 1:,} can be read no more.",
        ),
        Statement(
            Grade.POSSIBLE,
            f"Up to {counted(start - committed, 'record')} may never have been read: a running consumer may have been "
            "past its commit, and markers, aborted and compacted offsets hold no record.",
        ),
    )


def _mover(view: View, topic: str) -> Statement:
    """Retention or a DeleteRecords request (L1, L2): the settings rule the first out, and never the second."""
    settings = view.round.topic_settings.get(topic)
    if deletes_nothing_by_age_or_size(settings):
        text = "A delete request moved the log start, not retention."
        return Statement(Grade.PROBABLE, text, "the topic's settings, which keep every record, were the same before")
    limits = "" if settings is None else f"; {_kept(settings)}"
    return Statement(Grade.NOT_OBSERVABLE, f"Whether retention or a delete request moved the log start{limits}.")


def _kept(settings: TopicSettings) -> str:
    named = [f"{name}={settings[name]}" for name in (RETENTION_MS, RETENTION_BYTES) if name in settings]
    return f"the topic keeps {', '.join(named)}" if named else "how long the topic keeps records is not known"
