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
from dashboard.components.panel import Panel
from dashboard.view import View
from guarantees.observations import Signal

SIGNALS = (
    Signal.COMMITTED_OFFSETS, Signal.END_OFFSETS, Signal.REPLICA_OFFSETS, Signal.PARTITION_STATES, Signal.GROUPS,
    Signal.PRODUCERS,
)  # fmt: skip


def figure(view: View) -> None:
    incident_figure.draw(view, (FIGURE.fragment_key,))


def handling(view: View) -> None:
    incident_handling.draw(view, (HEAD.fragment_key, HANDLING.fragment_key))


HEAD = Panel("What happened", incident_story.head, shows_age=False)
FIGURE = Panel("On one time axis", figure, SIGNALS)
HANDLING = Panel("Notes and state", handling, shows_age=False)
STORY = (
    HEAD,
    FIGURE,
    Panel("Cause chain", incident_story.causes, shows_age=False),
    Panel("Lost, duplicated, re-delivered", incident_story.effects, shows_age=False),
    Panel("Who is touched", incident_story.touched, shows_age=False),
    Panel("What could not be seen", incident_story.unseen, shows_age=False),
    Panel("Its findings", incident_story.findings, shows_age=False),
    HANDLING,
)

st.title("Incident", anchor=False)
if incident_choice.asked() is None:
    panel.show(Panel("Incidents of the window, worst first", incident_list.draw))
elif not incident_choice.is_known(panel.look()):
    panel.show(HEAD)
else:
    for one in STORY:
        panel.show(one)
