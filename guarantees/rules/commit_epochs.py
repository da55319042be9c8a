"""commit_in_truncated_log, wrong_commit_epoch: a commit beyond the end of the leader epoch it names (L3 c)."""

from collections.abc import Iterator
from dataclasses import replace

from guarantees.amounts import counted
from guarantees.epochs import confirmed_end, is_beyond
from guarantees.findings import Bounds, Evidence, Finding, Grade, Kind, Statement, Unit
from guarantees.memory import Memory
from guarantees.observations import CommittedOffset, EpochEnd
from guarantees.places import GroupPartition
from guarantees.times import utc
from guarantees.triage import Reading, Triage
from guarantees.view import View, group_place, known, number

KINDS = (Kind.COMMIT_IN_TRUNCATED_LOG, Kind.WRONG_COMMIT_EPOCH)


def opened(view: View) -> Iterator[Finding]:
    """The end, answered twice, lies below the commit: cut, or the client names a wrong epoch.

    Who was seen to move on past the end under the same epoch read records of later epochs: a wrong epoch, once it is
    more than one poll past. A commit within the log of an epoch without records is no sign of either. Where a cut of
    the log is shown, that finding names the group.
    """
    for reading in view.triage.beyond_epoch:
        end = _confirmed(view, reading)
        if reading.key in view.now.past_epoch_ends:
            past = reading.committed_offset - known(view.now.past_epoch_ends[reading.key].end_offset)
            if past > view.thresholds.small_rewind_offsets and not _is_open(view, Kind.WRONG_COMMIT_EPOCH, reading):
                yield _finding(view, reading, view.now.past_epoch_ends[reading.key], Kind.WRONG_COMMIT_EPOCH)
        elif end is not None and not _is_cut(view, reading) and not _is_open(view, KINDS[0], reading):
            yield _finding(view, reading, end, Kind.COMMIT_IN_TRUNCATED_LOG)


def continued(finding: Finding, view: View) -> Finding:
    """Closes when the commit names another epoch or lies before the end again, or was told to be a wrong epoch."""
    reading = view.reading(finding.place)
    if reading is None:
        return finding
    seen = replace(finding, last_seen_at_ms=reading.commit.observed_at_ms)
    epoch, end = reading.commit.committed_leader_epoch, number(finding.evidence, "end_offset")
    if epoch != finding.evidence["committed_leader_epoch"]:
        return replace(seen, closed_reason=f"the commit names epoch {'none' if epoch is None else epoch} now")
    if reading.committed_offset <= end:
        return replace(seen, closed_reason=f"commit {reading.committed_offset:,} lies within the epoch it names")
    if finding.kind is Kind.COMMIT_IN_TRUNCATED_LOG and reading.key in view.now.past_epoch_ends:
        return replace(seen, closed_reason="superseded: the commit moves on under the same epoch, which is a wrong one")
    evidence = {
        **finding.evidence,
        "committed_offset": reading.committed_offset,
        "commit_observed_at_ms": reading.commit.observed_at_ms,
    }
    return replace(
        seen,
        statements=_statements(finding.kind, reading, evidence),
        bounds=_bounds(finding.kind, reading.committed_offset - end),
        evidence=evidence,
    )


def remember(before: Memory, found: Triage) -> dict[GroupPartition, EpochEnd]:
    """Commits that moved on under an epoch whose end they had passed, and that end as it was known before."""
    past = {}
    for reading in found.beyond_epoch:
        key, epoch = reading.key, reading.commit.committed_leader_epoch
        ends = before.epochs.ends.get(key.topic_partition, {}).get(known(epoch), ())
        same, last = before.past_epoch_ends.get(key), before.commits.get(key)
        if not ends:
            continue
        if same is not None and (same.asked_epoch, same.end_offset) == (epoch, ends[-1].end_offset):
            past[key] = same
        elif last is not None and _moved_on(last, reading):
            past[key] = ends[-1]
    return past


def _moved_on(last: CommittedOffset, reading: Reading) -> bool:
    is_same = (last.topic_id, last.committed_leader_epoch) == (
        reading.commit.topic_id,
        reading.commit.committed_leader_epoch,
    )
    return is_same and isinstance(last.committed_offset, int) and last.committed_offset < reading.committed_offset


def _confirmed(view: View, reading: Reading) -> EpochEnd | None:
    """The higher of two answers, where the commit lies beyond that too."""
    its = view.now.epochs.ends[reading.key.topic_partition]
    end = confirmed_end(its[known(reading.commit.committed_leader_epoch)])
    return end if end is not None and is_beyond(reading.committed_offset, end) else None


def _is_cut(view: View, reading: Reading) -> bool:
    partition = reading.key.topic_partition
    check = view.epoch_checks.get(partition)
    is_shown = check is not None and check.cut is not None
    return is_shown or partition in view.open_cuts


def _is_open(view: View, kind: Kind, reading: Reading) -> bool:
    return (kind, group_place(view.cluster_id, reading.key, reading.commit.topic_id)) in view.open_places


def _title(kind: Kind, reading: Reading, asked_epoch: int) -> str:
    where = f"{reading.key.topic}-{reading.key.partition}"
    if kind is Kind.WRONG_COMMIT_EPOCH:
        return f"{reading.key.group_id} commits a wrong leader epoch on {where}"
    return f"{reading.key.group_id} has committed beyond the end of leader epoch {asked_epoch} of {where}"


def _statements(kind: Kind, reading: Reading, evidence: Evidence) -> tuple[Statement, ...]:
    end, end_read_at_ms = number(evidence, "end_offset"), number(evidence, "end_observed_at_ms")
    said = (
        f"Commit {reading.committed_offset:,} of {reading.key.topic}-{reading.key.partition} (read "
        f"{utc(reading.commit.observed_at_ms)}) names leader epoch {evidence['committed_leader_epoch']}; epoch "
        f"{evidence['answered_epoch']} ends at {end:,} ({utc(end_read_at_ms)})."
    )
    if kind is Kind.WRONG_COMMIT_EPOCH:
        text = (
            f"{said} That end was known before the commit moved on past it: nothing was cut, the client names a wrong "
            "leader epoch. Its own check for a cut log (KIP-320) will report losses that never were."
        )
        return (Statement(Grade.PROVEN, text),)
    beyond = counted(reading.committed_offset - end, "offset")
    cut = f"{said} Up to {beyond} it has passed may have been cut and written anew: the group would skip the new ones."
    why = "Whether the log was cut before it was first seen, or the client names a wrong epoch in its commits."
    return Statement(Grade.POSSIBLE, cut), Statement(Grade.NOT_OBSERVABLE, why)


def _finding(view: View, reading: Reading, end: EpochEnd, kind: Kind) -> Finding:
    evidence = {
        "committed_offset": reading.committed_offset,
        "committed_leader_epoch": end.asked_epoch,
        "answered_epoch": end.answered_epoch,
        "end_offset": end.end_offset,
        "current_leader_epoch": end.current_leader_epoch,
        "commit_observed_at_ms": reading.commit.observed_at_ms,
        "end_observed_at_ms": end.observed_at_ms,
    }
    return Finding(
        kind=kind,
        place=group_place(view.cluster_id, reading.key, reading.commit.topic_id),
        anchor=f"epoch {end.asked_epoch} ends at {end.end_offset}",
        severity=2 if kind is Kind.COMMIT_IN_TRUNCATED_LOG else 1,
        title=_title(kind, reading, end.asked_epoch),
        statements=_statements(kind, reading, evidence),
        bounds=_bounds(kind, reading.committed_offset - known(end.end_offset)),
        evidence=evidence,
        happened_at_ms=reading.commit.observed_at_ms,
        last_seen_at_ms=reading.commit.observed_at_ms,
    )


def _bounds(kind: Kind, beyond: int) -> Bounds | None:
    """A wrong epoch costs nothing."""
    return Bounds(0, None, beyond, Unit.OFFSETS) if kind is Kind.COMMIT_IN_TRUNCATED_LOG else None
