"""One incident as one story on one time axis; without one, the incidents of the window."""

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
from dashboard.components.panel import Panel
from dashboard.view import View
from guarantees.incidents import Incident


def figure(view: View, incident: Incident) -> None:
    incident_figure.draw(view, incident, (FIGURE.fragment_key,))


def handling(view: View, incident: Incident) -> None:
    incident_handling.draw(view, incident, (HEAD.fragment_key, HANDLING.fragment_key))


HEAD = Panel("What happened", of_chosen(incident_story.head), shows_age=False)
FIGURE = Panel("On one time axis", of_chosen(figure), incident_figure.SIGNALS)
HANDLING = Panel("Notes and state", of_chosen(handling), shows_age=False)
STORY = (
    HEAD,
    FIGURE,
    Panel("Cause chain", of_chosen(incident_story.causes), shows_age=False),
    Panel("Lost, duplicated, re-delivered", of_chosen(incident_story.effects), shows_age=False),
    Panel("Who is touched", of_chosen(incident_story.touched), shows_age=False),
    Panel("What could not be seen", of_chosen(incident_story.unseen), shows_age=False),
    Panel("Its findings", of_chosen(incident_story.findings), shows_age=False),
    HANDLING,
)
UNKNOWN = Panel("Not known", incident_choice.unknown, shows_age=False)
LIST = Panel("Incidents of the window, worst first", incident_list.draw)

st.title("Incident", anchor=False)
if not incident_choice.is_asked():
    panel.show(LIST)
else:
    for one in STORY if incident_choice.is_known(panel.look()) else (UNKNOWN,):
        panel.show(one)
