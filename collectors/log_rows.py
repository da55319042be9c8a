"""What rows out of Kafka's own topics have in common."""

from collectors.rows import Row
from guarantees.internal_records import Logged

# Clocks differ; a time further ahead than this is no time.
_AHEAD_MS = 24 * 60 * 60_000


def place(record: Logged, read_at_ms: int) -> Row:
    """Where a record lies, and when it was written and read. The coordinator's clock may run ahead of ours."""
    return {
        "log_partition": record.partition,
        "log_offset": record.offset,
        "read_at": read_at_ms,
        "observed_at": min(max(0, record.at_ms), read_at_ms),
    }


def believed(at_ms: int | None, read_at_ms: int) -> int | None:
    """A time that a coordinator wrote, None where it cannot be one."""
    return at_ms if at_ms is not None and 0 <= at_ms <= read_at_ms + _AHEAD_MS else None
