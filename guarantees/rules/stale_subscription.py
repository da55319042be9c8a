"""stale_subscription: a commit of a topic that no member of its group reads any more (C10): not lag, a leftover."""

from collections.abc import Iterator
from dataclasses import replace

from guarantees.findings import Bounds, Finding, Grade, Kind, Statement, Unit
from guarantees.memory import GroupSight, Silence
from guarantees.times import utc
from guarantees.triage import Reading
from guarantees.view import View, group_place, known, present


def opened(view: View) -> Iterator[Finding]:
    """A commit stands and its log grows while no member of the stable group is assigned any partition of the topic."""
    longer_than_ms = view.thresholds.stalled_after_s * 1000
    for found in view.triage.behind:
        silence = view.now.silences.get(found.key)
        if silence is None or silence.observed_ms <= longer_than_ms:
            continue
        has_grown = known(present(found.offsets).high_watermark) > silence.high_watermark
        place = group_place(view.cluster_id, found.key, found.commit.topic_id)
        is_new = (Kind.STALE_SUBSCRIPTION, place) not in view.open_places
        if has_grown and is_new and is_stale(view.now.groups.get(found.key.group_id), found.key.topic):
            yield _finding(view, found, silence)


def continued(finding: Finding, view: View) -> Finding:
    """Closes when a member reads the topic again, the commit moves, or the group has no members to say so."""
    found = view.reading(finding.place)
    if found is None:
        return finding
    seen = replace(finding, last_seen_at_ms=found.commit.observed_at_ms)
    if found.committed_offset != finding.evidence["committed_offset"]:
        return replace(seen, closed_reason=f"the commit moved to {found.committed_offset:,}")
    sight = view.now.groups.get(found.key.group_id)
    if sight is not None and sight.state.state == "Stable" and not is_stale(sight, found.key.topic):
        return replace(seen, closed_reason="a member reads the topic again")
    if view.members(found.key.group_id) == 0:
        return replace(seen, closed_reason="the group has no members any more")
    if not isinstance(found.readable, int):
        return seen
    evidence = {**finding.evidence, "unread": found.readable, "members": view.members(found.key.group_id)}
    return replace(seen, bounds=Bounds(0, None, found.readable, Unit.OFFSETS), evidence=evidence)


def is_stale(sight: GroupSight | None, topic: str) -> bool:
    """What the group committed on the topic is a leftover and no part of its lag.

    A stable group assigns every partition of the topics it subscribes to, so a topic without any is none of them.
    """
    if sight is None or sight.state.state != "Stable":
        return False
    assigned = [partition for member in sight.state.members for partition in member.assignment]
    return bool(assigned) and all(partition.topic != topic for partition in assigned)


def _finding(view: View, found: Reading, silence: Silence) -> Finding:
    where = f"{found.key.topic}-{found.key.partition}"
    unread = known(found.readable)
    text = (
        f"No member of {found.key.group_id} is assigned any partition of {found.key.topic}; its commit "
        f"{found.committed_offset:,} on {where} stands since {utc(silence.since_ms)} at the latest while the log grows."
    )
    kept = "The commit is a leftover of an earlier subscription: the distance to the end is not lag."
    return Finding(
        kind=Kind.STALE_SUBSCRIPTION,
        place=group_place(view.cluster_id, found.key, found.commit.topic_id),
        anchor=f"commit {found.committed_offset}",
        severity=1,
        title=f"stale subscription: {found.key.group_id} no longer reads {where}",
        statements=(
            Statement(Grade.PROVEN, text),
            Statement(Grade.PROBABLE, kept, "every member shows its assignment"),
        ),
        bounds=Bounds(0, None, unread, Unit.OFFSETS),
        evidence={
            "committed_offset": found.committed_offset,
            "since_ms": silence.since_ms,
            "unread": unread,
            "members": view.members(found.key.group_id),
        },
        happened_at_ms=silence.since_ms,
        last_seen_at_ms=found.commit.observed_at_ms,
    )
