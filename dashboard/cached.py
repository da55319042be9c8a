"""Answers shared between sessions, by what was asked and the moment asked for. Nobody changes a shared answer."""

import os
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, TypeVar

from dashboard import (
    change_questions,
    cluster_questions,
    configured,
    promise_questions,
    queries,
    replication_questions,
)
from dashboard.queries import Question, Rows
from dashboard.remembered import as_key, remembered
from dashboard.store_size import size_of
from dashboard.view import RAW_WINDOW_MS, View
from guarantees.cadence import ASKED_LESS_OFTEN
from settings import Settings

Answer = TypeVar("Answer")
StartedWith = tuple[tuple[tuple[str, str], ...], int]

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS
# Whatever was asked last, even where every round came late by half of an interval.
ROUNDS_BACK = 1 + max(ASKED_LESS_OFTEN.values())
LARGE_COMMITS = 10_000  # asked for in one round
GROUPS = (
    (
        *queries.OF_THE_NEWEST_ROUND,
        promise_questions.TOPICS,
        promise_questions.CONFIGURATIONS,
        promise_questions.FEATURES,
    ),
    cluster_questions.OF_THE_NEWEST_ROUND,
    queries.OF_THE_LAST_DAY,
    queries.OF_TIDEMARK,
    promise_questions.OF_RECENT,
    replication_questions.OF_THE_WINDOW,
    change_questions.OF_THE_WINDOW,
)


@dataclass(frozen=True, slots=True)
class Heard:
    """A cluster as it was last heard: when a round was last answered, and when one was last attempted."""

    cluster_id: str
    observed_at_ms: int
    attempted_at_ms: int
    interval_ms: int
    commits: int  # group-partitions asked for in its largest round


def shared(make: Callable[[View], Answer]) -> Callable[[View], Answer]:
    """What is made of answers, made once for all sessions that look at the same moment with the same search."""

    @wraps(make)
    def once(view: View) -> Answer:
        made: Answer = _made(_started_with(), view, make)
        return made

    return once


def settings() -> Settings:
    """The settings of this process, read again when the file changes."""
    return _settings(*_started_with())


def _started_with() -> StartedWith:
    """The environment that names the settings, and when their file last changed."""
    names = (configured.SETTINGS_VARIABLE, configured.BOOTSTRAP_VARIABLE, configured.DATA_DIR_VARIABLE)
    environ = tuple((name, os.environ[name]) for name in names if name in os.environ)
    try:
        changed_ns = os.stat(os.environ.get(configured.SETTINGS_VARIABLE, "")).st_mtime_ns
    except FileNotFoundError:
        changed_ns = 0
    return environ, changed_ns


def step_ms(cluster: str) -> int:
    """The sampling interval the cluster is configured with."""
    return next(round(known.interval_s * 1000) for known in settings().clusters if known.name == cluster)


def heard(view: View) -> Heard | None:
    """The newest identity of the cluster that is still stored; None: nothing was. Mostly it was a moment ago."""
    for back_ms in (2 * MINUTE_MS, RAW_WINDOW_MS, DAY_MS):
        known = _heard(ask(data_dir(), *queries.clusters_heard(view.to_ms, back_ms)), view.cluster)
        if known is not None:
            return known
    kept_ms = round(settings().store.history_retention_d * DAY_MS)
    return _heard(_heard_before(data_dir(), view.to_ms - view.to_ms % HOUR_MS, kept_ms), view.cluster)


@remembered(4, kept_for_s=3_600)  # weeks are looked through once an hour
def _heard_before(data_dir: str, to_ms: int, back_ms: int) -> Rows:
    return ask(data_dir, *queries.clusters_heard(to_ms, back_ms))


def _heard(rows: Rows, cluster: str) -> Heard | None:
    newest = next((row for row in rows if row["cluster"] == cluster and row["cluster_id"]), None)
    if newest is None:
        return None
    times = newest["observed_at_ms"], newest["attempted_at_ms"], newest["interval_ms"]
    return Heard(newest["cluster_id"], *times, newest["commits"] or 0)


def is_large(cluster: str, at_ms: int) -> bool:
    """Whether answers about the cluster take seconds, by the rounds of the quarter of an hour before."""
    rows = ask(data_dir(), *queries.clusters_heard(at_ms, RAW_WINDOW_MS))
    return any(row["cluster"] == cluster and (row["commits"] or 0) > LARGE_COMMITS for row in rows)


def now(view: View, question: Question, **about: object) -> Rows:
    """Ask about the newest round, which may be old when nobody collects: the panel says how old."""
    known = heard(view)
    if known is None:
        return []
    start_ms = known.observed_at_ms - ROUNDS_BACK * known.interval_ms
    return _of_cluster(view, start_ms, known.observed_at_ms + 1, question, about)


def group_lag(view: View) -> Rows:
    """Lag of each group and topic now: as the round was rolled up, else from its samples."""
    return now(view, queries.GROUP_LAG_OF_ROUND) or now(view, queries.GROUP_LAG)


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


def between(view: View, from_ms: int, to_ms: int, question: Question, **about: object) -> Rows:
    """Ask about a stretch of time of its own."""
    return _of_cluster(view, from_ms, to_ms, question, about)


def of_tidemark(view: View, question: Question, **about: object) -> Rows:
    """Ask about Tidemark itself, whether or not a cluster was ever heard."""
    return ask(data_dir(), view.from_ms, view.to_ms, question, about)


def store_size() -> tuple[int, int]:
    """Files and bytes of the data directory, counted at most once a minute."""
    return _store_size(data_dir())


def answered_ms(cluster: str) -> int | None:
    """The newest moment a live panel was drawn for, by any session: its answers are there for the next one."""
    return _answered(data_dir()).get(cluster)


def note_answered(view: View) -> None:
    """A panel was drawn."""
    if not view.is_frozen:
        newest = _answered(data_dir())
        newest[view.cluster] = max(view.to_ms, newest.get(view.cluster, 0))


@lru_cache(maxsize=4)
def _answered(data_dir: str) -> dict[str, int]:
    return {}


def data_dir() -> str:
    """Where the store lies."""
    return settings().store.data_dir


def _of_cluster(view: View, from_ms: int, to_ms: int, question: Question, about: Mapping[str, object]) -> Rows:
    known = heard(view)
    return ask(data_dir(), from_ms, to_ms, question, {"cluster_id": known.cluster_id, **about}) if known else []


@lru_cache(maxsize=4)
def _settings(environ: tuple[tuple[str, str], ...], changed_ns: int) -> Settings:
    return configured.page_settings(dict(environ))


def ask(data_dir: str, from_ms: int, to_ms: int, question: Question, about: Mapping[str, Any]) -> Rows:
    """Ask a store, with the other questions of its group where it has one."""
    group = next((group for group in GROUPS if any(question is one for one in group)), None)
    answers = _ask_together(data_dir, from_ms, to_ms, group, about) if group else {}
    return answers[question] if question in answers else _ask_alone(data_dir, from_ms, to_ms, question, about)


def _key_of_question(
    data_dir: str, from_ms: int, to_ms: int, asked: Question | tuple[Question, ...], about: Mapping[str, Any]
) -> Hashable:
    return data_dir, from_ms, to_ms, asked, as_key(about)


@remembered(100, key=_key_of_question)
def _ask_together(
    data_dir: str, from_ms: int, to_ms: int, group: tuple[Question, ...], about: Mapping[str, Any]
) -> Mapping[Question, Rows]:
    return queries.ask_together(Path(data_dir), from_ms, to_ms, group, about)


@remembered(400, key=_key_of_question)
def _ask_alone(data_dir: str, from_ms: int, to_ms: int, question: Question, about: Mapping[str, Any]) -> Rows:
    return queries.ask(Path(data_dir), from_ms, to_ms, question, about, queries.READ_ONCE.intersection(question.tables))


def _key_of_look(started_with: StartedWith, view: View, make: Callable[[View], Any]) -> Hashable:
    return started_with, view.cluster, view.from_ms, view.to_ms, view.search, make


@remembered(100, key=_key_of_look)
def _made(started_with: StartedWith, view: View, make: Callable[[View], Any]) -> Any:
    return make(view)


@remembered(4, kept_for_s=60)
def _store_size(data_dir: str) -> tuple[int, int]:
    return size_of(data_dir)
