"""skipped_forward: a commit jumped forward past records that no member can have read (C6, C7 latest).

A commit beyond the end of the log is `committed_ahead`; that alone proves a jump. How fast a consumer can read is not
observable, so a jump within the log counts only with a trigger that lets a consumer lose its place.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from guarantees.findings import Bounds, Finding, Grade, Kind, Statement, Unit
from guarantees.lag import MARKER_SLACK
from guarantees.rules.redelivery import is_overlong
from guarantees.times import utc
from guarantees.triage import CommitMove
from guarantees.view import View, group_place, known, member_count, number


@dataclass(frozen=True, slots=True)
class Trigger:
    """Why the group may have lost its place, in one word and one statement, and how grave that is."""

    name: str
    severity: int
    cause: Statement


def opened(view: View) -> Iterator[Finding]:
    """A commit rose over unread offsets after a trigger: an operator, an absent commit, a log start above it, a change
    of leader.
    """
    for moved in view.triage.raised:
        trigger = _trigger(view, moved)
        if trigger is not None and moved.new - _first_left(view, moved) > MARKER_SLACK:
            yield _finding(view, moved, trigger)


def continued(finding: Finding, view: View) -> Finding:
    """Over with the next known commit: going on leaves the skipped offsets unread, going back is a rewind."""
    reading = view.reading(finding.place)
    if reading is None:
        return finding
    seen = replace(finding, last_seen_at_ms=reading.commit.observed_at_ms)
    if reading.committed_offset < number(finding.evidence, "committed_offset"):
        return replace(seen, closed_reason=f"the commit went back to {reading.committed_offset:,}")
    return replace(
        seen, closed_reason=f"the group went on from {reading.committed_offset:,}; what it skipped stays unread"
    )


def _first_left(view: View, moved: CommitMove) -> int:
    """What lay below the log start was gone before: `expired_unread` tells of it."""
    offsets = view.offsets.get(moved.key.topic_partition)
    start = None if offsets is None or offsets.topic_id != moved.after.topic_id else offsets.log_start_offset
    return max(moved.old, start) if isinstance(start, int) else moved.old


def _trigger(view: View, moved: CommitMove) -> Trigger | None:
    if moved.was_absent:
        return _after_absence(view, moved)
    if view.members(moved.key.group_id) == 0:
        return _operator(view, moved)
    return _below_log_start(view, moved) or _out_of_range(view, moved)


def _is_at_end(view: View, moved: CommitMove) -> bool:
    """The commit lies at or above everything that existed one round earlier, as after a reset to latest."""
    before = view.before.offsets.get(moved.key.topic_partition)
    if before is None or before.topic_id != moved.after.topic_id:
        return False
    return moved.new >= known(before.high_watermark)


def _after_absence(view: View, moved: CommitMove) -> Trigger | None:
    if not _is_at_end(view, moved):
        return None
    text = (
        "The group had no commit in between, so auto.offset.reset decided: latest skips these offsets, earliest reads "
        "from the log start again; which of the two it was is not observable."
    )
    return Trigger("commit_absent", 2, Statement(Grade.NOT_OBSERVABLE, text))


def _operator(view: View, moved: CommitMove) -> Trigger | None:
    """Members left first, and the group was empty on both sides: no mirror, no consumer that assigns for itself."""
    before, now = view.before.groups.get(moved.key.group_id), view.now.groups[moved.key.group_id]
    last = now.rebalance
    if member_count(before) != 0 or last is None or not last.left:
        return None
    if last.observed_at_ms > moved.before.observed_at_ms:
        return None
    text = "An operator set the offset: the group had no members on both sides of the change."
    assumption = (
        "no member came, read and left between the two samples, and no consumer that assigns its partitions itself "
        "commits for the group"
    )
    return Trigger("operator_reset", 1, Statement(Grade.PROBABLE, text, assumption))


def _below_log_start(view: View, moved: CommitMove) -> Trigger | None:
    """The commit lay below the log start, where a fetch is out of range, and the next one lies at the end."""
    before = view.before.offsets.get(moved.key.topic_partition)
    start = None if before is None or before.topic_id != moved.after.topic_id else before.log_start_offset
    if not isinstance(start, int) or moved.old >= start or not _is_at_end(view, moved):
        return None
    text = "The commit lay below the log start, where a fetch is out of range, and auto.offset.reset=latest decided."
    if moved.new - start < view.thresholds.min_skip_offsets:
        why = "Whether auto.offset.reset is latest, or earliest and all that was left was read within a round."
        return Trigger("below_log_start", 2, Statement(Grade.NOT_OBSERVABLE, why))
    assumption = "a group that stood still does not read so many offsets between two samples"
    return Trigger("below_log_start", 4, Statement(Grade.PROBABLE, text, assumption))


def _out_of_range(view: View, moved: CommitMove) -> Trigger | None:
    """The commit stood, the leader changed, and the next commit lies at the end, too far for one step of reading."""
    silence = view.before.silences.get(moved.key)
    former = view.now.former_states.get(moved.key.topic_partition)
    if silence is None or former is None or former.topic_id != moved.after.topic_id:
        return None
    is_silent = is_overlong(view, moved.key, silence.last_ms - silence.since_ms)
    has_new_leader = former.observed_at_ms >= silence.since_ms
    is_far = moved.new - moved.old >= view.thresholds.min_skip_offsets
    if not (is_silent and has_new_leader and is_far and _is_at_end(view, moved)):
        return None
    text = "The new leader answered out of range and auto.offset.reset=latest moved the group to the end."
    assumption = "a group that stood still does not read so many offsets between two samples"
    return Trigger("leader_change", 4, Statement(Grade.PROBABLE, text, assumption))


def _finding(view: View, moved: CommitMove, trigger: Trigger) -> Finding:
    where, first = f"{moved.key.topic}-{moved.key.partition}", _first_left(view, moved)
    skipped = moved.new - first
    moved_text = (
        f"The committed offset of {moved.key.group_id} on {where} rose from {moved.old:,} (read "
        f"{utc(moved.before.observed_at_ms)}) to {moved.new:,} (read {utc(moved.after.observed_at_ms)})."
    )
    most = f"Up to {skipped:,} offsets, from {first:,} to {moved.new - 1:,}, may have been skipped unread."
    return Finding(
        kind=Kind.SKIPPED_FORWARD,
        place=group_place(view.cluster_id, moved.key, moved.after.topic_id),
        anchor=f"{moved.old}->{moved.new}",
        severity=trigger.severity,
        title=f"{moved.key.group_id} may have skipped up to {skipped:,} offsets of {where}",
        statements=(trigger.cause, Statement(Grade.PROVEN, moved_text), Statement(Grade.POSSIBLE, most))
        if trigger.severity == 4
        else (Statement(Grade.POSSIBLE, most), Statement(Grade.PROVEN, moved_text), trigger.cause),
        bounds=Bounds(0, None, skipped, Unit.OFFSETS),
        evidence={
            "trigger": trigger.name,
            "committed_offset_before": moved.old,
            "committed_offset": moved.new,
            "observed_before_at_ms": moved.before.observed_at_ms,
            "observed_at_ms": moved.after.observed_at_ms,
            "members": view.members(moved.key.group_id),
        },
        happened_at_ms=moved.after.observed_at_ms,
        last_seen_at_ms=moved.after.observed_at_ms,
    )
