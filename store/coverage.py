"""Coverage of a signal read back from its row of the table `rounds`."""

from collections.abc import Mapping
from typing import Any

from guarantees.observations import Coverage


def coverage(row: Mapping[str, Any], started_at_ms: int, ended_at_ms: int) -> Coverage:
    """`row` has at least the counts, the error and the signal; its times may stand under a query's own names."""
    return Coverage(
        signal=row["signal"],
        asked=row["asked"],
        answered=row["answered"],
        refused=row["refused"],
        failed=row["failed"],
        error=row["error"],
        started_at_ms=started_at_ms,
        ended_at_ms=ended_at_ms,
    )
