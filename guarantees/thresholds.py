"""When a fact becomes a finding; each default says why. Collectors fill it from the settings of the same names."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """The numbers the rules lean on.

    `stopped_after_s`: slow committers (every 10 s) with slack. `stalled_after_s`: members may still commit, so twice as
    long. `transaction_overdue_share`: the last fifth of a transaction's timeout is when an operator can still act.
    `min_rewind_offsets`: one commit step back is a finding too.
    `small_rewind_offsets`: one poll of a Java consumer (max.poll.records = 500): what a rebalance may legally repeat.
    `frozen_after_s`: far above an ordinary transaction (tens of milliseconds to a few seconds), far below the default
    transaction timeout of 60 s, so there is still time to act.
    `at_min_isr_after_s`: an orderly restart of a broker is over by then, and every roll passes through it.
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
    gap_s: float = 30.0
