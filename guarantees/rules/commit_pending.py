"""commit_pending: a transactional offset commit awaits its marker for longer than its transaction may last (T3)."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from guarantees.findings import Bounds, Finding, Grade, Kind, Statement, Unit
from guarantees.memory import Memory, PendingCommit
from guarantees.observations import CommittedOffset, Round, Signal
from guarantees.places import GroupPartition, TopicPartition
from guarantees.times import utc
from guarantees.view import View, group_partition, group_place, number, present

# The coordinator of transactions looks for those past their timeout this often (4.2: every 10 s).
ABORT_TASK_MS = 10_000
OFFSETS_TOPIC = "__consumer_offsets"


def opened(view: View) -> Iterator[Finding]:
    """Error 88 (UNSTABLE_OFFSET_COMMIT, KIP-447) in every answer for longer than timeout + 10 s.

    Pending is neither "no offset" nor an expiry: a pending commit blocks the expiry of its partition.
    """
    timeout_ms = _timeout_ms(view)
    for key, _ in view.triage.pending:
        run = view.now.pending[key]
        place = group_place(view.cluster_id, key, run.topic_id)
        is_long = run.last_ms - run.since_ms > timeout_ms + ABORT_TASK_MS
        if is_long and (Kind.COMMIT_PENDING, place) not in view.open_places:
            yield _finding(view, key, run, timeout_ms)


def continued(finding: Finding, view: View) -> Finding:
    """Closes at the first answer that is not pending; a failed answer proves nothing."""
    key = present(group_partition(finding.place))
    commit = view.round.commits.get(key)
    if commit is None or commit.topic_id != finding.place.topic_id:
        return finding
    seen = replace(finding, last_seen_at_ms=commit.observed_at_ms)
    if commit.is_pending:
        pending_s = (commit.observed_at_ms - number(finding.evidence, "pending_since_ms")) // 1000
        bounds = Bounds(pending_s, pending_s, None, Unit.SECONDS)
        evidence = {**finding.evidence, "observed_at_ms": commit.observed_at_ms}
        return replace(seen, title=_title(key, pending_s), bounds=bounds, evidence=evidence)
    if commit.committed_offset is None:
        return replace(seen, closed_reason="the pending commit was aborted: the group has no commit here")
    if isinstance(commit.committed_offset, int):
        return replace(seen, closed_reason=f"the commit is decided: {commit.committed_offset:,}")
    return finding


def remember(
    before: Memory, observed: Round, pending: Iterable[tuple[GroupPartition, CommittedOffset]], gap_s: float
) -> dict[GroupPartition, PendingCommit]:
    """Unbroken runs of pending answers; one that could not be read stays as it was.

    A run cannot be older than the oldest transaction that could hold it: a busy application has one pending commit
    after another, and none of them for long. Nor does it last over a gap in which nobody looked.
    """
    oldest_ms = _oldest_start_ms(observed)
    runs = {key: run for key, run in before.pending.items() if _is_unread(observed.commits.get(key))}
    for key, commit in pending:
        run = before.pending.get(key)
        since_ms = run.since_ms if run is not None and _goes_on(run, commit, gap_s) else commit.observed_at_ms
        since_ms = since_ms if oldest_ms is None else min(commit.observed_at_ms, max(since_ms, oldest_ms))
        runs[key] = PendingCommit(commit.topic_id, since_ms, commit.observed_at_ms)
    return runs


def _goes_on(run: PendingCommit, commit: CommittedOffset, gap_s: float) -> bool:
    return run.topic_id == commit.topic_id and commit.observed_at_ms - run.last_ms <= gap_s * 1000


def _is_unread(commit: CommittedOffset | None) -> bool:
    if commit is None:
        return True
    return (
        not commit.is_pending and commit.committed_offset is not None and not isinstance(commit.committed_offset, int)
    )


def _oldest_start_ms(observed: Round) -> int | None:
    """When the oldest open transaction with offset commits began; None unless every transaction was described."""
    is_complete = any(c.signal == Signal.TRANSACTIONS and c.is_complete and not c.refused for c in observed.coverage)
    starts = [t.started_at_ms for t in observed.transactions if _holds_commits(t.partitions)]
    known = [start for start in starts if start is not None]
    return min(known) if is_complete and known and len(known) == len(starts) else None


def _holds_commits(partitions: Iterable[TopicPartition]) -> bool:
    return any(partition.topic == OFFSETS_TOPIC for partition in partitions)


def _timeout_ms(view: View) -> int:
    """The longest timeout of the round's open transactions with offset commits, else the default."""
    known = [t.timeout_ms for t in view.round.transactions if _holds_commits(t.partitions)]
    return max(known, default=round(view.thresholds.pending_commit_after_s * 1000))


def _finding(view: View, key: GroupPartition, run: PendingCommit, timeout_ms: int) -> Finding:
    pending_s = (run.last_ms - run.since_ms) // 1000
    last = view.before.commits.get(key)
    return Finding(
        kind=Kind.COMMIT_PENDING,
        place=group_place(view.cluster_id, key, run.topic_id),
        anchor=f"after commit {None if last is None else last.committed_offset}",
        severity=3,
        title=_title(key, pending_s),
        statements=(
            Statement(
                Grade.PROVEN,
                f"A transactional commit of {key.group_id} on {_where(key)} is pending since {utc(run.since_ms)} at "
                "the latest: every answer since was error 88, and no consumer can start there until it is decided.",
            ),
            Statement(
                Grade.PROBABLE,
                "Its transaction is stuck: the marker is missing on the group's partition of __consumer_offsets.",
                f"the transaction is the same all the time and its timeout is at most {timeout_ms / 1000:.0f} s",
            ),
            Statement(Grade.NOT_OBSERVABLE, "The offset that is pending, and the transaction it belongs to."),
        ),
        bounds=Bounds(pending_s, pending_s, None, Unit.SECONDS),
        evidence={
            "error_code": 88,
            "pending_since_ms": run.since_ms,
            "observed_at_ms": run.last_ms,
            "transaction_timeout_ms": timeout_ms,
            "last_committed_offset": None if last is None else last.committed_offset,
        },
        happened_at_ms=run.since_ms,
        last_seen_at_ms=run.last_ms,
    )


def _where(key: GroupPartition) -> str:
    return f"{key.topic}-{key.partition}"


def _title(key: GroupPartition, pending_s: int) -> str:
    return f"a transactional commit of {key.group_id} on {_where(key)} has been pending for {pending_s:,} s"
