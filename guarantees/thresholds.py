"""When a fact becomes a finding; each default says why. The section `[thresholds]` of the settings file."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """The numbers the rules lean on.

    `stopped_after_s`: slow committers (every 10 s) with slack. `stalled_after_s`: members may still commit, so twice as
    long. `transaction_overdue_share`: the last fifth of a transaction's timeout is when an operator can still act.
    `min_rewind_offsets`: one commit step back is a finding too; raise it only where consumers re-commit on purpose.
    `small_rewind_offsets`: one poll of a Java consumer (max.poll.records = 500): what a rebalance may legally repeat.
    `frozen_after_s`: far above an ordinary transaction (tens of milliseconds to a few seconds), far below the default
    transaction timeout of 60 s, so there is still time to act.
    `at_min_isr_after_s`: an orderly restart of a broker is over by then, and every roll passes through it.
    `offsets_retention_s`: the broker's default of offsets.retention.minutes, since the setting itself is not read;
    `offsets_expire_soon_share`: the last fifth of it, more than a day by default, is when a group can still be started.
    `pending_commit_after_s`: where no transaction's timeout is known, the client's default transaction.timeout.ms; a
    coordinator looks for timed-out transactions every 10 s, which comes on top.
    `min_skip_offsets`: twenty polls of a Java consumer (max.poll.records = 500): less may be read between two samples.
    `gap_s`: rounds further apart than this leave a gap; time in a gap was not observed and counts for nothing. Must be
    above the sampling interval: collectors set it to at least three intervals.
    """

    stopped_after_s: float = 60.0
    stalled_after_s: float = 120.0
    transaction_overdue_share: float = 0.8
    min_rewind_offsets: int = 1
    small_rewind_offsets: int = 500
    frozen_after_s: float = 10.0
    at_min_isr_after_s: float = 120.0
    offsets_retention_s: float = 7 * 86_400.0
    offsets_expire_soon_share: float = 0.8
    pending_commit_after_s: float = 60.0
    min_skip_offsets: int = 10_000
    gap_s: float = 30.0
