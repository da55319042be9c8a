"""read_past_stable_offset: a member committed past the last stable offset, so it reads undecided records (T5 a)."""

from collections.abc import Iterator
from dataclasses import replace

from guarantees.findings import Bounds, Finding, Grade, Kind, Statement, Unit
from guarantees.places import GroupPartition
from guarantees.times import utc
from guarantees.triage import Reading
from guarantees.view import View, group_place, known, present


def opened(view: View) -> Iterator[Finding]:
    """A commit, read first, moved beyond the last stable offset, read later, of one topic id and leader epoch.

    A commit that an operator set while the group was empty says nothing about its readers: members must have been
    there, the same ones, before and after the commit moved.
    """
    for reading in view.triage.past_stable:
        place = group_place(view.cluster_id, reading.key, reading.commit.topic_id)
        if (Kind.READ_PAST_STABLE_OFFSET, place) in view.open_places:
            continue
        if _is_of_one_epoch(view, reading) and _was_committed_by_members(view, reading):
            yield _finding(view, reading)


def continued(finding: Finding, view: View) -> Finding:
    """Lasts as long as the members that did it: new ones may come with another isolation level."""
    reading = view.reading(finding.place)
    if reading is None or reading.offsets is None:
        return finding
    seen = replace(finding, last_seen_at_ms=reading.commit.observed_at_ms)
    stable = reading.offsets.last_stable_offset
    is_within = isinstance(stable, int) and reading.committed_offset <= stable
    if is_within and _owner(view, reading.key) != finding.evidence["member_id"]:
        return replace(seen, closed_reason="another member reads the partition now, within the stable offset")
    return seen


def _is_of_one_epoch(view: View, reading: Reading) -> bool:
    before, now = view.before.offsets.get(reading.key.topic_partition), present(reading.offsets)
    if before is None or before.topic_id != now.topic_id:
        return False
    return before.leader_epoch == now.leader_epoch


def _was_committed_by_members(view: View, reading: Reading) -> bool:
    """The commit moved in this round, and its owner is the one of the round before."""
    before = view.before.commits.get(reading.key)
    if before is None or before.topic_id != reading.commit.topic_id:
        return False
    has_moved = known(before.committed_offset) < reading.committed_offset
    return has_moved and _owner(view, reading.key) is not None and reading.key.group_id not in view.rebalances


def _owner(view: View, key: GroupPartition) -> str | None:
    sight = view.now.groups.get(key.group_id)
    members = () if sight is None or sight.settled is None else sight.settled.members
    return next((m.member_id for m in members if key.topic_partition in m.assignment), None)


def _finding(view: View, reading: Reading) -> Finding:
    offsets = present(reading.offsets)
    stable, committed = known(offsets.last_stable_offset), reading.committed_offset
    where = f"{reading.key.topic}-{reading.key.partition}"
    return Finding(
        kind=Kind.READ_PAST_STABLE_OFFSET,
        place=group_place(view.cluster_id, reading.key, reading.commit.topic_id),
        anchor=f"stable offset {stable}",
        severity=4,
        title=f"{reading.key.group_id} committed {committed - stable:,} offsets past the stable offset of {where}",
        statements=(
            Statement(
                Grade.PROVEN,
                f"Commit {committed:,} (read {utc(reading.commit.observed_at_ms)}) lies {committed - stable:,} offsets "
                f"past the last stable offset {stable:,} of {where} (read {utc(offsets.observed_at_ms)}).",
            ),
            Statement(
                Grade.PROBABLE,
                "The group reads with isolation.level=read_uncommitted: records of aborted transactions reach it.",
                "its member committed what it had read; it did not seek",
            ),
            Statement(Grade.NOT_OBSERVABLE, "Whether reading undecided records is wanted, as a monitor may want it."),
        ),
        bounds=Bounds(committed - stable, committed - stable, None, Unit.OFFSETS),
        evidence={
            "committed_offset": committed,
            "committed_offset_before": known(view.before.commits[reading.key].committed_offset),
            "last_stable_offset": stable,
            "high_watermark": known(offsets.high_watermark),
            "leader_epoch": known(offsets.leader_epoch),
            "member_id": _owner(view, reading.key),
        },
        happened_at_ms=reading.commit.observed_at_ms,
        last_seen_at_ms=reading.commit.observed_at_ms,
    )
