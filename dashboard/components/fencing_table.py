"""Fencing, time-outs and torn transactions as a table; the selected row leads to its evidence."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard import fencing
from dashboard.components import panel, selection, story
from dashboard.fencing import Event
from dashboard.names import in_markdown
from dashboard.view import View

SHOWN = 200
PARAMETER = "fencing"


def draw(found: Sequence[Event], view: View, *, rerun: str) -> None:
    """`rerun` is the key of the fragment that shows this table."""
    if not found:
        panel.none_seen(
            view,
            "No producer",
            "was seen to be fenced or timed out",
            "Only topics in header_topics are read for it; the panel above says what was read.",
        )
        return
    shown = found[:SHOWN]
    selection.table(
        PARAMETER,
        [event.id for event in shown],
        pd.DataFrame([fencing.table_row(event, view) for event in shown]),
        rerun=rerun,
        height=min(320, 38 + 35 * len(shown)),
        column_config={"New epoch": st.column_config.TextColumn(help="Of the marker that ended it")},
        alt="Fenced producers, time-outs, restarts without fencing and torn transactions, the newest first",
    )
    if len(found) > SHOWN:
        st.caption(f"The newest {SHOWN:,} of {len(found):,} are shown; Violations has every finding.")
    _evidence(shown)


def _evidence(shown: Sequence[Event]) -> None:
    chosen = next((event.finding for event in shown if event.id == st.query_params.get(PARAMETER)), None)
    if chosen is None:
        st.caption("Select a row for the way to its evidence.")
        return
    story.link(f"Evidence: {in_markdown(chosen.title, 120)}", chosen.finding_id)
