"""How lag over a window is read: from which sources, and in how long buckets."""

from collections.abc import Callable
from dataclasses import dataclass

from dashboard import shapes
from dashboard.lag_questions import LagQuestions
from dashboard.queries import Question, Rows
from dashboard.view import RAW_WINDOW_MS

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
# Up to here the minute roll-ups are read, beyond it those of whole hours.
MINUTES_WINDOW_MS = 24 * HOUR_MS


@dataclass(frozen=True, slots=True)
class LagSteps:
    """A window drawn in at most so many cells. `reads_raw`: raw samples may be read where roll-ups end."""

    from_ms: int
    to_ms: int
    interval_ms: int
    cells: int
    reads_raw: bool

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of LagQuestions, the coarsest first."""
        raw = ("raw",) if self.reads_raw else ()
        if self.reads_raw and self._length_ms <= RAW_WINDOW_MS:
            return raw
        return (*(("by_hour",) if self._length_ms > MINUTES_WINDOW_MS else ()), "by_minute", *raw)

    @property
    def bucket_ms(self) -> int:
        """Whole periods of the coarsest source; two intervals, so that a tick that comes late leaves no hole."""
        coarsest = {"raw": 2 * self.interval_ms, "by_minute": MINUTE_MS, "by_hour": HOUR_MS}[self.sources[0]]
        return shapes.bucket_ms(self._length_ms, coarsest, self.cells)

    def rows(self, questions: LagQuestions, ask: Callable[[Question, int, int], Rows]) -> Rows:
        """From the coarsest source to the finest, each from where the one before it ends."""
        found: Rows = []
        start_ms, bucket_ms = self.from_ms, self.bucket_ms
        for source in self.sources:
            if source == "raw":
                start_ms = max(start_ms, self.to_ms - RAW_WINDOW_MS)
            if start_ms < self.to_ms:
                found += ask(getattr(questions, source), start_ms, self.to_ms)
            start_ms = max((row["at_ms"] + bucket_ms for row in found), default=start_ms)
        return found

    @property
    def _length_ms(self) -> int:
        return self.to_ms - self.from_ms
