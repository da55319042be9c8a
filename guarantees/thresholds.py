"""When a fact becomes a finding; each default says why. The section `[thresholds]` of the settings file."""

from dataclasses import dataclass, field
from typing import Any


def default(value: Any, why: str) -> Any:
    """A threshold's default with its reason beside it; pages show the same sentence."""
    return field(default=value, metadata={"why": why})


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """The numbers the rules lean on."""

    stopped_after_s: float = default(60.0, "slow committers (every 10 s) with slack")
    stalled_after_s: float = default(120.0, "members may still commit, so twice as long as for a stop")
    transaction_overdue_share: float = default(
        0.8, "the last fifth of a transaction's timeout is when an operator can still act"
    )
    min_rewind_offsets: int = default(
        1, "one commit step back is a finding too; raise it only where consumers re-commit on purpose"
    )
    small_rewind_offsets: int = default(
        500, "one poll of a Java consumer (max.poll.records = 500): what a rebalance may legally repeat"
    )
    frozen_after_s: float = default(
        10.0,
        "far above an ordinary transaction (tens of milliseconds to a few seconds), far below the default "
        "transaction timeout of 60 s, so there is still time to act",
    )
    at_min_isr_after_s: float = default(
        120.0, "an orderly restart of a broker is over by then, and every roll passes through it"
    )
    offsets_retention_s: float = default(
        7 * 86_400.0, "the broker's default of offsets.retention.minutes, since the setting itself is not read"
    )
    offsets_expire_soon_share: float = default(
        0.8,
        "the last fifth of the retention, more than a day by default, is when a group can still be started",
    )
    pending_commit_after_s: float = default(
        60.0,
        "where no transaction's timeout is known, the client's default transaction.timeout.ms; a coordinator looks "
        "for timed-out transactions every 10 s, which comes on top",
    )
    min_skip_offsets: int = default(
        10_000,
        "twenty polls of a Java consumer (max.poll.records = 500): less may be read between two samples",
    )
    gap_s: float = default(
        30.0,
        "rounds further apart leave a gap; time in a gap was not observed and counts for nothing. Must be above the "
        "sampling interval: collectors set it to at least three intervals",
    )
