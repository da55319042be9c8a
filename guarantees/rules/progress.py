"""group_stopped and group_stalled: a commit stands while work is left (C5), after Burrow's STOP and STALL.

Burrow's rules with their known weaknesses mended: silence is measured in observed time, not in commits, so slow
committers and low-traffic topics are judged alike; only time in which readable work was left counts, so neither an idle
topic nor a lag that ended long ago matters; the end is the last stable offset, so a group that an open transaction
blocks is not to blame; and a distance that transaction markers alone can make is no work.
"""

from collections.abc import Iterator, Mapping, Set
from dataclasses import replace

from guarantees.findings import Bounds, Evidence, Finding, Grade, Kind, Statement, Unit
from guarantees.lag import MARKER_SLACK
from guarantees.memory import GroupSight, Memory, Silence
from guarantees.observations import PartitionOffsets, Round
from guarantees.places import GroupPartition, TopicPartition
from guarantees.times import utc
from guarantees.triage import Reading, Triage, known_reading
from guarantees.view import View, group_place, known, number, present

KINDS = (Kind.GROUP_STOPPED, Kind.GROUP_STALLED)


def opened(view: View) -> Iterator[Finding]:
    """A commit stood for longer than the threshold and the group's own custom, while readable work was left.

    Without members the group has stopped, and only where the log went on growing: a backlog nobody adds to is an
    abandoned group. With members it is stalled, unless none of them is assigned any partition of the topic (C10).
    """
    shortest_ms = min(view.thresholds.stopped_after_s, view.thresholds.stalled_after_s) * 1000
    for found in view.triage.behind:
        silence = view.now.silences.get(found.key)
        if silence is None or silence.observed_ms <= shortest_ms:
            continue
        kind = _kind(view, found, silence)
        place = group_place(view.cluster_id, found.key, found.commit.topic_id)
        if kind is not None and not any((other, place) in view.open_places for other in KINDS):
            yield _finding(view, kind, found, silence)


def continued(finding: Finding, view: View) -> Finding:
    """Closes when the commit moves or nothing readable is left; members that come back alone change nothing."""
    found = view.reading(finding.place)
    if found is None:
        return finding
    seen = replace(finding, last_seen_at_ms=found.commit.observed_at_ms)
    if found.committed_offset != number(finding.evidence, "committed_offset"):
        return replace(seen, closed_reason=f"the commit moved to {found.committed_offset:,}")
    readable = found.readable
    if not isinstance(readable, int):
        return seen
    if readable <= MARKER_SLACK:
        return replace(seen, closed_reason="nothing readable is left")
    now = {"unread": readable, "members": view.members(found.key.group_id), "owner": _owner(view, found)}
    evidence = {**finding.evidence, **now}
    return replace(
        seen,
        title=_title(finding.kind, found.key, evidence),
        statements=_statements(found.key, evidence),
        bounds=Bounds(readable, readable, readable, Unit.OFFSETS),
        evidence=evidence,
    )


def remember(
    before: Memory,
    observed: Round,
    offsets: Mapping[TopicPartition, PartitionOffsets],
    triage: Triage,
    distrusted: Set[str],
    gap_s: float,
) -> tuple[dict[GroupPartition, Silence], dict[GroupPartition, tuple[int, ...]]]:
    """Silences that last, and how long those lasted that a commit ended; what could not be read stays as it was."""
    silences: dict[GroupPartition, Silence] = {}
    customs = dict(before.customs)
    for found in triage.behind:
        silence = before.silences.get(found.key)
        lasting = _begun(before, found, gap_s) if silence is None else _longer(silence, found, gap_s)
        if lasting is not None:
            silences[found.key] = lasting
        if silence is not None and lasting is None:
            customs[found.key] = _custom(customs.get(found.key, ()), silence, found, gap_s)
        elif found.key in customs and _has_moved(before, found):
            del customs[found.key]  # it commits in every round again
    for key in before.silences.keys() - {found.key for found in triage.behind}:
        ended = None if key.group_id in distrusted else known_reading(key, observed, offsets)
        if ended is None or not isinstance(ended.readable, int):
            silences[key] = before.silences[key]
        elif not _stands(before.silences[key], ended):
            customs[key] = _custom(customs.get(key, ()), before.silences[key], ended, gap_s)
    return silences, customs


def _stands(silence: Silence, found: Reading) -> bool:
    return silence.committed_offset == found.committed_offset and silence.topic_id == found.commit.topic_id


def _has_moved(before: Memory, found: Reading) -> bool:
    last = before.commits.get(found.key)
    return last is None or last.committed_offset != found.committed_offset


def _begun(before: Memory, found: Reading, gap_s: float) -> Silence | None:
    """The commit stood since the last sample although work was left then: silence from that sample on."""
    offsets = before.offsets.get(found.key.topic_partition)
    if offsets is None or offsets.topic_id != found.commit.topic_id or _has_moved(before, found):
        return None
    last = before.commits[found.key]
    left = Reading(found.key, last, found.committed_offset, offsets).readable
    if not isinstance(left, int) or left <= MARKER_SLACK:
        return None
    since_ms = last.observed_at_ms
    began = Silence(last.topic_id, found.committed_offset, since_ms, since_ms, 0, known(offsets.high_watermark))
    return _longer(began, found, gap_s)


def _longer(silence: Silence, found: Reading, gap_s: float) -> Silence | None:
    if not _stands(silence, found):
        return None
    now_ms = found.commit.observed_at_ms
    return replace(silence, last_ms=now_ms, observed_ms=silence.observed_ms + _span_ms(silence, now_ms, gap_s))


def _span_ms(silence: Silence, now_ms: int, gap_s: float) -> int:
    """Time since the last sample, unless it is a gap: what was not observed counts for nothing."""
    span_ms = now_ms - silence.last_ms
    return span_ms if span_ms <= gap_s * 1000 else 0


def _custom(custom_ms: tuple[int, ...], silence: Silence, found: Reading, gap_s: float) -> tuple[int, ...]:
    ended_ms = silence.observed_ms + _span_ms(silence, found.commit.observed_at_ms, gap_s)
    return (*custom_ms[-1:], ended_ms)


def _kind(view: View, found: Reading, silence: Silence) -> Kind | None:
    custom_ms = view.now.customs.get(found.key, ())
    # The shorter of the last two: one outage must not make the rule deaf, a checkpointing group may be slow.
    patient_ms = 2 * min(custom_ms) if len(custom_ms) == 2 else 0
    members = view.members(found.key.group_id)
    if members == 0:
        has_grown = known(present(found.offsets).high_watermark) > silence.high_watermark
        is_long = silence.observed_ms > max(view.thresholds.stopped_after_s * 1000, patient_ms)
        return Kind.GROUP_STOPPED if is_long and has_grown else None
    if not members or not _has_topic(view.now.groups.get(found.key.group_id), found.key.topic):
        return None
    is_long = silence.observed_ms > max(view.thresholds.stalled_after_s * 1000, patient_ms)
    return Kind.GROUP_STALLED if is_long else None


def _has_topic(sight: GroupSight | None, topic: str) -> bool:
    """Some member is assigned a partition of the topic; else the commit is a leftover of an old subscription."""
    if sight is None or sight.settled is None:
        return False
    return any(partition.topic == topic for member in sight.settled.members for partition in member.assignment)


def _owner(view: View, found: Reading) -> str | None:
    sight = view.now.groups.get(found.key.group_id)
    members = () if sight is None or sight.settled is None else sight.settled.members
    return next((m.member_id for m in members if found.key.topic_partition in m.assignment), None)


def _finding(view: View, kind: Kind, found: Reading, silence: Silence) -> Finding:
    unread = known(found.readable)
    evidence = {
        "committed_offset": found.committed_offset,
        "since_ms": silence.since_ms,
        "observed_ms": silence.observed_ms,
        "unread": unread,
        "high_watermark_at_first": silence.high_watermark,
        "members": view.members(found.key.group_id),
        "owner": _owner(view, found),
        "usual_silences_ms": list(view.now.customs.get(found.key, ())),
    }
    return Finding(
        kind=kind,
        place=group_place(view.cluster_id, found.key, found.commit.topic_id),
        anchor=f"commit {found.committed_offset}",
        severity=2,
        title=_title(kind, found.key, evidence),
        statements=_statements(found.key, evidence),
        bounds=Bounds(unread, unread, unread, Unit.OFFSETS),
        evidence=evidence,
        happened_at_ms=silence.since_ms,
        last_seen_at_ms=found.commit.observed_at_ms,
    )


def _title(kind: Kind, key: GroupPartition, evidence: Evidence) -> str:
    word = "stopped" if kind is Kind.GROUP_STOPPED else "stalled"
    members, owner = evidence["members"], evidence["owner"]
    who = "no members" if not members else "no owner" if owner is None else f"owner {owner}"
    return f"{key.group_id} {word} on {key.topic}-{key.partition}: {number(evidence, 'unread'):,} offsets unread, {who}"


def _statements(key: GroupPartition, evidence: Evidence) -> tuple[Statement, ...]:
    """`observed_ms` is the silence that opened the finding: how long the group must not be wont to be silent."""
    observed_s = number(evidence, "observed_ms") // 1000
    return (
        Statement(
            Grade.PROVEN,
            f"{key.group_id} stands at commit {number(evidence, 'committed_offset'):,} on {key.topic}-{key.partition} "
            f"since {utc(number(evidence, 'since_ms'))} at the latest, with {number(evidence, 'unread'):,} offsets "
            "unread below the last stable offset.",
        ),
        Statement(
            Grade.PROBABLE,
            "The group does not process this partition.",
            f"it commits what it has processed at least every {observed_s} s, and the unread offsets hold records "
            "it can read, not markers, aborted or compacted data alone",
        ),
    )
