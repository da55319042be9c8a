"""One incident as one story on one time axis; without one, the incidents of the window."""

from functools import partial

import streamlit as st

from dashboard.components import (
    incident_choice,
    incident_figure,
    incident_handling,
    incident_list,
    incident_story,
    panel,
)
from dashboard.components.incident_choice import of_chosen
from dashboard.view import View
from guarantees.incidents import Incident


def figure(view: View, incident: Incident) -> None:
    incident_figure.draw(view, incident, (FIGURE.fragment_key,))


def handling(view: View, incident: Incident) -> None:
    incident_handling.draw(view, incident, (HEAD.fragment_key, HANDLING.fragment_key))


# Findings are kept longer than any answer of the cluster.
told = partial(panel.Panel, shows_age=False, of_cluster=False)
HEAD = told("What happened", of_chosen(incident_story.head))
FIGURE = told("On one time axis", of_chosen(figure), incident_figure.SIGNALS, shows_age=True)
HANDLING = told("Notes and state", of_chosen(handling))
STORY = (
    HEAD,
    FIGURE,
    told("Cause chain", of_chosen(incident_story.causes)),
    told("Lost, duplicated, re-delivered", of_chosen(incident_story.effects)),
    told("Who is touched", of_chosen(incident_story.touched)),
    told("What could not be seen", of_chosen(incident_story.unseen)),
    told("Its findings", of_chosen(incident_story.findings)),
    HANDLING,
)

st.title("Incident", anchor=False)
if not incident_choice.is_asked():
    panel.show(panel.Panel("Incidents of the window, worst first", incident_list.draw, of_cluster=False))
else:
    incident_choice.open_in_its_window(panel.look())
    for one in STORY if incident_choice.is_known(panel.look()) else (told("Not known", incident_choice.unknown),):
        panel.show(one)
