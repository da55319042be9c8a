"""possible_redelivery: a member left, its partitions moved, and what it had read but not committed is read again (C2).

Nobody outside can tell a crash from an orderly leave, so every leave with uncommitted offsets gives a finding, and most
of them mean nothing: a deployment must not look like an outage. Therefore it is information (severity 1, which degrades
no promise), and a risk (severity 2) only where the commit had already stood with work left when the member was last
seen, for longer than a living consumer leaves between two commits: a member that crashes stays listed until its session
times out, and commits nothing meanwhile, while one that leaves in order has committed just before. That standing commit
is also what a crash leaves behind where the survivor has read everything again before the next sample.
"""

from collections.abc import Iterator
from dataclasses import replace

from guarantees.amounts import counted
from guarantees.findings import Bounds, Finding, Grade, Kind, Statement, Unit
from guarantees.lag import MARKER_SLACK
from guarantees.memory import Silence
from guarantees.observations import PartitionOffsets
from guarantees.places import GroupPartition
from guarantees.rebalances import Move, Rebalance
from guarantees.times import utc
from guarantees.triage import known_reading
from guarantees.view import View, group_partition, group_place, known, number

# Twice auto.commit.interval.ms of both common clients: by then a living consumer with work has committed, by default.
LIVING_COMMITS_WITHIN_MS = 10_000


def opened(view: View) -> Iterator[Finding]:
    """A member id vanished, its partition moved or lost its owner, and offsets above its last commit existed.

    They still exist uncommitted, or they are committed by now but had stood unread longer than the group is wont.
    A static member that came back under its instance id has not left. Up to two offsets of a log that stands still may
    be transaction markers and stay silent.
    """
    for group_id, seen in sorted(view.rebalances.items()):
        for move in seen.moved:
            if move.old_member in seen.left:
                key = GroupPartition(group_id, move.partition.topic, move.partition.partition)
                finding = _finding(view, seen, move, key)
                if finding is not None:
                    yield finding


def continued(finding: Finding, view: View) -> Finding:
    """Closes when commits have passed what existed at the move: nothing of it is left to be delivered again."""
    found = view.reading(finding.place)
    if found is None:
        return finding
    seen = replace(finding, last_seen_at_ms=found.commit.observed_at_ms)
    finding = _with_later_end(seen, found.offsets)
    if found.committed_offset >= number(finding.evidence, "high_watermark"):
        return replace(finding, closed_reason=f"the window has been read: commit {found.committed_offset:,}")
    return finding


def _with_later_end(finding: Finding, offsets: PartitionOffsets | None) -> Finding:
    """The member may have read on after the high watermark was read: the first one read after the move bounds it."""
    read_at_ms = number(finding.evidence, "high_watermark_observed_at_ms")
    if offsets is None or read_at_ms >= number(finding.evidence, "observed_at_ms"):
        return finding
    high_watermark, start = known(offsets.high_watermark), _first_offset(finding)
    key, silent_ms = group_partition(finding.place), number(finding.evidence, "commit_stood_before_ms")
    if key is None:
        return finding
    return replace(
        finding,
        title=_title(key, high_watermark - start),
        statements=(_headline(key, start, high_watermark, silent_ms), *finding.statements[1:]),
        bounds=Bounds(0, None, high_watermark - start, Unit.OFFSETS),
        evidence={
            **finding.evidence,
            "high_watermark": high_watermark,
            "high_watermark_observed_at_ms": offsets.observed_at_ms,
        },
    )


def _first_offset(finding: Finding) -> int:
    """Findings written before the log start counted have only the commit."""
    name = "first_offset" if "first_offset" in finding.evidence else "committed_offset_before"
    return number(finding.evidence, name)


def _finding(view: View, seen: Rebalance, move: Move, key: GroupPartition) -> Finding | None:
    now = None if key.group_id in view.distrusted else known_reading(key, view.round, view.offsets)
    before = view.before.commits.get(key)
    if now is None or now.offsets is None or before is None or before.topic_id != now.commit.topic_id:
        return None
    # The new owner may have committed before this round's commits were read, but not before the last round's.
    silence = _silence(view, key, before.topic_id)
    stood_at = known(before.committed_offset) if silence is None else silence.committed_offset
    committed = min(stood_at, known(before.committed_offset), now.committed_offset)
    high_watermark = known(now.offsets.high_watermark)
    # What is purged is not delivered again; a log start that is not known may have purged nothing.
    log_start = now.offsets.log_start_offset
    start = max(committed, log_start) if isinstance(log_start, int) else committed
    silent_ms = _silent_ms(silence, seen)
    is_uncommitted = _is_uncommitted(view, key, high_watermark - now.committed_offset, high_watermark)
    if start >= high_watermark or not is_uncommitted and not is_overlong(view, key, silent_ms):
        return None
    window = high_watermark - start
    return Finding(
        kind=Kind.POSSIBLE_REDELIVERY,
        place=group_place(view.cluster_id, key, now.commit.topic_id),
        anchor=f"{move.old_member} at commit {committed}",
        severity=2 if silent_ms >= LIVING_COMMITS_WITHIN_MS else 1,
        title=_title(key, window),
        statements=_statements(seen, move, key, start, high_watermark, silent_ms),
        bounds=Bounds(0, None, window, Unit.OFFSETS),
        evidence={
            "member_id": move.old_member,
            "new_member_id": move.new_member,
            "cause": seen.cause,
            "committed_offset_before": committed,
            "first_offset": start,
            "committed_offset": now.committed_offset,
            "high_watermark": high_watermark,
            "high_watermark_observed_at_ms": now.offsets.observed_at_ms,
            "changed_after_ms": seen.changed_after_ms,
            "observed_at_ms": seen.observed_at_ms,
            "commit_stood_before_ms": silent_ms,
        },
        happened_at_ms=seen.observed_at_ms,
        last_seen_at_ms=seen.observed_at_ms,
    )


def _is_uncommitted(view: View, key: GroupPartition, uncommitted: int, high_watermark: int) -> bool:
    if uncommitted > MARKER_SLACK:
        return True
    last = view.before.offsets.get(key.topic_partition)
    return uncommitted > 0 and last is not None and last.high_watermark != high_watermark


def _silence(view: View, key: GroupPartition, topic_id: str | None) -> Silence | None:
    found = view.before.silences.get(key)
    return found if found is not None and found.topic_id == topic_id else None


def _silent_ms(silence: Silence | None, seen: Rebalance) -> int:
    """How long the commit had stood with work left when the member was last seen."""
    return 0 if silence is None else max(0, min(seen.changed_after_ms, silence.last_ms) - silence.since_ms)


def is_overlong(view: View, key: GroupPartition, silent_ms: int) -> bool:
    """Longer than living consumers and this group leave between two commits, so the member was dead, not slow."""
    return silent_ms >= LIVING_COMMITS_WITHIN_MS and all(
        silent_ms > custom for custom in view.before.customs.get(key, ())
    )


def _title(key: GroupPartition, window: int) -> str:
    return f"a member left {key.group_id}: up to {counted(window, 'offset')} of {_named(key)} may be delivered again"


def _named(key: GroupPartition) -> str:
    return f"{key.topic}-{key.partition}"


def _headline(key: GroupPartition, start: int, high_watermark: int, silent_ms: int) -> Statement:
    is_long = silent_ms >= LIVING_COMMITS_WITHIN_MS
    stood = f"; the commit had stood for {silent_ms / 1000:.0f} s before" if is_long else ""
    return Statement(
        Grade.POSSIBLE,
        f"Up to {counted(high_watermark - start, 'offset')} of {_named(key)}, from {start:,} to "
        f"{high_watermark - 1:,}, may be delivered again: the member that left may have processed "
        f"them without committing{stood}.",
    )


def _statements(
    seen: Rebalance, move: Move, key: GroupPartition, start: int, high_watermark: int, silent_ms: int
) -> tuple[Statement, ...]:
    taken = "nobody owns it" if move.new_member is None else f"{move.new_member} owns it now"
    return (
        _headline(key, start, high_watermark, silent_ms),
        Statement(
            Grade.PROVEN,
            f"Member {move.old_member} of {key.group_id} was there at {utc(seen.changed_after_ms)} and gone at "
            f"{utc(seen.observed_at_ms)}; of {_named(key)}, {taken}.",
        ),
        Statement(
            Grade.NOT_OBSERVABLE,
            "Whether it left by timeout, crash or request, and how far it had read: its position is in no answer.",
        ),
    )
