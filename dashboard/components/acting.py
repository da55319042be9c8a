"""What people did about a finding or an incident, and the form that adds to it."""

import socket
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from uuid import uuid4

import streamlit as st

from dashboard import action_log, actions, cached, wording
from dashboard.action_log import NotWritableError
from dashboard.actions import NOTE_LIMIT, WHO_LIMIT, Action, Doing, Handling
from dashboard.names import in_markdown
from store.log import SegmentLog
from store.rows import Row

SHOWN = 20
OPERATOR = "operator"  # the name stays in the session: one person enters it once
DID: Mapping[Doing, str] = {
    Doing.ACKNOWLEDGE: "acknowledged",
    Doing.NOTE: "noted",
    Doing.EXPLAIN: "explained",
    Doing.CLOSE: "closed",
    Doing.REOPEN: "opened again",
}
OF_A_FINDING: Mapping[Doing, str] = {Doing.ACKNOWLEDGE: "Acknowledge", Doing.NOTE: "Add note"}
Made = Callable[[Doing, str, str], Action]


def draw(finding_id: str, handling: Handling, rerun: Sequence[str]) -> None:
    """Who acknowledged and what was noted, oldest first; then the form. `rerun`: fragments that show either."""
    st.markdown("**Handling**" if handling.actions else "**Handling** :gray[Nobody has acknowledged or noted it.]")
    if handling.acknowledged:
        first = handling.acknowledged
        st.markdown(f"{mark(handling)}by **{in_markdown(first.who)}** at {wording.utc(first.at_ms)}")
    entries(handling.actions)
    form(finding_id, OF_A_FINDING, partial(_about, finding_id), rerun)


def entries(done: Sequence[Action]) -> None:
    """The newest actions, oldest first."""
    if left_out := done[:-SHOWN]:
        st.caption(f"The {wording.count(len(left_out))} oldest entries are not shown.")
    for action in done[-SHOWN:]:
        st.markdown(entry(action))


def mark(handling: Handling) -> str:
    """A badge before a finding that somebody looks after; nothing before the others."""
    return ":blue-badge[☑ Acknowledged] " if handling.acknowledged else ""


def entry(action: Action) -> str:
    """One action as Markdown: when, who, and every line of the note as text."""
    lines = [in_markdown(line.strip(), NOTE_LIMIT) for line in (action.note or "").splitlines() if line.strip()]
    head = f":small[:gray[{wording.utc(action.at_ms)}]] **{in_markdown(action.who)}** {DID[action.doing]}"
    return "  \n".join([head, *lines])


def form(subject: str, labels: Mapping[Doing, str], make: Made, rerun: Sequence[str]) -> None:
    """Name, note and one button for each action. `subject` is what it is about; `make` makes the action to store."""
    note_key = f"note-{subject}-{st.session_state.get('notes-taken', 0)}"
    with st.form(f"act-{subject}", border=True):
        st.text_input("Your name", key=OPERATOR, max_chars=WHO_LIMIT, persist_state="session", width=260)
        st.text_area("Note", key=note_key, max_chars=NOTE_LIMIT, height=80)
        with st.container(horizontal=True):
            for doing, label in labels.items():
                st.form_submit_button(label, on_click=partial(_submit, doing, subject, note_key, make, rerun))
        st.caption("What is written here is kept for good, and every reader of the page sees it.")
    if problem := st.session_state.get(_problem_key(subject)):
        st.error(in_markdown(problem, 300))


def _submit(doing: Doing, subject: str, note_key: str, make: Made, rerun: Sequence[str]) -> None:
    who, note = str(st.session_state.get(OPERATOR) or ""), str(st.session_state.get(note_key) or "")
    problem = actions.refusal(doing, who, note) or _store(make(doing, who, note))
    st.session_state[_problem_key(subject)] = problem
    if problem is None:
        st.session_state["notes-taken"] = st.session_state.get("notes-taken", 0) + 1
        st.rerun(list(rerun))


def store_row(row: Row) -> str | None:
    """Append a row of operator_actions; returns why it could not be, as a sentence."""
    return _tried(lambda log: action_log.append_row(log, row))


def _about(finding_id: str, doing: Doing, who: str, note: str) -> Action:
    return Action(uuid4().hex, 0, doing, finding_id, who, note)


def _store(action: Action) -> str | None:
    return _tried(lambda log: action_log.append(log, action))


def _tried(append: Callable[[SegmentLog], None]) -> str | None:
    try:
        append(_log(cached.settings().store.data_dir, socket.gethostname()))
    except NotWritableError as exc:
        return str(exc)
    return None


def _problem_key(subject: str) -> str:
    return f"problem-{subject}"


@st.cache_resource(show_spinner=False, max_entries=4, on_release=lambda log: log.close())
def _log(data_dir: str, host: str) -> SegmentLog:
    """One for the process: its sessions append one after another."""
    return action_log.open_log(Path(data_dir), host)
