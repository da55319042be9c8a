"""What was last asked of a cluster, what came back, and how old that is."""

from dashboard import cached, queries
from dashboard.cached import Heard
from dashboard.freshness import Freshness, freshness
from dashboard.queries import Rows
from dashboard.view import RAW_WINDOW_MS, View


def age(view: View, signals: tuple[str, ...]) -> Freshness:
    """How old and complete the newest answers of these signals are; no signals: of the essential ones."""
    return freshness(by_signal(view), signals, cached.step_ms(view.cluster))


@cached.shared
def by_signal(view: View) -> Rows:
    """What each signal was last asked for and got, and when it was last answered; `is_older`: before that time.

    A cluster that is out of reach is asked on and on: what it last answered does not get younger by it.
    """
    known = cached.heard(view)
    rows = [] if known is None else _asked(view, known)
    never = {"answered_at_ms": view.to_ms - RAW_WINDOW_MS, "is_older": True}
    silent = any(row["answered_at_ms"] is None for row in rows)
    last = {row["signal"]: row for row in cached.recently(view, queries.LAST_ANSWERED)} if silent else {}
    return [
        {**row, "is_older": False}
        if row["answered_at_ms"] is not None
        else {**row, **never, **({**last[row["signal"]], "is_older": False} if row["signal"] in last else {})}
        for row in rows
    ]


def _asked(view: View, known: Heard) -> Rows:
    if known.attempted_at_ms == known.observed_at_ms:
        return cached.now(view, queries.COVERAGE)
    return cached.between(view, cached.newest_from(known), known.attempted_at_ms + 1, queries.COVERAGE_OF_WINDOW)
