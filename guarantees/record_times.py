"""What a record's timestamp says of its age, and when it says nothing (L10)."""

from enum import StrEnum

# Clocks of producers may differ; nothing ordinary is an hour ahead (message.timestamp.after.max.ms, KIP-937).
AHEAD_AT_MOST_MS = 3_600_000
# Milliseconds since 1970 below this lie before March 1973: seconds, or days, taken for milliseconds.
EARLIEST_MS = 100_000_000_000


class NoAge(StrEnum):
    """Why a timestamp gives no age."""

    ABSENT = "it has no timestamp"
    FUTURE = "its timestamp lies in the future"
    NEAR_1970 = "its timestamp lies near 1970"


def record_age_ms(timestamp_ms: int, now_ms: int) -> int | NoAge:
    """Never negative: a clock a little ahead makes a record new. `timestamp_ms` −1: none."""
    if timestamp_ms < 0:
        return NoAge.ABSENT
    if timestamp_ms < EARLIEST_MS:
        return NoAge.NEAR_1970
    if timestamp_ms > now_ms + AHEAD_AT_MOST_MS:
        return NoAge.FUTURE
    return max(0, now_ms - timestamp_ms)
