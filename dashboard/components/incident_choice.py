"""The incident of the link, or why there is none."""

from collections.abc import Callable

import streamlit as st

from dashboard import incident_answers
from dashboard.components import panel
from dashboard.view import View
from guarantees.incidents import Incident


def is_asked() -> bool:
    return bool({"incident", "finding"} & set(st.query_params.to_dict()))


def chosen(view: View) -> Incident | None:
    """By its name, or by one of its findings; None where there is none, which `unknown` says."""
    if (name := st.query_params.get("incident")) is not None:
        return incident_answers.named(view, name)
    return next(iter(incident_answers.of_finding(view, st.query_params.get("finding", ""))), None)


def of_chosen(draw: Callable[[View, Incident], None]) -> Callable[[View], None]:
    """Draws a panel about the incident of the link; nothing where there is none any more."""

    def drawn(view: View) -> None:
        incident = chosen(view)
        if incident is not None:
            draw(view, incident)

    return drawn


def way_back() -> None:
    """To the list of the window."""
    st.button("Incidents of the window", on_click=_leave, icon=":material/arrow_back:", key="incident-leave")


def _leave() -> None:
    for name in ("incident", "finding", "at", "partition"):
        st.query_params.pop(name, None)
    st.rerun("app")


def is_known(view: View) -> bool:
    """Whether there is more to show than that it is unknown. Why a store cannot be read is said by each panel."""
    try:
        return chosen(view) is not None
    except Exception:  # whatever breaks in the store must not take the page
        return True


def unknown(_: View) -> None:
    """Why there is no story."""
    panel.empty(
        "No incident of this name, and none with this finding, is known in this cluster.",
        "Its pipeline may have been renamed or another cluster is chosen; the list has those of the window.",
    )
    way_back()
