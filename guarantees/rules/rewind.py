"""rewind: the committed offset of a group fell (C1), so records are delivered again."""

from collections.abc import Iterator
from dataclasses import replace

from guarantees.findings import Bounds, Evidence, Finding, Grade, Kind, Statement, Unit
from guarantees.memory import GroupSight
from guarantees.observations import PartitionOffsets
from guarantees.rebalances import Rebalance
from guarantees.times import utc
from guarantees.triage import CommitMove
from guarantees.view import View, group_partition, group_place, known, member_count, number, present

# A rebalance explains a small rewind for as long as members need to settle: the default session timeout is 45 s.
REBALANCE_EXPLAINS_MS = 60_000


def opened(view: View) -> Iterator[Finding]:
    """A commit lies below an earlier one of the same group, topic id and partition.

    Pending, failed and missing answers in between change nothing; a coordinator that just took over is believed from
    its second answer on; a Java consumer that repairs a truncation is not a rewind (`_repairs_a_truncation`).
    """
    for fall in view.triage.fallen:
        if fall.old - fall.new >= view.thresholds.min_rewind_offsets and not _repairs_a_truncation(view, fall):
            yield _finding(view, fall)


def continued(finding: Finding, view: View) -> Finding:
    """Recovered when a commit reaches the old one; a small rewind that does not recover turns serious."""
    reading = view.reading(finding.place)
    if reading is None:
        return _without_commit(finding, view)
    seen = replace(finding, last_seen_at_ms=reading.commit.observed_at_ms)
    if reading.committed_offset >= number(finding.evidence, "committed_offset_before"):
        return replace(seen, closed_reason=f"recovered: the commit is back at {reading.committed_offset:,}")
    waited_ms = reading.commit.observed_at_ms - finding.happened_at_ms
    if finding.evidence["is_small_in_rebalance"] and waited_ms > view.thresholds.stopped_after_s * 1000:
        return replace(seen, severity=3)
    return seen


def _without_commit(finding: Finding, view: View) -> Finding:
    key = present(group_partition(finding.place))
    commit = None if key.group_id in view.distrusted else view.round.commits.get(key)
    if commit is None or commit.is_pending or commit.committed_offset is not None:
        return finding
    gone = replace(finding, last_seen_at_ms=commit.observed_at_ms)
    return replace(gone, closed_reason="the group has no commit here any more (expired or deleted)")


def _repairs_a_truncation(view: View, fall: CommitMove) -> bool:
    """Epochs never fall along one log: a lower commit with a higher epoch was made after the old one's log was cut.

    Without epochs: a commit that now lies at the end of the log or above, as after a cut, re-reads nothing that exists.
    """
    old_epoch, new_epoch = fall.before.committed_leader_epoch, fall.after.committed_leader_epoch
    if old_epoch is not None and new_epoch is not None and new_epoch > old_epoch:
        return True
    return any(fall.new >= end for end in _ends(view, fall))


def _ends(view: View, fall: CommitMove) -> list[int]:
    """Where the log ended after cuts of this partition, and where it ends now."""
    partition, now = fall.key.topic_partition, _offsets(view, fall)
    ends = [number(finding.evidence, "high_watermark") for finding in view.open_cuts.get(partition, ())]
    return ends if now is None else [*ends, known(now.high_watermark)]


def _finding(view: View, fall: CommitMove) -> Finding:
    sight_before, sight = view.before.groups.get(fall.key.group_id), view.now.groups.get(fall.key.group_id)
    recent = _recent_rebalance(sight, fall)
    is_reset = member_count(sight_before) == 0 and member_count(sight) == 0
    is_small = recent is not None and fall.old - fall.new <= view.thresholds.small_rewind_offsets
    again = _again(view, fall)
    return Finding(
        kind=Kind.REWIND,
        place=group_place(view.cluster_id, fall.key, fall.after.topic_id),
        anchor=f"{fall.old}->{fall.new}",
        severity=1 if is_reset or is_small else 3,
        title=_title(fall, len(again), is_reset=is_reset),
        statements=_statements(fall, again, recent, is_reset=is_reset),
        bounds=Bounds(0, len(again), len(again), Unit.OFFSETS),
        evidence={
            "committed_offset_before": fall.old,
            "committed_offset": fall.new,
            "committed_leader_epoch_before": fall.before.committed_leader_epoch,
            "committed_leader_epoch": fall.after.committed_leader_epoch,
            "observed_before_at_ms": fall.before.observed_at_ms,
            "observed_at_ms": fall.after.observed_at_ms,
            "log_start_offset": _log_start(view, fall),
            "members_before": member_count(sight_before),
            "members": member_count(sight),
            "coordinator": None if sight is None else sight.state.coordinator,
            "rebalance": None if recent is None else _with_old_owner(view, fall, recent),
            "is_operator_reset": is_reset,
            "was_absent": fall.was_absent,
            "is_small_in_rebalance": is_small and not is_reset,
        },
        happened_at_ms=fall.after.observed_at_ms,
        last_seen_at_ms=fall.after.observed_at_ms,
    )


def _recent_rebalance(sight: GroupSight | None, fall: CommitMove) -> Rebalance | None:
    seen = None if sight is None else sight.rebalance
    if seen is None or seen.is_static_restart:
        return None
    return seen if fall.after.observed_at_ms - seen.observed_at_ms <= REBALANCE_EXPLAINS_MS else None


def _with_old_owner(view: View, fall: CommitMove, recent: Rebalance) -> Evidence:
    """The rebalance, and who lost the partition in it: a member that still commits for it (C3) is found by its host."""
    owner = next((m.old_member for m in recent.moved if m.partition == fall.key.topic_partition), None)
    sights = (view.before.groups[fall.key.group_id], view.now.groups[fall.key.group_id])
    members = [member for sight in sights for member in sight.state.members]
    return {
        "cause": recent.cause,
        "observed_at_ms": recent.observed_at_ms,
        "old_owner": owner,
        "old_owner_host": next((m.host for m in members if m.member_id == owner), None),
    }


def _offsets(view: View, fall: CommitMove) -> PartitionOffsets | None:
    return view.offsets_of(group_place(view.cluster_id, fall.key, fall.after.topic_id))


def _log_start(view: View, fall: CommitMove) -> int | None:
    offsets = _offsets(view, fall)
    start = None if offsets is None else offsets.log_start_offset
    return start if isinstance(start, int) else None


def _again(view: View, fall: CommitMove) -> range:
    """The offsets that can be delivered again at most: those below the log start are gone, those past its end not yet
    written. A group that had no commit may have read from the log start before it committed.
    """
    offsets = _offsets(view, fall)
    end = fall.old if offsets is None else min(fall.old, known(offsets.high_watermark))
    first = max(0 if fall.was_absent else fall.new, _log_start(view, fall) or 0)
    return range(first, end)


def _title(fall: CommitMove, window: int, *, is_reset: bool) -> str:
    what = "operator reset" if is_reset else "rewind"
    where = f"{fall.key.group_id} on {fall.key.topic}-{fall.key.partition}"
    return f"{what} of {where}: commit {fall.old:,} back to {fall.new:,}, up to {window:,} offsets again"


def _statements(fall: CommitMove, again: range, recent: Rebalance | None, *, is_reset: bool) -> tuple[Statement, ...]:
    fell = (
        f"The committed offset of {fall.key.group_id} fell from {fall.old:,} (read {utc(fall.before.observed_at_ms)}) "
        f"to {fall.new:,} (read {utc(fall.after.observed_at_ms)})."
    )
    found = [Statement(Grade.PROVEN, fell), *_consequences(again)]
    if is_reset:
        text = "An operator set the offsets: the group had no members on both sides of the change."
        found.append(Statement(Grade.PROBABLE, text, "no consumer that assigns its partitions itself commits for it"))
    if fall.was_absent:
        text = "The consumer started where auto.offset.reset=earliest sends it."
        found.append(Statement(Grade.PROBABLE, text, "nobody set the offset while the group had none here"))
    if recent is not None:
        text = f"The rewind came with a rebalance: {recent.cause}."
        found.append(Statement(Grade.PROBABLE, text, "the rebalance seen just before is its cause"))
    return tuple(found)


def _consequences(again: range) -> tuple[Statement, ...]:
    if not again:
        text = f"Nothing is delivered again: the log starts at {again.start:,} and holds nothing of what was committed."
        return (Statement(Grade.PROVEN, text),)
    records = f"Records at the offsets {again.start:,} to {again.stop - 1:,} are delivered again."
    most = f"At most {len(again):,} offsets are delivered again; markers, aborted and compacted offsets hold no record."
    return (
        Statement(Grade.PROBABLE, records, "the consumer did not seek forward past them before it read"),
        Statement(Grade.POSSIBLE, most),
    )
