"""Findings as tables with single-row selection: one row an event, and the findings of the chosen one."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard import finding_rows, wording
from dashboard.components import selection, tables
from dashboard.concerns import Concern
from dashboard.finding_groups import Event
from dashboard.view import View

REMEDY = "The search or a filter finds them."
ROWS = 200
PARAMETER = "finding"
COLUMNS = {
    "Verdict": st.column_config.TextColumn(width=98),
    "What": st.column_config.TextColumn(width=125),
    "Finding": st.column_config.TextColumn(width=240),
    "Findings": tables.number("Findings"),
    "State": st.column_config.TextColumn(width=62),
    "Acknowledged": st.column_config.TextColumn(width=95),
    "How much": st.column_config.TextColumn(width=130),
}


def draw(found: Sequence[Event], view: View, rerun: Sequence[str]) -> None:
    """The worst events; the selected row is the one that holds the chosen finding."""
    chosen = st.query_params.get(PARAMETER)
    total = sum(len(event.concerns) for event in found)
    st.markdown(f"{wording.plural(total, 'finding')} in {wording.plural(len(found), 'event')}")
    _table(
        [chosen if chosen and event.holds(chosen) else event.worst.finding.finding_id for event in found[:ROWS]],
        [finding_rows.event_row(event, view) for event in found[:ROWS]],
        rerun,
        "Findings by event, worst first",
    )
    tables.left_out(len(found), ROWS, "event", REMEDY)


def of_event(event: Event, view: View, rerun: Sequence[str]) -> None:
    """The findings of one event, one row each."""
    st.markdown(f"**Findings of this event** :gray[{wording.count(len(event.concerns))}]")
    shown: Sequence[Concern] = event.concerns[:ROWS]
    _table(
        [concern.finding.finding_id for concern in shown],
        [finding_rows.finding_row(concern, view) for concern in shown],
        rerun,
        "Findings of the event, worst first",
    )
    tables.left_out(len(event.concerns), ROWS, "finding", REMEDY)


def _table(ids: Sequence[str], rows: Sequence[dict[str, object]], rerun: Sequence[str], alt: str) -> None:
    selection.table(
        PARAMETER,
        ids,
        tables.coloured(pd.DataFrame(rows), "Verdict"),
        rerun=rerun,
        height=min(320, 38 + 35 * len(rows)),
        column_config=COLUMNS,
        alt=alt,
    )
