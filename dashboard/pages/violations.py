"""What broke, and what proves it."""

import streamlit as st

from dashboard import answers
from dashboard.charts.findings import strip as findings_strip
from dashboard.charts.frame import STILL
from dashboard.components import evidence, finding_table, panel
from dashboard.components.panel import Panel
from dashboard.concerns import in_view
from dashboard.shapes import finding_marks
from dashboard.view import View

PROOF = Panel("Evidence", draw=lambda view: proof(view), shows_age=False)


def strip(view: View) -> None:
    marks = finding_marks(in_view(answers.found(view), view), view.from_ms)
    if marks:
        figure = findings_strip(marks, view)
        st.plotly_chart(figure, config=STILL, alt="Findings by kind and time; the table below lists them")
        st.caption("Shape and colour say what a finding means for the promises; a larger mark counts more.")


def table(view: View) -> None:
    found = in_view(answers.found(view), view)
    if not found:
        panel.empty(
            "No finding lasted into this window.", "Widen it, or clear the search. Health says what was observed."
        )
        return
    finding_table.draw(found, view, shown_by=PROOF)


def proof(view: View) -> None:
    chosen = st.query_params.get("finding")
    if chosen is None:
        panel.empty("Select a finding in the table to see its evidence.")
        return
    concern = next((known for known in answers.found(view) if known.finding.finding_id == chosen), None)
    if concern is None:
        panel.empty(
            "This finding is not known at the end of this window.", "It may be newer: move the window, or go live."
        )
        return
    evidence.draw(concern, *answers.story(view, concern.finding))


st.title("Violations", anchor=False)
panel.show(Panel("What happened when", strip))
panel.show(Panel("Findings, worst first", table, shows_age=False))
panel.show(PROOF)
