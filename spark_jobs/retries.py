"""Partitions whose reading failed are left alone for a while: 1 s at first, doubling, at most a minute."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from spark_jobs.ranges import Part

FIRST_PAUSE_MS = 1_000
LONGEST_PAUSE_MS = 60_000


@dataclass(slots=True)
class Retries:
    """What failed, why, and when it is tried again (ms since 1970; the clock is an argument)."""

    _failed: dict[Part, tuple[str, int, int]] = field(default_factory=dict)

    def note(self, part: Part, error: str | None, now_ms: int) -> None:
        """The outcome of a reading; None: it was complete."""
        if error is None:
            self._failed.pop(part, None)
            return
        _, _, pause_ms = self._failed.get(part, ("", 0, FIRST_PAUSE_MS // 2))
        pause_ms = min(2 * pause_ms, LONGEST_PAUSE_MS)
        self._failed[part] = (error, now_ms + pause_ms, pause_ms)

    def resting(self, parts: Iterable[Part], now_ms: int) -> dict[Part, str]:
        """The partitions that are not to be read now, with what went wrong."""
        return {
            part: self._failed[part][0] for part in parts if part in self._failed and self._failed[part][1] > now_ms
        }
