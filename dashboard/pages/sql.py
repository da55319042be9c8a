"""A question of one's own: one SELECT over the tables of the store, its answer, and what the tables mean."""

import streamlit as st

from dashboard.components import panel, sql_panel
from dashboard.components.panel import Panel

COLUMNS = Panel("Columns", sql_panel.columns, shows_age=False, of_cluster=False, pace_s=lambda: None)

st.title("SQL", anchor=False)
for one in (
    Panel("Question", sql_panel.question, shows_age=False, of_cluster=False, pace_s=lambda: None),
    Panel("Answer", sql_panel.answer, shows_age=False, of_cluster=False, pace_s=sql_panel.pace_s),
    Panel(
        "Tables", lambda view: sql_panel.listed(view, COLUMNS), shows_age=False, of_cluster=False, pace_s=lambda: None
    ),
    COLUMNS,
):
    panel.show(one)
