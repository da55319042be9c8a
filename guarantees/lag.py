"""Lag that does not lie: five numbers of a group on a partition, each known or Unknown with its reason."""

from dataclasses import dataclass

from guarantees.observations import CommittedOffset, PartitionOffsets
from guarantees.unknown import Unknown

NO_COMMIT = Unknown("no commit")
# Of a share group, which commits nothing: its start offset is -1 before the first acknowledgement (KIP-932).
NOT_STARTED = Unknown("not started: no record of the partition is acknowledged yet")
PENDING_COMMIT = Unknown("a transactional commit awaits its marker")

# A group that commits the last record's offset + 1 stays one below the end where a transaction's marker follows, for
# ever; a second marker is an empty transaction. So few offsets cannot be told from no records at all.
MARKER_SLACK = 2


@dataclass(frozen=True, slots=True)
class Lag:
    """Distances in offsets, which are not records: markers, aborted and compacted data use offsets too.

    `purged`: can no longer be read. `lag_hw`: what a read_uncommitted consumer can still read. `lag_lso`: what a
    read_committed consumer can read now. `blocked`: behind an open transaction. `ahead`: committed beyond the end of
    the log, 0 in every healthy cluster. Which of the two lags applies depends on the group's isolation level, which
    cannot be observed.
    """

    purged: int | Unknown
    lag_hw: int | Unknown
    lag_lso: int | Unknown
    blocked: int | Unknown
    ahead: int | Unknown


def consumer_lag(commit: CommittedOffset | Unknown, offsets: PartitionOffsets | Unknown) -> Lag:
    """The lag of one group on one partition, from a commit that was read before the high watermark.

    Never negative. A commit beyond the high watermark has no lag but an `ahead` (a finding of its own); beyond a high
    watermark that was read too early it has neither.
    """
    committed_offset = known_commit(commit)
    if isinstance(committed_offset, Unknown):
        return _all(committed_offset)
    if isinstance(offsets, Unknown):
        return _all(offsets)
    if isinstance(commit, CommittedOffset) and _other_topic(commit.topic_id, offsets.topic_id):
        return _all(Unknown("the commit belongs to an earlier topic of this name"))
    ahead = _ahead(committed_offset, commit, offsets)
    return Lag(
        purged=_distance(committed_offset, offsets.log_start_offset),
        lag_hw=_readable(committed_offset, offsets, offsets.high_watermark, ahead),
        lag_lso=_readable(committed_offset, offsets, offsets.last_stable_offset, ahead),
        blocked=_blocked(committed_offset, offsets),
        ahead=ahead,
    )


def known_commit(commit: CommittedOffset | Unknown) -> int | Unknown:
    """The committed offset, or why there is none: not asked, failed, pending, or never committed."""
    if isinstance(commit, Unknown):
        return commit
    if commit.is_pending:
        return PENDING_COMMIT
    return NO_COMMIT if commit.committed_offset is None else commit.committed_offset


def _all(reason: Unknown) -> Lag:
    return Lag(reason, reason, reason, reason, reason)


def _other_topic(one: str | None, other: str | None) -> bool:
    return one is not None and other is not None and one != other


def _ahead(committed_offset: int, commit: CommittedOffset | Unknown, offsets: PartitionOffsets) -> int | Unknown:
    if isinstance(offsets.high_watermark, Unknown):
        return offsets.high_watermark
    ahead = max(0, committed_offset - offsets.high_watermark)
    if ahead and isinstance(commit, CommittedOffset) and commit.observed_at_ms > offsets.observed_at_ms:
        return Unknown("the commit was read after the high watermark")
    return ahead


def _readable(
    committed_offset: int, offsets: PartitionOffsets, end_offset: int | Unknown, ahead: int | Unknown
) -> int | Unknown:
    if isinstance(ahead, Unknown):
        return ahead
    if ahead:
        return Unknown("committed beyond the end of the log")
    if isinstance(offsets.log_start_offset, Unknown):
        return offsets.log_start_offset
    # The clamp is needed where the end is the stable offset, or the log start has reached the end: nothing to read.
    return _distance(max(committed_offset, offsets.log_start_offset), end_offset)


def _blocked(committed_offset: int, offsets: PartitionOffsets) -> int | Unknown:
    if isinstance(offsets.last_stable_offset, Unknown):
        return offsets.last_stable_offset
    return _distance(max(committed_offset, offsets.last_stable_offset), offsets.high_watermark)


def _distance(from_offset: int, to_offset: int | Unknown) -> int | Unknown:
    return to_offset if isinstance(to_offset, Unknown) else max(0, to_offset - from_offset)
