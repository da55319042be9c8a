"""The incident of the link, or why there is none."""

import streamlit as st

from dashboard import incident_answers
from dashboard.components import panel
from dashboard.view import View
from guarantees.incidents import Incident

PARAMETER = "incident"


def asked() -> str | None:
    return st.query_params.get(PARAMETER)


def chosen(view: View) -> Incident | None:
    """None where no finding makes it one; said in the first panel, `unknown` draws it."""
    name = asked()
    return None if name is None else incident_answers.chosen(view, name)


def unknown() -> None:
    panel.empty(
        "No incident of this name is known in this cluster.",
        "Its pipeline may have been renamed or another cluster is chosen; the list has those of the window.",
    )


def is_known(view: View) -> bool:
    """Whether there is more to show than that it is unknown. A store that cannot be read is said by each panel."""
    try:
        return chosen(view) is not None
    except Exception:  # the panels are the boundary that says why
        return True
