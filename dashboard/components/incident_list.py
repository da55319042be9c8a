"""The incidents of the window, worst first; a click opens one, with its moment and a window that holds it."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard import incident_answers, incident_links, wording
from dashboard.components import grid, panel, tables, toolbar
from dashboard.incident_rows import Judged
from dashboard.view import View, parse_time

ROWS = 100
KEY = "incidents"
COLUMNS = {
    "Verdict": st.column_config.TextColumn(width=92),
    "When (UTC)": st.column_config.TextColumn(width=132),
    "Pipeline or topic": st.column_config.TextColumn(width=145),
    "Began with": st.column_config.TextColumn(width=135),
    "State": st.column_config.TextColumn(width=62),
    "Handling": st.column_config.TextColumn(width=72),
    "Size": st.column_config.TextColumn(width=170),
    "Grade": st.column_config.TextColumn(width=90, help="The surest of the findings that make the verdict"),
    "Findings": st.column_config.NumberColumn(format="%,d", width=66),
    "Incident": st.column_config.TextColumn(width=300),
}


def draw(view: View) -> None:
    found = incident_answers.rows(view)
    if not found and panel.says_nothing_collected(view):
        return
    if not found:
        panel.none_seen(view, "No incident", "was open", f"{panel.look_wider(view)} Health says what was observed.")
        return
    lasting = sum(bool(one.lasting) for one in found)
    st.markdown(f"{wording.plural(len(found), 'incident')}, {wording.count(lasting)} with findings that still last")
    shown = found[:ROWS]
    rows = incident_answers.shown(shown, view)
    grid.draw(
        tables.coloured(pd.DataFrame(rows), "Verdict"),
        key=KEY,
        selection_mode="single-row",
        on_select=lambda: _open(shown, view),
        height=min(460, 38 + 35 * len(rows)),
        column_config=COLUMNS,
        alt="Incidents of the window, worst first",
    )
    st.caption("Select one to see its story. What a person closed stays in this list while the window holds it.")
    tables.left_out(len(found), len(shown), "incident")


def _open(shown: Sequence[Judged], view: View) -> None:
    """The whole page is drawn anew: it shows a story now and no list."""
    for number in st.session_state[KEY].selection.rows[:1]:
        asked = incident_links.query(shown[number].incident, view)
        start, end = parse_time(asked.pop("from", None)), parse_time(asked.pop("to", None))
        if start is not None and end is not None:
            toolbar.freeze(start, end)
        st.query_params.update(asked)
    st.rerun("app")
