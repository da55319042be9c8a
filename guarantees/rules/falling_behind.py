"""falling_behind: a group commits and its lag only grows (C5), after Burrow's WARN.

It is a fact about speed, not a fault: the group keeps its promise until retention overtakes it (L1).
"""

from collections.abc import Iterator, Mapping, Set
from dataclasses import replace

from guarantees.findings import Bounds, Evidence, Finding, Grade, Kind, Statement, Unit
from guarantees.lag import MARKER_SLACK
from guarantees.memory import Growth, Memory
from guarantees.observations import PartitionOffsets, Round
from guarantees.places import GroupPartition, TopicPartition
from guarantees.rules.progress import KINDS as STANDING
from guarantees.times import utc
from guarantees.triage import Reading, Triage, known_reading
from guarantees.view import View, group_place, known, number

# Fewer commits are no trend: each leaves an offset more at least, and together more than markers can use.
LEAST_COMMITS = MARKER_SLACK + 1


def opened(view: View) -> Iterator[Finding]:
    """No commit left less lag than the one before, and three or more left more, for as long as a stall takes."""
    for reading in view.triage.behind:
        growth = view.now.growths.get(reading.key)
        if growth is None or not _is_trend(growth, reading, view.thresholds.stalled_after_s):
            continue
        place = group_place(view.cluster_id, reading.key, reading.commit.topic_id)
        if view.members(reading.key.group_id) == 0:
            continue
        if not any((kind, place) in view.open_places for kind in (Kind.FALLING_BEHIND, *STANDING)):
            yield _finding(view, reading, growth)


def continued(finding: Finding, view: View) -> Finding:
    """Closes with the first commit that leaves less lag, without members, or when the commit stands still, which is
    told as such.
    """
    reading = view.reading(finding.place)
    if reading is None:
        return finding
    seen = replace(finding, last_seen_at_ms=reading.commit.observed_at_ms)
    if any((kind, finding.place) in view.open_places for kind in STANDING):
        return replace(seen, closed_reason="superseded: the commit stands still")
    if view.members(reading.key.group_id) == 0:
        return replace(seen, closed_reason="the group has no members any more")
    readable, lag = reading.readable, number(finding.evidence, "lag")
    if not isinstance(readable, int):
        return seen
    if readable < lag:
        return replace(seen, closed_reason=f"the lag fell to {readable:,}")
    before = view.before.commits.get(reading.key)
    has_moved = before is not None and before.committed_offset != reading.committed_offset
    return _grown_finding(seen, reading.key, readable) if has_moved and readable > lag else seen


def _grown_finding(finding: Finding, key: GroupPartition, lag: int) -> Finding:
    evidence = {**finding.evidence, "lag": lag, "commits": number(finding.evidence, "commits") + 1}
    return replace(
        finding,
        title=_title(key, evidence),
        statements=_statements(key, evidence),
        bounds=Bounds(lag, lag, lag, Unit.OFFSETS),
        evidence=evidence,
    )


def remember(
    before: Memory,
    observed: Round,
    offsets: Mapping[TopicPartition, PartitionOffsets],
    triage: Triage,
    distrusted: Set[str],
) -> dict[GroupPartition, Growth]:
    """Unbroken growth of lag from commit to commit; what could not be read stays as it was."""
    growths: dict[GroupPartition, Growth] = {}
    for found in triage.behind:
        growth = _grown(before.growths.get(found.key), before, found)
        if growth is not None:
            growths[found.key] = growth
    for key in before.growths.keys() - {found.key for found in triage.behind}:
        ended = None if key.group_id in distrusted else known_reading(key, observed, offsets)
        if ended is None or not isinstance(ended.readable, int):
            growths[key] = before.growths[key]
    return growths


def _grown(growth: Growth | None, before: Memory, found: Reading) -> Growth | None:
    last = before.commits.get(found.key)
    if last is None or last.topic_id != found.commit.topic_id:
        return None
    if last.committed_offset == found.committed_offset:
        return growth
    lag, at_ms = known(found.readable), found.commit.observed_at_ms
    if growth is None or growth.topic_id != found.commit.topic_id or lag < growth.lag:
        return Growth(found.commit.topic_id, found.committed_offset, at_ms, lag, lag, 0)
    if lag == growth.lag:
        return growth
    return growth._replace(lag=lag, commits=growth.commits + 1)


def _is_trend(growth: Growth, reading: Reading, least_s: float) -> bool:
    lasted_ms = reading.commit.observed_at_ms - growth.since_ms
    return growth.commits >= LEAST_COMMITS and lasted_ms >= least_s * 1000


def _finding(view: View, reading: Reading, growth: Growth) -> Finding:
    evidence = {
        "since_ms": growth.since_ms,
        "first_lag": growth.first_lag,
        "lag": growth.lag,
        "commits": growth.commits,
        "members": view.members(reading.key.group_id),
    }
    return Finding(
        kind=Kind.FALLING_BEHIND,
        place=group_place(view.cluster_id, reading.key, reading.commit.topic_id),
        anchor=f"commit {growth.committed_offset}",
        severity=1,
        title=_title(reading.key, evidence),
        statements=_statements(reading.key, evidence),
        bounds=Bounds(growth.lag, growth.lag, growth.lag, Unit.OFFSETS),
        evidence=evidence,
        happened_at_ms=growth.since_ms,
        last_seen_at_ms=reading.commit.observed_at_ms,
    )


def _title(key: GroupPartition, evidence: Evidence) -> str:
    lag = number(evidence, "lag")
    return f"{key.group_id} falls behind on {key.topic}-{key.partition}: {lag:,} offsets unread and growing"


def _statements(key: GroupPartition, evidence: Evidence) -> tuple[Statement, ...]:
    text = (
        f"No commit of {key.group_id} on {key.topic}-{key.partition} since {utc(number(evidence, 'since_ms'))} left "
        f"fewer offsets unread than the one before, and {number(evidence, 'commits'):,} left more: "
        f"{number(evidence, 'first_lag'):,} have become {number(evidence, 'lag'):,}."
    )
    slower = Statement(
        Grade.PROBABLE, "The group is slower than the producers.", "the unread offsets hold records it can read"
    )
    return Statement(Grade.PROVEN, text), slower
