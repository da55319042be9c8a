"""The incident of the link, or why there is none."""

from collections.abc import Callable

import streamlit as st

from dashboard import incident_answers, incident_links
from dashboard.components import panel, toolbar
from dashboard.view import View
from guarantees.incidents import Incident

OPENED = "incidents_opened"
NAMES_A_WINDOW = frozenset({"from", "to", "range"})


def is_asked() -> bool:
    return bool({"incident", "finding"} & set(st.query_params.to_dict()))


def chosen(view: View) -> Incident | None:
    """By its name, or by one of its findings; None where there is none, which `unknown` says."""
    if (name := st.query_params.get("incident")) is not None:
        return incident_answers.named(view, name)
    return next(iter(incident_answers.of_finding(view, st.query_params.get("finding", ""))), None)


def open_in_its_window(view: View) -> None:
    """A link that names no window opens in one that holds its incident, the first time it is drawn: Back, and every
    window the reader chooses afterwards, stay as they are. One that still lasts stays live.
    """
    asked = st.query_params.to_dict()
    opened: set[str] = st.session_state.setdefault(OPENED, set())
    link = asked.get("incident") or asked.get("finding", "")
    is_first = link not in opened
    opened.add(link)
    if not is_first or view.is_frozen or NAMES_A_WINDOW & asked.keys():
        return
    try:
        incident = chosen(view)
    except Exception:  # each panel says why the store cannot be read
        return
    if incident is not None and incident.from_ms < view.from_ms and not _goes_on(incident, view):
        toolbar.freeze(*incident_links.window(incident.from_ms, incident_links.newest_ms(incident), view.to_ms))
        st.rerun()


def _goes_on(incident: Incident, view: View) -> bool:
    """It lasts, and the window shows its newest evidence: whoever stops the refresh now sees nothing of what comes."""
    return incident.to_ms is None and incident_links.newest_ms(incident) >= view.from_ms


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
