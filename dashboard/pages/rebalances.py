"""Who held what, when it moved, and why as far as it can be inferred."""

import pandas as pd
import streamlit as st

from dashboard import answers, cached, memberships, queries, wording
from dashboard.charts.frame import STILL
from dashboard.charts.members import member_lanes
from dashboard.components import panel, selection
from dashboard.components.panel import Panel
from dashboard.names import in_markdown
from dashboard.view import View
from guarantees.observations import Signal


def events(view: View) -> None:
    rows = answers.rebalances(view)
    if not rows:
        panel.empty("No group changed its members or owners in this window.", "Widen it to look further back.")
        return
    st.markdown(
        f"{wording.plural(len(rows), 'rebalance')} of {wording.plural(len({r['group_id'] for r in rows}), 'group')}"
    )
    shown = pd.DataFrame([memberships.rebalance_row(row, view) for row in rows[:200]])
    selection.table(
        "rebalance",
        [f"{row['group_id']}@{row['observed_at_ms']}" for row in rows[:200]],
        shown,
        rerun=LANES.fragment_key,
        height=min(320, 38 + 35 * len(shown)),
        alt="Rebalances, the newest first",
    )


def lanes(view: View) -> None:
    group_id = answers.rebalanced_group(view, st.query_params.get("rebalance"))
    if group_id is None:
        panel.empty("Select a rebalance to see who owned what before and after it.")
        return
    spans = memberships.lanes(
        cached.in_window(view, queries.MEMBERS, group_id=group_id), answers.group_states(view, group_id)
    )
    st.markdown(f"Group **{in_markdown(group_id)}**")
    figure = member_lanes(spans, view)
    st.plotly_chart(figure, config=STILL, alt="Members of the group over time with the partitions they own")
    st.caption("Each bar is one assignment, two blues in turn. A change is seen at the next sample, never between two.")


LANES = Panel("Members over time", lanes, (Signal.GROUPS,))

st.title("Rebalances", anchor=False)
panel.show(Panel("Rebalances, newest first", events, (Signal.GROUPS,)))
panel.show(LANES)
