"""What changed in the window: leaders, replicas, topics, settings, groups, findings, and what people did."""

import streamlit as st

from dashboard.components import change_panel, panel
from dashboard.components.panel import Panel

CHOSEN = Panel("The chosen change", change_panel.chosen, shows_age=False)

st.title("What changed", anchor=False)
panel.show(Panel("Changes, newest first", lambda view: change_panel.listed(view, CHOSEN)))
panel.show(CHOSEN)
