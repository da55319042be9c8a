"""The SQL page: a query box, its answer from a process that can be killed, and the tables there are."""

from dataclasses import asdict, dataclass
from pathlib import Path
from weakref import WeakSet

import streamlit as st

from dashboard import cached, sql_rows, sql_words, wording
from dashboard.components import panel, selection, tables
from dashboard.components.panel import Panel
from dashboard.names import cut
from dashboard.spreadsheets import csv_text
from dashboard.view import View
from store import schema
from store.contracts import TABLES
from store.errors import QueryError
from store.reading import Window
from store.sql_door import Answer, Running
from store.sql_process import Limits

EXAMPLE = """SELECT group_id, topic, max(lag) AS most_lag, count(*) FILTER (lag IS NULL) AS minutes_unknown
FROM group_lag_minute
GROUP BY ALL
ORDER BY most_lag DESC NULLS LAST"""
POLL_S = 0.5
# All readers of a page share the machine with the collectors: each query may take a gigabyte and every core.
AT_ONCE = 2
LINKED = 2_000  # characters of a query that still fit into a link

_TEXT, _STATE = "sql-text", "sql-state"


@dataclass(frozen=True, slots=True)
class Refused:
    """No answer, and why."""

    why: str


State = Running | Answer | Refused | None


def pace_s() -> float | None:
    """A running query is looked at twice a second; its answer stands until somebody asks again."""
    return POLL_S if isinstance(_state(), Running) else None


def question(view: View) -> None:
    """The query box. A link fills it; nothing runs before somebody says so."""
    with st.form("sql", border=False):
        st.text_area("Query", st.query_params.get("sql", EXAMPLE), key=_TEXT, height=150)
        if st.form_submit_button("Run", icon=":material/play_arrow:"):
            _run(view)
            st.rerun()
    limits = cached.settings().sql
    st.caption(
        f"One SELECT in DuckDB's SQL, about the window above; at most {limits.time_s:g} s, "
        f"{wording.plural(limits.rows, 'row')} and {limits.memory_bytes / 1e6:,.0f} MB of memory. It reads the tables "
        "below and nothing else, and cannot write. Ctrl+Enter runs it."
    )


def answer(_: View) -> None:
    """What became of the query."""
    _look()
    found = _state()
    if isinstance(found, Running):
        st.markdown(f"Running, {found.took_s:.0f} s of at most {found.limits.time_s:g} s.")
        if st.button("Cancel", icon=":material/cancel:"):
            _cancel()
            st.rerun()
    elif isinstance(found, Refused):
        with st.container(border=True):
            st.markdown(":gray-badge[? No answer] The query was refused or ended; nothing else is affected.")
            st.code(cut(found.why, 1_000), language=None, wrap_lines=True)
    elif isinstance(found, Answer):
        _rows(found)
    else:
        panel.empty("No query was run yet.", "Write one above, and run it.")


def listed(view: View, shown_by: Panel) -> None:
    """Every table the search finds, one to be chosen."""
    found = [one for one in TABLES.values() if view.finds(one.name, one.meaning)]
    if not found:
        panel.empty("The search finds no table.", "Clear it to see them all.")
        return
    rows = [{"Table": one.name, "What": one.meaning, "Rows shown": schema.shown(one)} for one in found]
    selection.table("table", [one.name for one in found], rows, rerun=shown_by.fragment_key, alt="Tables of the store")


def columns(view: View) -> None:
    """The columns of the chosen table."""
    chosen = TABLES.get(st.query_params.get("table", ""))
    if chosen is None:
        panel.empty("No table is chosen.", "Choose one above; docs/schema.md has them all.")
        return
    st.markdown(f"**{chosen.name}** :gray[one row for each {', '.join(schema.key(chosen))}]")
    tables.plain(schema.columns_of(chosen), None, f"Columns of {chosen.name}")


def _rows(found: Answer) -> None:
    notes = (sql_words.count_note(found), sql_words.cut_note(found), sql_words.window_note(found))
    st.caption(" · ".join(note for note in notes if note).replace("_", "\\_"))
    st.dataframe(sql_rows.frame(found), hide_index=True, placeholder="–", alt="The rows of the answer")
    st.download_button("Download (CSV)", lambda: csv_text(found.objects()), "answer.csv", "text/csv", on_click="ignore")


def _run(view: View) -> None:
    """Start what stands in the box, in place of what runs."""
    _cancel()
    sql, limits = st.session_state[_TEXT], Limits(**asdict(cached.settings().sql))
    if len(sql) <= LINKED:
        st.query_params["sql"] = sql
    if sum(one.is_running for one in _all_running()) >= AT_ONCE:
        st.session_state[_STATE] = Refused(f"{AT_ONCE} queries run already; try again when one of them has ended")
        return
    running = Running(Path(cached.data_dir()), Window(view.from_ms, view.to_ms), sql, limits)
    _all_running().add(running)
    st.session_state[_STATE] = running


def _cancel() -> None:
    state = _state()
    if isinstance(state, Running):
        state.kill()
        st.session_state[_STATE] = Refused("cancelled")


def _look() -> None:
    """See what the running query has become; with an answer the page is drawn anew, at its usual pace."""
    running = _state()
    if not isinstance(running, Running):
        return
    try:
        found: State = running.wait(POLL_S / 2)
    except QueryError as exc:
        found = Refused(str(exc))
    if found is not None:
        st.session_state[_STATE] = found
        st.rerun()


def _state() -> State:
    state: State = st.session_state.get(_STATE)
    return state


@st.cache_resource(show_spinner=False)
def _all_running() -> WeakSet[Running]:
    return WeakSet()
