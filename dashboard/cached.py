"""Answers shared between sessions, by what was asked and the moment asked for. Nobody changes a shared answer."""

import gc
import os
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

import streamlit as st

from dashboard import (
    action_log,
    actions,
    concerns,
    configured,
    lag_questions,
    promise_questions,
    queries,
    replication_questions,
    shapes,
    transaction_questions,
)
from dashboard.actions import Handling
from dashboard.freshness import Freshness, freshness
from dashboard.lag_steps import LagSteps
from dashboard.queries import Question, Rows
from dashboard.store_size import size_of
from dashboard.view import RAW_WINDOW_MS, View
from guarantees import lifecycle
from guarantees.lifecycle import FindingEvent, FindingHistory
from settings import Settings
from store.findings import events_version, load_events
from store.reading import segments

Answer = TypeVar("Answer")

MINUTE_MS = 60_000
DAY_MS = 24 * 60 * MINUTE_MS
KEPT_FOR_S = 120
ROUNDS_BACK = 3
# Of commits, in one answer about all groups: beyond it they are read from roll-ups, which end a minute or two ago.
RAW_SAMPLES_AT_MOST = 1_000_000
# Questions are constants of one module: hashing their SQL at every look-up cost more than the look-up.
BY_IDENTITY = {Question: id}
GROUPS = (
    (
        *queries.OF_THE_NEWEST_ROUND,
        *transaction_questions.OF_THE_NEWEST_ROUND,
        promise_questions.TOPICS,
        promise_questions.CONFIGURATIONS,
    ),
    queries.OF_THE_LAST_DAY,
    queries.OF_TIDEMARK,
    promise_questions.OF_RECENT,
    replication_questions.OF_THE_WINDOW,
)


@dataclass(frozen=True, slots=True)
class Heard:
    """A cluster as it was last heard."""

    cluster_id: str
    observed_at_ms: int
    interval_ms: int
    commits: int  # group-partitions asked for in its largest round


def shared(make: Callable[[View], Answer]) -> Callable[[View], Answer]:
    """What is made of answers, made once for all sessions that look at the same moment with the same search."""

    @wraps(make)
    def once(view: View) -> Answer:
        made: Answer = _made(_started_with(), f"{make.__module__}.{make.__qualname__}", view, make)
        return made

    return once


def settings() -> Settings:
    """The settings of this process, read again when the file changes."""
    return _settings(*_started_with())


def _started_with() -> tuple[Mapping[str, str], int]:
    """The environment that names the settings, and when their file last changed."""
    names = (configured.SETTINGS_VARIABLE, configured.BOOTSTRAP_VARIABLE, configured.DATA_DIR_VARIABLE)
    environ = {name: os.environ[name] for name in names if name in os.environ}
    path = environ.get(configured.SETTINGS_VARIABLE)
    changed_ns = Path(path).stat().st_mtime_ns if path and Path(path).exists() else 0
    return environ, changed_ns


def step_ms(cluster: str) -> int:
    """The sampling interval the cluster is configured with."""
    return next(round(known.interval_s * 1000) for known in settings().clusters if known.name == cluster)


def heard(view: View) -> Heard | None:
    """The newest identity of the cluster in the last day; None: nothing was heard of it."""
    for back_ms in (RAW_WINDOW_MS, DAY_MS):
        rows = _ask(_data_dir(), view.to_ms - back_ms, view.to_ms, queries.CLUSTERS, {})
        newest = next((row for row in rows if row["cluster"] == view.cluster and row["cluster_id"]), None)
        if newest is not None:
            return Heard(newest["cluster_id"], newest["observed_at_ms"], newest["interval_ms"], newest["commits"] or 0)
    return None


def evidence_age(view: View, signals: tuple[str, ...]) -> Freshness:
    """How old and complete the newest answers of these signals are; no signals: of the essential ones."""
    return freshness(now(view, queries.COVERAGE), signals, step_ms(view.cluster))


def now(view: View, question: Question, **about: object) -> Rows:
    """Ask about the newest round, which may be old when nobody collects: the panel says how old."""
    known = heard(view)
    if known is None:
        return []
    start = known.observed_at_ms - ROUNDS_BACK * known.interval_ms
    return _ask(_data_dir(), start, known.observed_at_ms + 1, question, {"cluster_id": known.cluster_id, **about})


def in_window(view: View, question: Question, **about: object) -> Rows:
    """Ask about the window on screen."""
    return _of_cluster(view, view.from_ms, view.to_ms, question, about)


def recently(view: View, question: Question, **about: object) -> Rows:
    """Ask about the raw samples of the last quarter of an hour of the window, however long the window is."""
    return _of_cluster(view, view.to_ms - RAW_WINDOW_MS, view.to_ms, question, about)


def last_day(view: View, question: Question, **about: object) -> Rows:
    """Ask about the day that ends with the window."""
    return _of_cluster(view, view.to_ms - DAY_MS, view.to_ms, question, about)


def last_day_of_window(view: View, question: Question, **about: object) -> Rows:
    """Ask about the window on screen, of one longer than a day about its last day: covered ranges are many."""
    return _of_cluster(view, max(view.from_ms, view.to_ms - DAY_MS), view.to_ms, question, about)


def between(view: View, from_ms: int, to_ms: int, question: Question) -> Rows:
    """Ask about a stretch of time of its own."""
    return _of_cluster(view, from_ms, to_ms, question, {})


def of_tidemark(view: View, question: Question, **about: object) -> Rows:
    """Ask about Tidemark itself, whether or not a cluster was ever heard."""
    return _ask(_data_dir(), view.from_ms, view.to_ms, question, about)


def lag_history(view: View, group_id: str) -> shapes.LagHistory:
    """Lag of a group by partition over the window."""
    known = heard(view)
    if known is None:
        return shapes.lag_history([], view.from_ms, view.to_ms, step_ms(view.cluster))
    return _lag_history(_data_dir(), view.from_ms, view.to_ms, known, group_id)


def lag_trend(view: View, points: int) -> Mapping[str, tuple[int | None, ...]]:
    """Total lag of each group over the window, in about `points` points; None where it is unknown.

    Topics a group has left do not count.
    """
    known = heard(view)
    if known is None:
        return {}
    left = tuple(sorted(concerns.left_topics(one.finding for one in findings(view).values())))
    return _lag_trend(_data_dir(), view.from_ms, view.to_ms, known, points, left)


def trend_step_ms(view: View, points: int) -> int:
    """How far apart the points of a trend are."""
    known = heard(view) or Heard("", view.to_ms, step_ms(view.cluster), 0)
    return _trend_steps(view.from_ms, view.to_ms, known, points).bucket_ms


def chart_step_ms(view: View) -> int:
    """How wide a bucket of a chart of the window is."""
    return trend_step_ms(view, shapes.CELLS)


def findings(view: View) -> Mapping[str, FindingHistory]:
    """Every finding of the cluster as it stood at the end of the window."""
    known = heard(view)
    if known is None:
        return {}
    data_dir = _data_dir()
    version = events_version(Path(data_dir))
    number = bisect_right(_events(data_dir, version), view.to_ms, key=attrgetter("at_ms"))
    histories = _findings(data_dir, version, number)
    return {name: one for name, one in histories.items() if one.finding.place.cluster_id == known.cluster_id}


def handled() -> Mapping[str, Handling]:
    """What people did about findings, as it is now whatever the window: a note on an old finding is read at once."""
    files = segments(Path(_data_dir()), action_log.TABLE, None)
    return _handled(_data_dir(), tuple(file.name for file in files))


def store_size() -> tuple[int, int]:
    """Files and bytes of the data directory, counted at most once a minute."""
    return _store_size(_data_dir())


@st.cache_resource(show_spinner=False)
def settle_memory() -> None:
    """Once per process: what the imports left behind is not searched for garbage after every run of a page."""
    gc.collect()
    gc.freeze()


def _data_dir() -> str:
    return settings().store.data_dir


def _of_cluster(view: View, from_ms: int, to_ms: int, question: Question, about: Mapping[str, object]) -> Rows:
    known = heard(view)
    return _ask(_data_dir(), from_ms, to_ms, question, {"cluster_id": known.cluster_id, **about}) if known else []


@st.cache_resource(max_entries=4, show_spinner=False)
def _settings(environ: Mapping[str, str], changed_ns: int) -> Settings:
    return configured.page_settings(environ)


def _ask(data_dir: str, from_ms: int, to_ms: int, question: Question, about: Mapping[str, Any]) -> Rows:
    group = next((group for group in GROUPS if question in group), None)
    answers = _ask_together(data_dir, from_ms, to_ms, group, about) if group else {}
    return answers[question] if question in answers else _ask_alone(data_dir, from_ms, to_ms, question, about)


@st.cache_resource(ttl=KEPT_FOR_S, max_entries=100, show_spinner=False, hash_funcs=BY_IDENTITY)
def _ask_together(
    data_dir: str, from_ms: int, to_ms: int, group: tuple[Question, ...], about: Mapping[str, Any]
) -> Mapping[Question, Rows]:
    return queries.ask_together(Path(data_dir), from_ms, to_ms, group, about)


@st.cache_resource(ttl=KEPT_FOR_S, max_entries=400, show_spinner=False, hash_funcs=BY_IDENTITY)
def _ask_alone(data_dir: str, from_ms: int, to_ms: int, question: Question, about: Mapping[str, Any]) -> Rows:
    return queries.ask(Path(data_dir), from_ms, to_ms, question, about)


@st.cache_resource(ttl=KEPT_FOR_S, max_entries=60, show_spinner=False)
def _lag_history(data_dir: str, from_ms: int, to_ms: int, known: Heard, group_id: str) -> shapes.LagHistory:
    steps = LagSteps(from_ms, to_ms, known.interval_ms, shapes.CELLS, reads_raw=True)
    of_group = {"cluster_id": known.cluster_id, "group_id": group_id}
    recent_ms = max(from_ms, to_ms - RAW_WINDOW_MS)
    topics = [row["topic"] for row in _ask(data_dir, recent_ms, to_ms, lag_questions.GROUP_TOPICS, of_group)]
    about = of_group | {"topics": topics, "step_ms": steps.bucket_ms}
    rows = steps.rows(lag_questions.LAG_CELLS, lambda question, *span: _ask(data_dir, *span, question, about))
    return shapes.lag_history(rows, from_ms, to_ms, steps.bucket_ms)


def _trend_steps(from_ms: int, to_ms: int, known: Heard, points: int) -> LagSteps:
    raw_ms = min(to_ms - from_ms, RAW_WINDOW_MS)
    reads_raw = known.commits * raw_ms // known.interval_ms <= RAW_SAMPLES_AT_MOST
    return LagSteps(from_ms, to_ms, known.interval_ms, points, reads_raw)


@st.cache_resource(ttl=KEPT_FOR_S, max_entries=60, show_spinner=False)
def _lag_trend(
    data_dir: str, from_ms: int, to_ms: int, known: Heard, points: int, left: tuple[tuple[str, str], ...]
) -> Mapping[str, tuple[int | None, ...]]:
    steps = _trend_steps(from_ms, to_ms, known, points)
    groups, topics = [group_id for group_id, _ in left], [topic for _, topic in left]
    about = {"cluster_id": known.cluster_id, "step_ms": steps.bucket_ms, "left_groups": groups, "left_topics": topics}
    rows = steps.rows(lag_questions.LAG_TREND, lambda question, *span: _ask(data_dir, *span, question, about))
    return shapes.trends(rows, from_ms, to_ms, steps.bucket_ms)


@st.cache_resource(ttl=KEPT_FOR_S, max_entries=4, show_spinner=False)
def _events(data_dir: str, version: str) -> Sequence[FindingEvent]:
    """Every event, the oldest first; read again when a segment was added (`version`: store.findings)."""
    return load_events(Path(data_dir))


@st.cache_resource(ttl=KEPT_FOR_S, max_entries=20, show_spinner=False)
def _findings(data_dir: str, version: str, known: int) -> Mapping[str, FindingHistory]:
    """After so many events."""
    return lifecycle.fold(_events(data_dir, version)[:known])


@st.cache_resource(
    ttl=KEPT_FOR_S,
    max_entries=100,
    show_spinner=False,
    hash_funcs={View: attrgetter("cluster", "from_ms", "to_ms", "search")},
)
def _made(started_with: tuple[Mapping[str, str], int], name: str, view: View, _make: Callable[[View], Any]) -> Any:
    return _make(view)


@st.cache_resource(ttl=KEPT_FOR_S, max_entries=4, show_spinner=False)
def _handled(data_dir: str, files: tuple[str, ...]) -> Mapping[str, Handling]:
    """`files` is what the answer rests on: another action is another file."""
    return actions.handled(action_log.load(Path(data_dir)))


@st.cache_resource(ttl=60, max_entries=4, show_spinner=False)
def _store_size(data_dir: str) -> tuple[int, int]:
    return size_of(data_dir)
