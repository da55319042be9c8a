"""The panel of exact audits: ask for one of the window on screen, see how far it is, cancel it, read its result."""

import json
from functools import partial
from uuid import uuid4

import streamlit as st

from dashboard import (
    actions,
    audit_answers,
    cached,
    exact_audits,
    exact_content,
    exact_order,
    exact_questions,
    exact_runs,
    wording,
)
from dashboard.actions import WHO_LIMIT
from dashboard.components import acting, grid, panel, selection, tables, toolbar
from dashboard.components.grades import grade
from dashboard.exact_audits import Labels, Row
from dashboard.names import cut, in_markdown
from dashboard.queries import Question, Rows
from dashboard.spreadsheets import csv_text
from dashboard.view import View
from guarantees.audits import Job
from guarantees.findings import Grade
from settings import PipelineSettings
from store.audit_requests import AuditRequest, Cancellation, cancel_row, request_row, requested
from store.rows import Row as StoredRow

PACE_S = 2
KEY = "fragment-exact-audit-of-this-window"
PROBLEM, ACTED = "exact-audit-problem", "exact-audit-acted"
SHOWN = 200


def pace_s() -> float | None:
    """Progress is followed also where the window is frozen."""
    return toolbar.own_pace_s(PACE_S)


def draw(view: View) -> None:
    """Of the selected pipeline: the request, its runs, and the result of the one that is chosen."""
    chosen = audit_answers.chosen_pipeline(view, st.query_params.get("pipeline"))
    if chosen is None or chosen.declared is None:
        panel.empty(
            "Only a declared pipeline can be audited: its ids must be known.",
            "Choose one above, or declare it in tidemark.toml ([[pipelines]] … id).",
        )
        return
    pipeline, at_ms = chosen.declared, toolbar.now_ms()
    _ask(pipeline, view)
    runs = _rows(exact_questions.RUNS, at_ms, pipeline=pipeline.name)
    waiting = exact_runs.unseen(requested(_rows(exact_questions.REQUESTED, at_ms)), runs, pipeline.name)
    waiting = exact_runs.newest_only(waiting, runs)
    if not runs and not waiting:
        panel.empty("No exact audit of this pipeline was asked for yet.")
        return
    _list(runs, waiting, at_ms)
    row = exact_runs.shown(runs, st.query_params.get("audit"), view.from_ms, view.to_ms)
    if row is not None:
        _result(row, pipeline, at_ms)


def _ask(pipeline: PipelineSettings, view: View) -> None:
    name, window = in_markdown(pipeline.name), wording.span(view.from_ms, view.to_ms)
    st.markdown(f"**{name}**, {window}")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input("Your name", key=acting.OPERATOR, max_chars=WHO_LIMIT, persist_state="session", width=200)
        st.button(
            "Audit this window exactly",
            on_click=partial(_request, Job.AUDIT, pipeline.name, view.from_ms, view.to_ms),
            key="exact-audit",
            help="Appends a request; the record jobs run it in slices between their rounds",
        )
        if pipeline.order is not None:
            st.button(
                "Check the order within keys",
                on_click=partial(_request, Job.ORDER, pipeline.name, view.from_ms, view.to_ms),
                key="exact-order",
                help="Of every record of this window, by what the settings declare to rise; a request as the other",
            )
        st.button(
            "Compare the copies of batches",
            on_click=partial(_request, Job.CONTENT, pipeline.name, view.from_ms, view.to_ms),
            key="exact-content",
            help="Of this window, on every replica and as they were read earlier; a request as the other",
        )
    topics = " and ".join(in_markdown(topic) for topic in (pipeline.source, pipeline.sink) if topic)
    st.caption(
        f"Reads every record of {topics} in this window and {pipeline.settle_s:g} s before and after it, at the pace "
        "the record jobs have left. Who asked is kept for good, and every reader of the page sees it."
    )
    if problem := st.session_state.get(PROBLEM):
        st.error(in_markdown(problem, 300))


def _list(runs: Rows, waiting: list[AuditRequest], at_ms: int) -> None:
    """Requests nobody has taken up first, then runs, newest first; a running one with its progress."""
    rows = [exact_runs.request_row(request, at_ms) for request in reversed(waiting)]
    rows += [exact_runs.run_row(row, at_ms) for row in runs]
    ids = [request.run_id for request in reversed(waiting)] + [row["run_id"] for row in runs]
    height = min(250, 38 + 35 * len(rows))
    selection.table("audit", ids, rows, rerun=KEY, height=height, alt="Exact audits of the pipeline, newest first")
    for request in waiting:
        _open(request.run_id, 0.0, exact_runs.ASKED)
    for row in runs:
        if exact_runs.is_open(row):
            _open(row["run_id"], *exact_runs.progress(row))


def _open(run_id: str, share: float, said: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(share, text=in_markdown(said, 200))
        st.button("Cancel", key=f"cancel-{run_id}", on_click=partial(_cancel, run_id))


def _result(row: Row, pipeline: PipelineSettings, at_ms: int) -> None:
    asked_by = in_markdown(row["requested_by"] or "nobody named")
    st.markdown(f"**Result** {wording.span(row['from_ms'], row['to_ms'])} :small[:gray[asked for by {asked_by}]]")
    if exact_runs.is_open(row) or row["is_whole"] is None:
        state = exact_runs.STATES[row["state"]]
        panel.empty(in_markdown(f"{state}. {row['reason'] or 'No result yet.'}", 300))
        return
    ranges = _rows(exact_questions.RANGES, at_ms, run_id=row["run_id"])
    if not ranges:
        panel.empty("A later audit of the same window has replaced its figures.")
        return
    if row["job"] == Job.ORDER:
        _counted(row, ranges, exact_order.summary(ranges), exact_order.OF_ORDER)
        _order(_rows(exact_questions.ORDER, at_ms, run_id=row["run_id"]))
        _limits(row, ranges, exact_order.OF_ORDER)
        return
    if row["job"] == Job.CONTENT:
        _counted(row, ranges, exact_content.summary(ranges), exact_content.OF_CONTENT)
        if batches := _rows(exact_questions.CONTENT, at_ms, run_id=row["run_id"]):
            _table("content", [exact_content.batch_row(one) for one in batches])
        _limits(row, ranges, exact_content.OF_CONTENT)
        return
    groups = _rows(exact_questions.DUPLICATES, at_ms, run_id=row["run_id"])
    _counted(row, ranges, exact_audits.summary(row, ranges, groups, pipeline), exact_audits.OF_IDS)
    _copies_and_ids(row, groups, at_ms)
    _limits(row, ranges, exact_audits.OF_IDS)


def _counted(row: Row, ranges: Rows, said: list[tuple[str, Grade | None]], labels: Labels) -> None:
    st.markdown("\n".join(f"- {in_markdown(one, 300)} {grade(known) if known else ''}" for one, known in said))
    st.markdown(f":gray[{exact_audits.exactness(row, ranges)} {exact_audits.cost(row)}]")
    tables.plain(
        exact_audits.topic_rows(ranges, labels), None, "Every offset of the window by what it is, and what was counted"
    )


def _order(groups: Rows) -> None:
    """Who fell behind whom, and both records of single violations."""
    if groups:
        st.markdown("Records out of order by producers, and examples of both records")
        tables.plain([exact_order.group_row(group) for group in groups[:SHOWN]], None, "Records out of order")
        tables.left_out(len(groups), SHOWN, "row", "The sums above count all of them.")
        _table("order", exact_order.example_rows(groups))


def _copies_and_ids(row: Row, groups: Rows, at_ms: int) -> None:
    """Causes, and single ids."""
    if groups:
        st.markdown("Extra copies by cause, and examples of both copies")
        tables.plain([exact_audits.cause_row(group) for group in groups[:SHOWN]], None, "Extra copies by cause")
        tables.left_out(len(groups), SHOWN, "row", "The sums above count all of them.")
        _table("copies", exact_audits.example_rows(groups))
    ids = [exact_audits.id_row(one) for one in _rows(exact_questions.IDS, at_ms, run_id=row["run_id"])]
    if ids:
        st.markdown("Ids that one side does not have, the first ones of each partition")
        _table("ids", ids)


def _limits(row: Row, ranges: Rows, labels: Labels) -> None:
    """Partitions, and what the figures cannot see."""
    with st.expander("Partitions"):
        shown = [exact_audits.partition_row(each, labels) for each in ranges[:SHOWN]]
        tables.plain(shown, None, "Partitions with the offsets read, judged and accounted for")
        tables.left_out(len(ranges), SHOWN, "partition", "The sums above count all of them.")
    said = [f"- :gray[{in_markdown(sentence, 400)}]" for sentence in json.loads(row["blind_spots"] or "[]")]
    st.markdown("\n".join(["What these figures cannot see:", *said]))


def _table(name: str, rows: list[dict[str, object]]) -> None:
    shown = [{column: cut(str(value)) for column, value in row.items()} for row in rows[:SHOWN]]
    grid.draw(shown, height=min(320, 38 + 35 * len(shown)), alt=f"Exact audit: {name}")
    st.download_button(
        f"Download exact {name} (CSV)",
        lambda: csv_text(rows),
        f"exact-{name}.csv",
        "text/csv",
        on_click="ignore",
        key=f"download-exact-{name}",
    )


def _request(job: Job, pipeline: str, from_ms: int, to_ms: int) -> None:
    """The only thing the page does: it appends the wish."""
    request = AuditRequest(uuid4().hex, toolbar.now_ms(), _who(), job, pipeline, from_ms, to_ms)
    if _acted(request_row(request)) and "audit" in st.query_params:
        del st.query_params["audit"]


def _cancel(run_id: str) -> None:
    _acted(cancel_row(Cancellation(uuid4().hex, toolbar.now_ms(), _who(), run_id)))


def _who() -> str:
    return str(st.session_state.get(acting.OPERATOR) or "").strip()


def _acted(row: StoredRow) -> bool:
    """Append it; why it could not be is said under the form."""
    problem = actions.name_refusal(_who()) or acting.store_row(row)
    st.session_state[PROBLEM], st.session_state[ACTED] = problem, toolbar.now_ms()
    return problem is None


def _rows(question: Question, at_ms: int, **about: object) -> Rows:
    """As the store is now, to the second: a frozen window does not stop an audit. Never from before an own action."""
    as_of = max(at_ms - at_ms % 1000, st.session_state.get(ACTED, 0))
    return cached.ask(cached.data_dir(), as_of, as_of, question, about)
