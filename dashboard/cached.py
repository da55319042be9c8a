"""Answers shared between sessions, by what was asked and the moment asked for. Nobody changes a shared answer."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import Any

import streamlit as st

from dashboard import configured, proposals, queries, shapes, standing
from dashboard.concerns import Concern, in_view
from dashboard.concerns import concerns as concerns_of
from dashboard.freshness import Freshness, freshness
from dashboard.queries import Asked, Rows
from dashboard.standing import Standing
from dashboard.view import RAW_WINDOW_MS, View
from guarantees import lifecycle
from guarantees.lifecycle import FindingHistory
from guarantees.promises import Pipeline
from guarantees.verdicts import pipeline_verdict
from settings import ClusterSettings, Settings
from store import findings as stored_findings

DAY_MS = 86_400_000
SPARK_POINTS = 60
MINUTE_MS = 60_000
JOB_PACE_MS = 15_000  # a round of the record jobs may take longer than its pause
KEPT_FOR_S = 120
OFFSETS = ("committed_offsets", "partition_offsets")


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


def cluster_settings(view: View) -> ClusterSettings:
    return next(cluster for cluster in settings().clusters if cluster.name == view.cluster)


def step_ms(cluster: str) -> int:
    """The sampling interval the cluster is configured with."""
    return next(round(known.interval_s * 1000) for known in settings().clusters if known.name == cluster)


def heard(view: View) -> Heard | None:
    """The newest identity of the cluster in the last day; None: nothing was heard of it."""
    rows = _ask(_data_dir(), view.to_ms - DAY_MS, view.to_ms, ("rounds",), queries.clusters)
    newest = next((row for row in rows if row["cluster"] == view.cluster and row["cluster_id"]), None)
    return Heard(newest["cluster_id"], newest["observed_at_ms"], newest["interval_ms"]) if newest else None


def attempts(view: View) -> Rows:
    """Rounds that were tried in the window, answered or not."""
    return _ask(_data_dir(), view.from_ms, view.to_ms, ("rounds",), queries.attempts, cluster=view.cluster)


def coverage(view: View) -> Rows:
    return _now(view, ("rounds",), queries.coverage)


def evidence_age(view: View, signals: tuple[str, ...]) -> Freshness:
    """How old and complete the newest answers of these signals are."""
    return freshness(coverage(view), signals, step_ms(view.cluster))


def group_lag(view: View) -> Rows:
    return _now(view, OFFSETS, queries.group_lag)


def partition_lag(view: View, group_id: str) -> Rows:
    return _now(view, OFFSETS, queries.partition_lag, group_id=group_id)


def chosen_group(view: View, asked: str | None) -> str | None:
    """The group of the link; without one, the group with the most lag that the search finds."""
    known = [row["group_id"] for row in group_lag(view) if view.finds(row["group_id"], row["topic"])]
    if asked is not None:
        return asked
    with_lag = [row["group_id"] for row in group_lag(view) if row["lag"] is not None and row["group_id"] in known]
    return next(iter(with_lag or known), None)


def events(view: View, group_id: str) -> list[shapes.Mark]:
    """What happened to a group and its topics in the window: rebalances, leader changes, findings."""
    topics = {row["topic"] for row in partition_lag(view, group_id)}
    about = [
        concern
        for concern in concerns(view)
        if concern.finding.place.group_id in (None, group_id) and concern.finding.place.topic in topics
    ]
    return shapes.event_marks(
        [row for row in rebalances(view) if row["group_id"] == group_id],
        [row for row in leader_changes(view) if row["topic"] in topics],
        in_view(about, view),
        view.from_ms,
    )


def replication(view: View) -> Rows:
    return _now(view, ("partition_state",), queries.replication)


def transactions(view: View) -> Rows:
    return _now(view, ("open_transactions",), queries.transactions)


def hanging(view: View) -> Rows:
    return _now(view, ("open_producers", "open_transactions"), queries.hanging)


def owners(view: View, group_id: str) -> Rows:
    """Members in force now."""
    rows = _now(view, ("group_members",), queries.members, group_id=group_id)
    return [row for row in rows if row["ended_before_ms"] is None]


def lag_history(view: View, group_id: str) -> shapes.LagHistory:
    heard_now = heard(view)
    if heard_now is None:
        return shapes.lag_history([], view.from_ms, view.to_ms, step_ms(view.cluster))
    return _lag_history(_data_dir(), view.from_ms, view.to_ms, heard_now, group_id)


def lag_trend(view: View, points: int) -> Mapping[str, tuple[int | None, ...]]:
    """Total lag of each group over the window, in about `points` points; None where it is unknown."""
    heard_now = heard(view)
    return _lag_trend(_data_dir(), view.from_ms, view.to_ms, heard_now, points) if heard_now else {}


def leader_changes(view: View) -> Rows:
    return _in_window(view, ("partition_state",), queries.leader_changes)


def rebalances(view: View) -> Rows:
    return _in_window(view, ("rebalances",), queries.rebalances)


def group_states(view: View) -> Rows:
    return _in_window(view, ("group_state",), queries.group_states)


def group_states_now(view: View) -> Rows:
    return _now(view, ("group_state",), queries.group_states)


def states_of(view: View, group_id: str) -> Rows:
    return [row for row in group_states(view) if row["group_id"] == group_id]


def rebalanced_group(view: View, asked: str | None) -> str | None:
    """The group of the selected rebalance (`group@time`); without one, of the newest that the search finds."""
    if asked is not None:
        return asked.rpartition("@")[0]
    return next((row["group_id"] for row in rebalances(view) if view.finds(row["group_id"], row["cause"])), None)


def members(view: View, group_id: str) -> Rows:
    return _in_window(view, ("group_members",), queries.members, group_id=group_id)


def sampled(view: View) -> Rows:
    """What the record jobs read in the last day."""
    return _of_cluster(view, view.to_ms - DAY_MS, view.to_ms, ("ledger",), queries.sampled)


def comparisons(view: View) -> Rows:
    return _of_cluster(view, view.to_ms - DAY_MS, view.to_ms, ("losses",), queries.comparisons)


def parts(view: View) -> Rows:
    return _ask(_data_dir(), view.from_ms, view.to_ms, ("part_events",), queries.parts)


def job_runs(view: View) -> Rows:
    return _ask(_data_dir(), view.from_ms, view.to_ms, ("job_runs",), queries.job_runs)


def store_size() -> tuple[int, int]:
    """Files and bytes of the data directory, counted at most once a minute."""
    return _store_size(_data_dir())


def newest_by_part(view: View) -> Mapping[str, tuple[int | None, int]]:
    """The newest trace of the parts that leave one, with the pace it is expected at (ms)."""
    heard_now = heard(view)
    runs = job_runs(view)
    traces: dict[str, tuple[int | None, int]] = {
        "collect": (heard_now.observed_at_ms if heard_now else None, step_ms(view.cluster))
    }
    if runs:
        newest = max(row["ended_at_ms"] or row["started_at_ms"] for row in runs)
        traces["jobs"] = (newest, max(JOB_PACE_MS, round(settings().spark.round_s * 1000)))
    return traces


def findings(view: View) -> Mapping[str, FindingHistory]:
    """Every finding of the cluster as it stood at the end of the window."""
    heard_now = heard(view)
    known = _findings(_data_dir(), view.to_ms)
    return {
        name: history
        for name, history in known.items()
        if heard_now and history.finding.place.cluster_id == heard_now.cluster_id
    }


def pipelines(view: View) -> tuple[Pipeline, ...]:
    """Declared pipelines of the cluster; where none is, every group with the topics it reads, promise inferred."""
    declared = [known.pipeline for known in settings().pipelines if known.cluster == view.cluster]
    return tuple(declared) or proposals.proposed(group_lag(view))


def concerns(view: View) -> list[Concern]:
    """Every finding with the promises it touches, worst first."""
    return concerns_of(findings(view).values(), pipelines(view))


def urgent(view: View) -> list[Concern]:
    """Open findings that break or weaken a promise, worst first."""
    return [
        concern
        for concern in in_view(concerns(view), view)
        if concern.verdict and concern.finding.closed_reason is None
    ]


def standings(view: View) -> list[Standing]:
    """Where each pipeline stands at the end of the window, worst first."""
    lag, trends = group_lag(view), lag_trend(view, SPARK_POINTS)
    states, topics, coverage_now = group_states_now(view), [row["topic"] for row in sampled(view)], coverage(view)
    known = [history.finding for history in findings(view).values()]
    step = step_ms(view.cluster)
    judged = (
        pipeline_verdict(
            pipeline,
            known,
            standing.sight(pipeline, coverage_now, lag, states, topics, step),
            now_ms=view.to_ms,
            window_from_ms=view.from_ms,
        )
        for pipeline in pipelines(view)
        if view.finds(pipeline.name, pipeline.source, pipeline.group_id, pipeline.sink)
    )
    return standing.worst_first(standing.standing(one, lag, trends) for one in judged)


def _data_dir() -> str:
    return settings().store.data_dir


def _now(view: View, tables: tuple[str, ...], question: Callable[..., Rows], **about: Any) -> Rows:
    """Ask about the newest round, which may be old when nobody collects: the panel says how old."""
    heard_now = heard(view)
    if heard_now is None:
        return []
    start = heard_now.observed_at_ms - 3 * heard_now.interval_ms
    return _of_cluster(view, start, heard_now.observed_at_ms + 1, tables, question, **about)


def _in_window(view: View, tables: tuple[str, ...], question: Callable[..., Rows], **about: Any) -> Rows:
    return _of_cluster(view, view.from_ms, view.to_ms, tables, question, **about)


def _of_cluster(
    view: View, from_ms: int, to_ms: int, tables: tuple[str, ...], question: Callable[..., Rows], **about: Any
) -> Rows:
    heard_now = heard(view)
    if heard_now is None:
        return []
    return _ask(_data_dir(), from_ms, to_ms, tables, question, cluster_id=heard_now.cluster_id, **about)


@st.cache_resource(ttl=60, max_entries=4, show_spinner=False)
def _store_size(data_dir: str) -> tuple[int, int]:
    sizes = [Path(folder, name).stat().st_size for folder, _, names in os.walk(data_dir) for name in names]
    return len(sizes), sum(sizes)


@st.cache_resource(max_entries=4, show_spinner=False)
def _settings(environ: Mapping[str, str], changed_ns: int) -> Settings:
    return configured.page_settings(environ)


@st.cache_resource(
    ttl=KEPT_FOR_S, max_entries=400, show_spinner=False, hash_funcs={FunctionType: lambda question: question.__name__}
)
def _ask(
    data_dir: str, from_ms: int, to_ms: int, tables: tuple[str, ...], question: Callable[..., Rows], **about: Any
) -> Rows:
    with Asked(Path(data_dir), from_ms, to_ms, tables) as asked:
        return question(asked, **about)


@st.cache_resource(ttl=KEPT_FOR_S, max_entries=60, show_spinner=False)
def _lag_history(data_dir: str, from_ms: int, to_ms: int, heard_now: Heard, group_id: str) -> shapes.LagHistory:
    step = _bucket_ms(to_ms - from_ms, heard_now.interval_ms, shapes.CELLS)
    about = {"cluster_id": heard_now.cluster_id, "group_id": group_id, "step_ms": step}
    rows = _lag_rows(data_dir, from_ms, to_ms, queries.lag_cells, about)
    return shapes.lag_history(rows, from_ms, to_ms, step)


@st.cache_resource(ttl=KEPT_FOR_S, max_entries=60, show_spinner=False)
def _lag_trend(
    data_dir: str, from_ms: int, to_ms: int, heard_now: Heard, points: int
) -> Mapping[str, tuple[int | None, ...]]:
    step = _bucket_ms(to_ms - from_ms, heard_now.interval_ms, points)
    about = {"cluster_id": heard_now.cluster_id, "step_ms": step}
    return shapes.trends(_lag_rows(data_dir, from_ms, to_ms, queries.lag_trend, about), from_ms, to_ms, step)


def _bucket_ms(length_ms: int, interval_ms: int, cells: int) -> int:
    """Two intervals at least, so that a tick that comes late leaves no hole; whole minutes where roll-ups are read."""
    return shapes.bucket_ms(length_ms, MINUTE_MS if length_ms > RAW_WINDOW_MS else 2 * interval_ms, cells)


def _lag_rows(data_dir: str, from_ms: int, to_ms: int, question: Callable[..., Rows], about: Mapping[str, Any]) -> Rows:
    """Raw samples for a short window; for a long one the roll-ups and, where those end, the raw samples after them."""
    if to_ms - from_ms <= RAW_WINDOW_MS:
        return _ask(data_dir, from_ms, to_ms, OFFSETS, question, rolled_up=False, **about)
    rolled = _ask(data_dir, from_ms, to_ms, ("lag_minute",), question, rolled_up=True, **about)
    raw_from = max(to_ms - RAW_WINDOW_MS, max((row["at_ms"] for row in rolled), default=0) + MINUTE_MS)
    return rolled + _ask(data_dir, min(raw_from, to_ms), to_ms, OFFSETS, question, rolled_up=False, **about)


@st.cache_resource(ttl=KEPT_FOR_S, max_entries=20, show_spinner=False)
def _findings(data_dir: str, to_ms: int) -> Mapping[str, FindingHistory]:
    return lifecycle.fold(event for event in stored_findings.load_events(Path(data_dir)) if event.at_ms <= to_ms)
