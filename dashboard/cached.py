"""Answers shared between sessions, by what was asked and the moment asked for. Nobody changes a shared answer."""

import gc
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard import configured, promise_questions, queries, shapes, transaction_questions
from dashboard.freshness import Freshness, freshness
from dashboard.queries import Question, Rows
from dashboard.view import RAW_WINDOW_MS, View
from guarantees import lifecycle
from guarantees.lifecycle import FindingHistory
from settings import Settings
from store.findings import load_events

MINUTE_MS = 60_000
DAY_MS = 24 * 60 * MINUTE_MS
KEPT_FOR_S = 120
ROUNDS_BACK = 3
# Questions are constants of one module: hashing their SQL at every look-up cost more than the look-up.
BY_IDENTITY = {Question: id}
GROUPS = (
    (*queries.OF_THE_NEWEST_ROUND, *transaction_questions.OF_THE_NEWEST_ROUND),
    queries.OF_THE_LAST_DAY,
    queries.OF_TIDEMARK,
    promise_questions.OF_RECENT,
)


@dataclass(frozen=True, slots=True)
class Heard:
    """A cluster as it was last heard."""

    cluster_id: str
    observed_at_ms: int
    interval_ms: int


def settings() -> Settings:
    """The settings of this process, read again when the file changes."""
    names = (configured.SETTINGS_VARIABLE, configured.BOOTSTRAP_VARIABLE, configured.DATA_DIR_VARIABLE)
    environ = {name: os.environ[name] for name in names if name in os.environ}
    path = environ.get(configured.SETTINGS_VARIABLE)
    changed_ns = Path(path).stat().st_mtime_ns if path and Path(path).exists() else 0
    return _settings(environ, changed_ns)


def step_ms(cluster: str) -> int:
    """The sampling interval the cluster is configured with."""
    return next(round(known.interval_s * 1000) for known in settings().clusters if known.name == cluster)


def heard(view: View) -> Heard | None:
    """The newest identity of the cluster in the last day; None: nothing was heard of it."""
    rows = _ask(_data_dir(), view.to_ms - DAY_MS, view.to_ms, queries.CLUSTERS, {})
    newest = next((row for row in rows if row["cluster"] == view.cluster and row["cluster_id"]), None)
    return Heard(newest["cluster_id"], newest["observed_at_ms"], newest["interval_ms"]) if newest else None


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
    """Total lag of each group over the window, in about `points` points; None where it is unknown."""
    known = heard(view)
    return _lag_trend(_data_dir(), view.from_ms, view.to_ms, known, points) if known else {}


def findings(view: View) -> Mapping[str, FindingHistory]:
    """Every finding of the cluster as it stood at the end of the window."""
    known = heard(view)
    if known is None:
        return {}
    histories = _findings(_data_dir(), view.to_ms)
    return {name: one for name, one in histories.items() if one.finding.place.cluster_id == known.cluster_id}


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
    step = _bucket_ms(to_ms - from_ms, known.interval_ms, shapes.CELLS)
    about = {"cluster_id": known.cluster_id, "group_id": group_id, "step_ms": step}
    both = (queries.LAG_CELLS, queries.LAG_CELLS_ROLLED_UP)
    return shapes.lag_history(_lag_rows(data_dir, from_ms, to_ms, both, about), from_ms, to_ms, step)


@st.cache_resource(ttl=KEPT_FOR_S, max_entries=60, show_spinner=False)
def _lag_trend(
    data_dir: str, from_ms: int, to_ms: int, known: Heard, points: int
) -> Mapping[str, tuple[int | None, ...]]:
    step = _bucket_ms(to_ms - from_ms, known.interval_ms, points)
    about = {"cluster_id": known.cluster_id, "step_ms": step}
    both = (queries.LAG_TREND, queries.LAG_TREND_ROLLED_UP)
    return shapes.trends(_lag_rows(data_dir, from_ms, to_ms, both, about), from_ms, to_ms, step)


@st.cache_resource(ttl=KEPT_FOR_S, max_entries=20, show_spinner=False)
def _findings(data_dir: str, to_ms: int) -> Mapping[str, FindingHistory]:
    return lifecycle.fold(event for event in load_events(Path(data_dir)) if event.at_ms <= to_ms)


@st.cache_resource(ttl=60, max_entries=4, show_spinner=False)
def _store_size(data_dir: str) -> tuple[int, int]:
    sizes = [_size(Path(folder, name)) for folder, _, names in os.walk(data_dir) for name in names]
    return len(sizes), sum(sizes)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # merged away or expired while the folder was walked
        return 0


def _bucket_ms(length_ms: int, interval_ms: int, cells: int) -> int:
    """Two intervals at least, so that a tick that comes late leaves no hole; whole minutes where roll-ups are read."""
    return shapes.bucket_ms(length_ms, MINUTE_MS if length_ms > RAW_WINDOW_MS else 2 * interval_ms, cells)


def _lag_rows(
    data_dir: str, from_ms: int, to_ms: int, both: tuple[Question, Question], about: Mapping[str, Any]
) -> Rows:
    """Raw samples for a short window; for a long one the roll-ups and, where those end, the raw samples after them."""
    raw, rolled_up = both
    if to_ms - from_ms <= RAW_WINDOW_MS:
        return _ask(data_dir, from_ms, to_ms, raw, about)
    rows = _ask(data_dir, from_ms, to_ms, rolled_up, about)
    rolled_to = max((row["at_ms"] for row in rows), default=0) + int(about["step_ms"])
    tail_from = min(to_ms, max(to_ms - RAW_WINDOW_MS, rolled_to))
    return rows + _ask(data_dir, tail_from, to_ms, raw, about)
