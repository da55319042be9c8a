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
PERIODS_MS = {"by_hour": HOUR_MS, "by_minute": MINUTE_MS}


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
        coarsest = PERIODS_MS.get(self.sources[0], 2 * self.interval_ms)
        return shapes.bucket_ms(self._length_ms, coarsest, self.cells)

    def rows(self, questions: LagQuestions, ask: Callable[[Question, int, int], Rows]) -> Rows:
        """From the coarsest source to the finest, each from the end of the last period that the one before it tells.

        A bucket is longer than a period, so two sources may tell a part of one: it then has a row of each, in order.
        """
        found: Rows = []
        start_ms = self.from_ms
        for source in self.sources:
            if source == "raw":
                start_ms = max(start_ms, self.to_ms - RAW_WINDOW_MS)
            rows = ask(getattr(questions, source), start_ms, self.to_ms) if start_ms < self.to_ms else []
            if rows and source in PERIODS_MS:
                start_ms = max(row["newest_ms"] for row in rows) + PERIODS_MS[source]
            found += rows
        return found

    @property
    def _length_ms(self) -> int:
        return self.to_ms - self.from_ms
