"""How complete the rounds of a window are: expected and present ones, and the longest time without any."""

from dataclasses import dataclass

from guarantees.cadence import rounds_apart
from guarantees.observations import Signal
from guarantees.times import utc
from guarantees.unknown import Unknown

# Below this share more was missed than seen.
ENOUGH_SHARE = 0.5
# A round may be late or skipped; three missing in a row are a gap (the rules' `gap_s` is as long).
GAP_INTERVALS = 3


def gap_ms(gap_s: float, interval_ms: int) -> int:
    """From here on two samples leave a gap between them, as the collectors count it; `gap_s` is the threshold."""
    return max(round(gap_s * 1000), GAP_INTERVALS * interval_ms)


def gap_of_states_ms(gap_s: float, interval_ms: int, partitions: int) -> int:
    """The same between two samples of partitions' states, which a large cluster is asked for less often."""
    return gap_ms(gap_s, interval_ms * rounds_apart(Signal.PARTITION_STATES, partitions))


@dataclass(frozen=True, slots=True)
class RoundsSeen:
    """Rounds of a window that answered, by their end offsets. `longest_gap_ms` None: fewer than two of them.

    Rounds are expected from the first one of the window on: before it nobody may have watched, which `gaps` says.
    """

    from_ms: int
    to_ms: int
    interval_ms: int
    present: int
    first_ms: int | None
    last_ms: int | None
    longest_gap_ms: int | None
    gap_from_ms: int | None

    @property
    def expected(self) -> int:
        """The round that runs at the end of the window is not expected yet."""
        since_first = 0 if self.first_ms is None else (self.to_ms - self.first_ms) // self.interval_ms
        return max(self.present, since_first)

    @property
    def share(self) -> float:
        return self.present / self.expected if self.expected else 0.0


def is_whole(seen: RoundsSeen) -> bool:
    """No round is missing but single ones: what was not seen in the window lasted less than a gap, or was not there."""
    return seen.expected - seen.present < GAP_INTERVALS and not gaps(seen)


def too_few(seen: RoundsSeen) -> list[Unknown]:
    """Why the rounds of the window are too little to call a promise kept; empty where they are enough."""
    if seen.present < 2:
        return [Unknown(f"{seen.present} of {seen.expected} rounds were observed: nothing can be compared")]
    if seen.share < ENOUGH_SHARE:
        return [Unknown(f"only {seen.present:,} of {seen.expected:,} expected rounds were observed in the window")]
    return []


def ends_early(seen: RoundsSeen) -> bool:
    """Rounds were observed, and none in the last time of the window."""
    return seen.last_ms is not None and seen.to_ms - seen.last_ms > GAP_INTERVALS * seen.interval_ms


def gaps(seen: RoundsSeen) -> list[Unknown]:
    """Time of the window in which nothing was observed; what came and went in it is not known."""
    found, least_ms = [], GAP_INTERVALS * seen.interval_ms
    if seen.first_ms is not None and seen.first_ms - seen.from_ms > least_ms:
        found.append(Unknown(f"nothing was observed in the window before {utc(seen.first_ms)}"))
    if seen.last_ms is not None and ends_early(seen):
        found.append(Unknown(f"nothing was observed in the window after {utc(seen.last_ms)}"))
    if seen.longest_gap_ms is not None and seen.gap_from_ms is not None and seen.longest_gap_ms > least_ms:
        lasted = f"for {seen.longest_gap_ms / 1000:.0f} s from {utc(seen.gap_from_ms)}"
        found.append(Unknown(f"nothing was observed {lasted}, the longest gap"))
    return found
