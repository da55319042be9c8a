"""Findings by kind and time. In a window that stands still, a click on a mark opens its evidence."""

from collections.abc import Sequence

import streamlit as st

from dashboard.charts.findings import strip
from dashboard.charts.frame import STILL
from dashboard.components.finding_table import PARAMETER
from dashboard.shapes import Mark, before_note
from dashboard.view import View

KEY = "finding-strip"
MARKS = 1_000  # more SVG points make a page slow, and nobody tells them apart
WHAT_IS_DRAWN = "Shape and colour say what a finding means for the promises; a larger mark counts more."
ALT = "Findings by kind and time; the table below lists them"


def draw(marks: Sequence[Mark], view: View, rerun: Sequence[str]) -> None:
    """`marks` come worst first. A live chart is made anew at each refresh and would lose a click, so it takes none."""
    figure = strip(marks[:MARKS], view)
    if view.is_frozen:
        st.plotly_chart(
            figure, config=STILL, alt=ALT, key=KEY, selection_mode="points", on_select=lambda: _select(rerun)
        )
    else:
        st.plotly_chart(figure, config=STILL, alt=ALT)
    hint = ["Click a mark to see its evidence."] if view.is_frozen else []
    st.caption(" ".join([WHAT_IS_DRAWN, *before_note(marks[:MARKS], view.from_ms), *hint]))
    if len(marks) > MARKS:
        st.caption(f"The {MARKS:,} worst of {len(marks):,} events are drawn; search or filter to find the others.")


def _select(rerun: Sequence[str]) -> None:
    chosen = [point.get("customdata") for point in st.session_state[KEY].selection.points]
    if chosen and (finding_id := _text(chosen[0])):
        st.query_params[PARAMETER] = finding_id
    st.rerun(list(rerun))


def _text(customdata: object) -> str | None:
    """The one value a mark carries, which Plotly hands back bare or in a list."""
    value = customdata[0] if isinstance(customdata, list | tuple) and customdata else customdata
    return value if isinstance(value, str) else None
