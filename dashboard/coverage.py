"""What was last asked of a cluster, what came back, and how old that is."""

from collections.abc import Iterable
from dataclasses import replace

from dashboard import cached
from dashboard.asked_seldom import asked_last
from dashboard.freshness import Freshness, freshness
from dashboard.queries import COVERAGE, IS_ANSWERED, Question, Row, Rows
from dashboard.view import RAW_WINDOW_MS, View
from guarantees.cadence import SELDOM_ROUNDS
from guarantees.observations import Signal
from store.lag import literal

# As queries.COVERAGE; of what is asked only now and then the newest answer, since a round that reaches nobody says of
# everything that it failed.
SELDOM = ", ".join(literal(signal) for signal in (Signal.CONFIGS, Signal.LOG_DIRS, Signal.RIGHTS, Signal.FEATURES))
ASKED_LAST = Question(("rounds",), COVERAGE.sql.replace(
    "ORDER BY tick DESC", f"ORDER BY signal IN ({SELDOM}) AND {IS_ANSWERED} DESC, tick DESC"
))  # fmt: skip
LAST_ANSWERED = Question(("rounds",), f"""
    SELECT signal, epoch_ms(max(observed_at)) AS answered_at_ms FROM rounds
    WHERE cluster_id = $cluster_id AND {IS_ANSWERED} GROUP BY signal ORDER BY signal""")  # fmt: skip


def age(view: View, signals: tuple[str, ...]) -> Freshness:
    """How old and complete the newest answers of these signals are; no signals: of the essential ones."""
    return freshness(by_signal(view), signals, cached.step_ms(view.cluster))


def age_of_seldom(view: View, signal: Signal) -> Freshness:
    """The same of what is asked only now and then: it is stale when the next answer is overdue."""
    return replace(age(view, (signal,)), rounds_apart=SELDOM_ROUNDS)


@cached.shared
def by_signal(view: View) -> Rows:
    """What each signal was last asked for and got, and when it was last answered; `is_older`: before that time.

    A cluster that is out of reach is asked on and on: what it last answered does not get younger by it. What is asked
    for now and then counts until it is asked for again.
    """
    known = cached.heard(view)
    rows = asked_last(view, ASKED_LAST, to_ms=known.attempted_at_ms) if known else []
    is_silent = any(row["answered_at_ms"] is None for row in rows)
    return with_last_answers(rows, cached.recently(view, LAST_ANSWERED) if is_silent else (), view.to_ms)


def with_last_answers(rows: Iterable[Row], last: Iterable[Row], at_ms: int) -> Rows:
    """The same where an older answer is taken for one of RAW_WINDOW_MS ago, and marked (`is_older`)."""
    return [{**row, **_last_answer(row["answered_at_ms"], at_ms)} for row in last_answered(rows, last)]


def last_answered(rows: Iterable[Row], last: Iterable[Row]) -> Rows:
    """Coverage with when each signal was last answered; by LAST_ANSWERED where it was not in these rounds."""
    told = {row["signal"]: row["answered_at_ms"] for row in last}
    return [{**row, "answered_at_ms": row["answered_at_ms"] or told.get(row["signal"])} for row in rows]


def _last_answer(answered_at_ms: int | None, at_ms: int) -> dict[str, object]:
    is_older = answered_at_ms is None
    return {"answered_at_ms": at_ms - RAW_WINDOW_MS if is_older else answered_at_ms, "is_older": is_older}
