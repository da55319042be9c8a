"""What broke, and what proves it."""

import streamlit as st

from dashboard import finding_groups
from dashboard.components import evidence, finding_filters, finding_strip, finding_table, panel
from dashboard.components.panel import Panel
from dashboard.view import View


def strip(view: View) -> None:
    marks = finding_groups.marks(finding_groups.events(finding_filters.shown(view)))
    if not marks:
        panel.empty("Nothing to draw: the table below says why.")
        return
    finding_strip.draw(marks, view, (TABLE.fragment_key, PROOF.fragment_key))


def table(view: View) -> None:
    found = finding_groups.events(finding_filters.shown(view))
    if not found:
        is_narrowed = finding_filters.is_narrowed()
        what = "No finding of those the filters leave" if is_narrowed else "No finding"
        wider = "Widen it, or clear search and filters." if is_narrowed else panel.look_wider(view)
        panel.none_seen(view, what, "was open", f"{wider} Health says what was observed.")
        return
    finding_table.draw(found, view, (TABLE.fragment_key, PROOF.fragment_key))


def proof(view: View) -> None:
    evidence.show(view, st.query_params.get("finding"), (TABLE.fragment_key, PROOF.fragment_key))


STRIP = Panel("What happened when", strip)
TABLE = Panel("Findings, worst first", table)
PROOF = Panel("Evidence", proof, shows_age=False)
KEYS = tuple(one.fragment_key for one in (STRIP, TABLE, PROOF))
FILTER = Panel(
    "Filter",
    lambda view: finding_filters.draw(view, (FILTER.fragment_key, *KEYS)),
    shows_age=False,
    of_cluster=False,
)

st.title("Violations", anchor=False)
for one in (FILTER, STRIP, TABLE, PROOF):
    panel.show(one)
