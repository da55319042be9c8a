"""What a round asks brokers only now and then: configurations, log directories, rights and features."""

from dashboard import cached
from dashboard.queries import Question, Rows
from dashboard.view import View
from guarantees.cadence import SELDOM_ROUNDS

# So many hold an answer, even where every round came late by half of an interval.
ROUNDS_BACK = SELDOM_ROUNDS * 3 // 2


def asked_last(view: View, question: Question, *, to_ms: int | None = None, **about: object) -> Rows:
    """Ask about the newest rounds, back to the one before it that asked last; up to the newest answer, or `to_ms`."""
    known = cached.heard(view)
    if known is None:
        return []
    start_ms = known.observed_at_ms - ROUNDS_BACK * known.interval_ms
    return cached.between(view, start_ms, (to_ms or known.observed_at_ms) + 1, question, **about)
