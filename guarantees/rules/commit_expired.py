"""commit_expired: a committed offset is gone, or soon will be, because its group is empty for too long (C8)."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from guarantees.expiry import expires_at_ms
from guarantees.findings import Evidence, Finding, Grade, Kind, Statement
from guarantees.memory import GroupSight
from guarantees.observations import CommittedOffset, Round
from guarantees.places import GroupPartition
from guarantees.thresholds import Thresholds
from guarantees.times import utc
from guarantees.view import View, group_partition, group_place, known, number, present


def opened(view: View) -> Iterator[Finding]:
    """A known commit is none now, or its group is not listed any more, on a topic that still has its id; or the empty
    group nears offsets.retention.minutes.

    KIP-211: what an empty group committed expires that long after the group became empty. Pending and failed answers
    are no absence; a topic that metadata does not name may be deleted, or a right on it lost, which looks the same.
    """
    for key, last in view.triage.gone:
        if _is_new(view, key, last) and _has_topic(view, key, last.topic_id):
            yield _gone(_finding(view, key, last), view.round.commits[key].observed_at_ms)
    for key, last in _of_gone_groups(view):
        if _is_new(view, key, last) and _has_topic(view, key, last.topic_id):
            yield _gone_with_group(_finding(view, key, last), view.round.ended_at_ms)
    for reading in view.triage.in_empty_groups:
        if _is_new(view, reading.key, reading.commit):
            yield _finding(view, reading.key, reading.commit)


def continued(finding: Finding, view: View) -> Finding:
    """What will expire expires, or is saved by members; what is gone stays so until the group commits again."""
    key = present(group_partition(finding.place))
    if key.group_id in view.now.gone_groups:
        is_told = finding.evidence["absent_since_ms"] is not None or not _has_topic(view, key, finding.place.topic_id)
        return finding if is_told else _gone_with_group(finding, view.round.ended_at_ms)
    commit = None if key.group_id in view.distrusted else view.round.commits.get(key)
    if commit is None or commit.is_pending or commit.topic_id != finding.place.topic_id:
        return finding
    is_gone = finding.evidence["absent_since_ms"] is not None
    seen = replace(finding, last_seen_at_ms=commit.observed_at_ms)
    if commit.committed_offset is None:
        return seen if is_gone or not _has_topic(view, key, commit.topic_id) else _gone(seen, commit.observed_at_ms)
    if not isinstance(commit.committed_offset, int):
        return finding
    if is_gone:
        return replace(seen, closed_reason=f"the group committed again, at {commit.committed_offset:,}")
    if view.members(key.group_id) or commit.committed_offset != number(finding.evidence, "committed_offset"):
        return replace(seen, closed_reason="the group is in use again")
    return replace(seen, evidence={**finding.evidence, "last_observed_at_ms": commit.observed_at_ms})


def long_empty(groups: Mapping[str, GroupSight], observed: Round, thresholds: Thresholds) -> set[str]:
    """Groups seen empty, without a moving commit, for the share of the retention from which a warning is due."""
    due_ms = thresholds.offsets_retention_s * thresholds.offsets_expire_soon_share * 1000
    return {
        group_id
        for group_id in observed.groups
        if (sight := groups.get(group_id)) is not None
        and sight.empty_since_ms is not None
        and sight.state.observed_at_ms - sight.empty_since_ms >= due_ms
    }


def _is_new(view: View, key: GroupPartition, last: CommittedOffset) -> bool:
    return (Kind.COMMIT_EXPIRED, group_place(view.cluster_id, key, last.topic_id)) not in view.open_places


def _of_gone_groups(view: View) -> list[tuple[GroupPartition, CommittedOffset]]:
    """With its last commit a group goes too: what those had that are not listed for the first time."""
    newly = view.now.gone_groups - view.before.gone_groups
    return sorted((k, c) for k, c in view.before.commits.items() if k.group_id in newly) if newly else []


def _has_topic(view: View, key: GroupPartition, topic_id: str | None) -> bool:
    state = view.round.states.get(key.topic_partition)
    return state is not None and state.topic_id == topic_id


def _finding(view: View, key: GroupPartition, last: CommittedOffset) -> Finding:
    """As long as the commit is still there."""
    committed, where = known(last.committed_offset), f"{key.topic}-{key.partition}"
    evidence = _evidence(view, key, last)
    retention_s, expires_ms = view.thresholds.offsets_retention_s, evidence["expires_at_ms"]
    when = f", at {utc(expires_ms)} at the latest" if isinstance(expires_ms, int) else ""
    return Finding(
        kind=Kind.COMMIT_EXPIRED,
        place=group_place(view.cluster_id, key, last.topic_id),
        anchor=f"commit {committed}",
        severity=2,
        title=f"commit {committed:,} of {key.group_id} on {where} expires soon",
        statements=(
            Statement(
                Grade.PROBABLE,
                f"Commit {committed:,} of {key.group_id} on {where} expires {retention_s:,.0f} s after the group was "
                f"left empty{when}; the next start then follows auto.offset.reset.",
                f"offsets.retention.minutes is {retention_s / 60:,.0f}, and no consumer that assigns its partitions "
                "itself commits for the group",
            ),
        ),
        bounds=None,
        evidence=evidence,
        happened_at_ms=last.observed_at_ms,
        last_seen_at_ms=last.observed_at_ms,
    )


def _evidence(view: View, key: GroupPartition, last: CommittedOffset) -> Evidence:
    sights = (view.now.groups.get(key.group_id), view.before.groups.get(key.group_id))
    # A group may look dead in the round that shows the loss.
    empty = next((one for one in sights if one is not None and one.empty_since_ms is not None), None)
    retention_ms = round(view.thresholds.offsets_retention_s * 1000)
    return {
        "committed_offset": known(last.committed_offset),
        "last_observed_at_ms": last.observed_at_ms,
        "group_empty_since_ms": None if empty is None else empty.empty_since_ms,
        "offsets_retention_ms": retention_ms,
        "expires_at_ms": None if empty is None else _expires_at_ms(empty, retention_ms),
        "absent_since_ms": None,
    }


def _expires_at_ms(empty: GroupSight, retention_ms: int) -> int | None:
    """At the latest: the commit has not moved since the group was seen empty, so it was made before."""
    found = expires_at_ms(
        empty.state,
        is_subscribed=False,
        committed_at_ms=present(empty.empty_since_ms),
        empty_since_ms=empty.empty_since_ms,
        is_pending=False,
        retention_ms=retention_ms,
    )
    return found if isinstance(found, int) else None


def _gone(finding: Finding, at_ms: int) -> Finding:
    """The same finding once the coordinator says there is no commit any more."""
    text = f"{_was_there(finding)} and is gone at {utc(at_ms)}, neither pending nor unread; the topic is the same."
    return _absent(finding, at_ms, Statement(Grade.PROVEN, text))


def _gone_with_group(finding: Finding, at_ms: int) -> Finding:
    """The same finding once the coordinator does not list the group any more."""
    text = f"{_was_there(finding)} and is gone with its group, which no coordinator lists at {utc(at_ms)}."
    return _absent(
        finding, at_ms, Statement(Grade.PROBABLE, text, "the right to describe the group was not taken away")
    )


def _was_there(finding: Finding) -> str:
    last_ms = number(finding.evidence, "last_observed_at_ms")
    return f"Commit {number(finding.evidence, 'committed_offset'):,} of {_where(finding)} was there at {utc(last_ms)}"


def _where(finding: Finding) -> str:
    return f"{finding.place.group_id} on {finding.place.topic}-{finding.place.partition}"


def _absent(finding: Finding, at_ms: int, headline: Statement) -> Finding:
    committed = number(finding.evidence, "committed_offset")
    return replace(
        finding,
        severity=3,
        title=f"commit {committed:,} of {_where(finding)} is gone: the next start follows auto.offset.reset",
        statements=(headline, _cause(finding, at_ms)),
        evidence={**finding.evidence, "absent_since_ms": at_ms},
        happened_at_ms=at_ms,
        last_seen_at_ms=at_ms,
    )


def _cause(finding: Finding, at_ms: int) -> Statement:
    since_ms = finding.evidence["group_empty_since_ms"]
    retention_ms = number(finding.evidence, "offsets_retention_ms")
    if isinstance(since_ms, int) and at_ms - since_ms >= retention_ms:
        text = f"It expired: the group was empty for at least {(at_ms - since_ms) / 1000:,.0f} s."
        return Statement(Grade.PROBABLE, text, "nobody deleted the group's offsets, which leaves the same trace")
    return Statement(
        Grade.NOT_OBSERVABLE,
        f"Whether it expired (the group was not seen empty for {retention_ms / 1000:,.0f} s; the broker may be set to "
        "less) or an operator deleted it or the group.",
    )
