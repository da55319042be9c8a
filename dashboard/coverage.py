"""What was last asked of a cluster, what came back, and how old that is."""

from dashboard import cached
from dashboard.asked_seldom import asked_last
from dashboard.freshness import Freshness, freshness
from dashboard.queries import COVERAGE_OF_WINDOW, IS_ANSWERED, Question, Rows
from dashboard.view import RAW_WINDOW_MS, View

LAST_ANSWERED = Question(("rounds",), f"""
    SELECT signal, epoch_ms(max(observed_at)) AS answered_at_ms FROM rounds
    WHERE cluster_id = $cluster_id AND {IS_ANSWERED} GROUP BY signal ORDER BY signal""")  # fmt: skip


def age(view: View, signals: tuple[str, ...]) -> Freshness:
    """How old and complete the newest answers of these signals are; no signals: of the essential ones."""
    return freshness(by_signal(view), signals, cached.step_ms(view.cluster))


@cached.shared
def by_signal(view: View) -> Rows:
    """What each signal was last asked for and got, and when it was last answered; `is_older`: before that time.

    A cluster that is out of reach is asked on and on: what it last answered does not get younger by it. What is asked
    for now and then counts until it is asked for again.
    """
    known = cached.heard(view)
    rows = asked_last(view, COVERAGE_OF_WINDOW, to_ms=known.attempted_at_ms) if known else []
    is_silent = any(row["answered_at_ms"] is None for row in rows)
    last = {row["signal"]: row["answered_at_ms"] for row in cached.recently(view, LAST_ANSWERED)} if is_silent else {}
    return [row | _last_answer(row["answered_at_ms"] or last.get(row["signal"]), view) for row in rows]


def _last_answer(at_ms: int | None, view: View) -> dict[str, object]:
    is_older = at_ms is None
    return {"answered_at_ms": view.to_ms - RAW_WINDOW_MS if is_older else at_ms, "is_older": is_older}
