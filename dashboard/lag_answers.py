"""Lag over the window, from raw samples or from what they were rolled up to; kept for all sessions."""

from collections.abc import Mapping
from dataclasses import dataclass

from dashboard import cached, lag_questions, left_topics, queries, shapes
from dashboard.cached import Heard
from dashboard.lag_steps import LagSteps
from dashboard.queries import Rows
from dashboard.remembered import remembered
from dashboard.view import RAW_WINDOW_MS, View

# Of commits, in one answer about all groups: beyond it they are read from roll-ups, which end a minute or two ago.
RAW_SAMPLES_AT_MOST = 1_000_000


@dataclass(frozen=True, slots=True)
class Trends:
    """Of each group its total lag, point by point, and at which point it was seen first."""

    series: Mapping[str, tuple[int | None, ...]]
    begins: Mapping[str, int]


def lag_history(view: View, group_id: str) -> shapes.LagHistory:
    """Lag of a group by partition over the window, on the topics that it has not left."""
    known = cached.heard(view)
    if known is None:
        return shapes.lag_history([], view.from_ms, view.to_ms, cached.step_ms(view.cluster))
    left = left_topics.of_group(view, group_id)
    return _lag_history(cached.data_dir(), view.from_ms, view.to_ms, known, group_id, left)


def owners(view: View, group_id: str) -> Rows:
    """Members in force now."""
    rows = cached.now(view, queries.MEMBERS, group_id=group_id)
    return [row for row in rows if row["ended_before_ms"] is None]


def lag_trend(view: View, points: int) -> Mapping[str, tuple[int | None, ...]]:
    """Total lag of each group over the window, in about `points` points; None where it is unknown.

    Topics a group has left do not count.
    """
    known = cached.heard(view)
    return {} if known is None else _known_trend(view, known, points).series


def trend_begins(view: View, points: int) -> Mapping[str, int]:
    """At which point of its trend each group was seen first."""
    known = cached.heard(view)
    return {} if known is None else _known_trend(view, known, points).begins


def _known_trend(view: View, known: Heard, points: int) -> Trends:
    left = tuple(sorted(left_topics.left_topics(view)))
    return _lag_trend(cached.data_dir(), view.from_ms, view.to_ms, known, points, left)


def trend_step_ms(view: View, points: int) -> int:
    """How far apart the points of a trend are."""
    known = cached.heard(view) or Heard("", view.to_ms, view.to_ms, cached.step_ms(view.cluster), 0)
    return _trend_steps(view.from_ms, view.to_ms, known, points).bucket_ms


def chart_step_ms(view: View) -> int:
    """How wide a bucket of a chart of the window is."""
    return trend_step_ms(view, shapes.CELLS)


@remembered(60)
def _lag_history(
    data_dir: str, from_ms: int, to_ms: int, known: Heard, group_id: str, left: tuple[str, ...]
) -> shapes.LagHistory:
    steps = LagSteps(from_ms, to_ms, known.interval_ms, shapes.CELLS, reads_raw=True)
    of_group = {"cluster_id": known.cluster_id, "group_id": group_id}
    recent_ms = max(from_ms, to_ms - RAW_WINDOW_MS)
    topics = [row["topic"] for row in cached.ask(data_dir, recent_ms, to_ms, lag_questions.GROUP_TOPICS, of_group)]
    about = of_group | {"topics": topics, "step_ms": steps.bucket_ms}
    rows = steps.rows(lag_questions.LAG_CELLS, lambda question, *span: cached.ask(data_dir, *span, question, about))
    read = [row for row in rows if row["topic"] not in left]
    return shapes.lag_history(read, from_ms, to_ms, steps.bucket_ms)


def _trend_steps(from_ms: int, to_ms: int, known: Heard, points: int) -> LagSteps:
    raw_ms = min(to_ms - from_ms, RAW_WINDOW_MS)
    reads_raw = known.commits * raw_ms // known.interval_ms <= RAW_SAMPLES_AT_MOST
    return LagSteps(from_ms, to_ms, known.interval_ms, points, reads_raw)


@remembered(60)
def _lag_trend(
    data_dir: str, from_ms: int, to_ms: int, known: Heard, points: int, left: tuple[tuple[str, str], ...]
) -> Trends:
    steps = _trend_steps(from_ms, to_ms, known, points)
    groups, topics = [group_id for group_id, _ in left], [topic for _, topic in left]
    about = {"cluster_id": known.cluster_id, "step_ms": steps.bucket_ms, "left_groups": groups, "left_topics": topics}
    rows = steps.rows(lag_questions.LAG_TREND, lambda question, *span: cached.ask(data_dir, *span, question, about))
    begins = shapes.trend_begins(rows, from_ms, steps.bucket_ms)
    return Trends(shapes.trends(rows, from_ms, to_ms, steps.bucket_ms), begins)
