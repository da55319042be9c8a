"""Who held what, when it moved, what that cost, and why as far as it can be inferred."""

import streamlit as st

from dashboard.components import cluster_panels, panel, rebalance_panel
from dashboard.components.panel import Panel
from guarantees.observations import Signal

DETAIL = Panel("Members over time", rebalance_panel.detail, (Signal.GROUPS,))

TABLE = Panel("Rebalances, newest first", lambda view: rebalance_panel.table(view, (DETAIL, MEMBERS)), (Signal.GROUPS,))
MEMBERS = Panel("Members now", lambda view: cluster_panels.members(view, (DETAIL, TABLE)), (Signal.GROUPS,))

st.title("Rebalances", anchor=False)
panel.show(TABLE)
panel.show(DETAIL)
panel.show(MEMBERS)
