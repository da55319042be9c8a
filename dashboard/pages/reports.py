"""Hand over: an incident, a pipeline's delivery or a cluster's durability as one document in any format."""

import streamlit as st

from dashboard.components import panel, report_form
from dashboard.components.panel import Panel
from dashboard.view import View


def choose(view: View) -> None:
    report_form.choose(view, tuple(one.fragment_key for one in (CHOOSE, MAKE)))


CHOOSE = Panel("What to report", choose, shows_age=False, of_cluster=False)
MAKE = Panel("Make it", report_form.make, shows_age=False, of_cluster=False)
INCIDENTS = Panel("Incidents in the window, worst first", report_form.incidents, of_cluster=False)

st.title("Reports", anchor=False)
panel.show(CHOOSE)
panel.show(MAKE)
panel.show(INCIDENTS)
