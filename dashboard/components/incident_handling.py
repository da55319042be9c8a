"""What people made of an incident: its state in their hands, what they wrote, and the form that adds to it."""

from collections.abc import Mapping, Sequence
from functools import partial
from uuid import uuid4

import streamlit as st

from dashboard import incident_answers, incident_rows, wording
from dashboard.actions import Action, Attention, Doing
from dashboard.components import acting
from dashboard.components.story import link
from dashboard.incident_rows import Judged
from dashboard.names import in_markdown
from dashboard.view import View
from guarantees.incidents import Incident

BUTTONS: Mapping[Doing, str] = {
    Doing.ACKNOWLEDGE: "Acknowledge",
    Doing.NOTE: "Add note",
    Doing.EXPLAIN: "Explained",
    Doing.CLOSE: "Close",
    Doing.REOPEN: "Open again",
}
TONES = {
    Attention.OPEN: "gray",
    Attention.ACKNOWLEDGED: "blue",
    Attention.EXPLAINED: "violet",
    Attention.CLOSED: "gray",
}
NOTES = 20


def badge(incident: Incident) -> str:
    """Where people stand with it, as Markdown."""
    state = incident_answers.handling(incident).state
    words = "not looked after" if state is Attention.OPEN else f"{incident_rows.ATTENTION[state]} by a person"
    return f":{TONES[state]}-badge[{words}]"


def said(view: View, one: Judged) -> None:
    """Who led to the state and when, and what that does not cover."""
    handling = incident_answers.handling(one.incident)
    if handling.by is None:
        return
    by = handling.by
    st.markdown(f"{acting.DID[by.doing].capitalize()} by **{in_markdown(by.who)}** at {wording.utc(by.at_ms)}.")
    later = incident_answers.joined_later(view, one.incident, by.at_ms)
    for sentence in incident_rows.handled(one, handling, later):
        st.markdown(f":orange-badge[▲] {sentence}")


def draw(view: View, incident: Incident, rerun: Sequence[str]) -> None:
    """Everything done about it, the notes on its findings, and the form. `rerun`: fragments that show either."""
    handling = incident_answers.handling(incident)
    if not handling.actions:
        st.markdown(":gray[Nobody has acknowledged, noted, explained or closed it.]")
    acting.entries(handling.actions)
    _on_findings(view, incident)
    acting.form(incident.incident_id, _buttons(handling.state), partial(_about, incident.incident_id), rerun)
    st.caption("An incident keeps what was written although findings join it: it answers to every name it has had.")


def _on_findings(view: View, incident: Incident) -> None:
    notes = incident_answers.story(view, incident).notes
    if notes:
        st.markdown("**On its findings**")
    for note in notes[-NOTES:]:
        st.markdown(acting.entry(note.action))
        link("The finding", note.finding_id)


def _buttons(state: Attention) -> dict[Doing, str]:
    """All but the one that would change nothing."""
    now = {Attention.OPEN: Doing.REOPEN, Attention.CLOSED: Doing.CLOSE}.get(state)
    return {doing: label for doing, label in BUTTONS.items() if doing is not now}


def _about(incident_id: str, doing: Doing, who: str, note: str) -> Action:
    return Action(uuid4().hex, 0, doing, None, who, note, incident_id)
