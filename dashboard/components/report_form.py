"""Choosing a report, making it in a process of its own, and taking it away in any format."""

import os
from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from dashboard import incident_answers, report_answers
from dashboard.components import overview, panel, tables, toolbar
from dashboard.names import in_markdown
from dashboard.reports.exporting import Export, Made, TooManyError
from dashboard.reports.writing import FORMATS
from dashboard.view import View

EXPORT, REFUSED = "report-export", "report-refused"
LABELS: Mapping[str, str] = {
    "html": "HTML", "pdf": "PDF", "csv": "CSV (zip)", "parquet": "Parquet (zip)", "duckdb": "DuckDB",
}  # fmt: skip
SHOWN = 200
LOOKS_AGAIN_S = 1.0


def choose(view: View, rerun: Sequence[str]) -> None:
    """Which report, about whom, of which time: the URL is the truth, so a link asks for the same."""
    kind, subject, time = chosen(view)
    found = report_answers.subjects(view, kind, st.query_params.get("of"))
    if not found and panel.says_nothing_collected(view):
        return
    _choice("report", "Report", report_answers.REPORTS, kind, rerun)
    if not found and kind == "incident":
        panel.none_seen(view, "No incident", "was open", panel.look_wider(view))
        return
    if not found:
        overview.no_pipeline(view.without_search())
        return
    _choice(
        "of", {"incident": "Incident", "delivery": "Pipeline", "durability": "Cluster"}[kind], found, subject, rerun
    )
    if kind != "incident":
        _choice("time", "Time", report_answers.TIMES, time, rerun)


def chosen(view: View) -> tuple[str, str | None, str]:
    """Kind, subject and time of the link, or the first of each."""
    asked = st.query_params
    kind = asked["report"] if asked.get("report") in report_answers.REPORTS else next(iter(report_answers.REPORTS))
    found = report_answers.subjects(view, kind, asked.get("of"))
    time = asked["time"] if asked.get("time") in report_answers.TIMES else report_answers.OF_THE_TOOLBAR
    return kind, asked.get("of") or next(iter(found), None), time


def incidents(view: View) -> None:
    found = incident_answers.rows(view)
    if not found and panel.says_nothing_collected(view):
        return
    if not found:
        panel.none_seen(view, "No incident", "was open", panel.look_wider(view))
        return
    rows = [report_answers.incident_row(one, view) for one in found[:SHOWN]]
    tables.plain(rows, "Verdict", "Incidents in the window, worst first")
    tables.left_out(len(found), SHOWN, "incident")


def make(view: View) -> None:
    """A button, then how far it is, then a download for each format."""
    export: Export | None = st.session_state.get(EXPORT)
    kind, subject, time = chosen(view)
    if export is not None and export.is_running:
        st.fragment(_progress, run_every=LOOKS_AGAIN_S, key="fragment-report-progress")()
        return
    st.button(
        "Make the report", key="report-make", disabled=subject is None,
        on_click=partial(_start, view, kind, subject or "", time),
    )  # fmt: skip
    if why := st.session_state.get(REFUSED) or (export and export.failure):
        st.error(in_markdown(why, 400))
    if export is not None and (made := export.made) is not None:
        _downloads(made)


def _downloads(made: Made) -> None:
    st.markdown(
        f"**{in_markdown(made.title, 200)}**  \n:small[SHA-256 of the contents `{made.checksum}`, in every format]"
    )
    with st.container(horizontal=True):
        for name, path in made.files.items():
            size = f"{max(1, path.stat().st_size // 1000):,} kB"
            st.download_button(
                f"{LABELS[name]} · {size}", path.read_bytes, f"tidemark-report{FORMATS[name].suffix}",
                FORMATS[name].media_type, on_click="ignore", key=f"report-{name}",
            )  # fmt: skip


def _progress() -> None:
    """Looks again until it is over; then the page is drawn once more, without this."""
    export: Export | None = st.session_state.get(EXPORT)
    if export is None or not export.is_running:
        st.rerun(scope="app")
    st.progress(_share(export.step), text=f"Making the report: {in_markdown(export.step)}")
    st.button("Cancel", on_click=_cancel, key="report-cancel")


def _start(view: View, kind: str, subject: str, time: str) -> None:
    _cancel()
    try:
        asked = report_answers.request(view, kind, subject, time, toolbar.now_ms())
        st.session_state[EXPORT] = Export(asked, os.environ)
    except TooManyError as exc:
        st.session_state[REFUSED] = str(exc)


def _cancel() -> None:
    st.session_state.pop(REFUSED, None)
    export: Export | None = st.session_state.pop(EXPORT, None)
    if export is not None:
        export.cancel()


def _share(step: str) -> float:
    """Reading is the first half, the formats the second."""
    number = next((rank for rank, name in enumerate(FORMATS) if step.startswith(f"writing {name}")), None)
    return 0.25 if number is None else 0.5 + 0.5 * number / len(FORMATS)


def _choice(name: str, label: str, options: Mapping[str, str], value: str | None, rerun: Sequence[str]) -> None:
    key = f"report-choice-{name}"
    st.session_state[key] = value
    st.selectbox(
        label, list(options), key=key, format_func=options.__getitem__, on_change=partial(_write, name, key, rerun)
    )


def _write(name: str, key: str, rerun: Sequence[str]) -> None:
    """Another kind of report is about something else."""
    st.query_params[name] = st.session_state[key]
    if name == "report" and "of" in st.query_params:
        del st.query_params["of"]
    st.rerun(list(rerun))
