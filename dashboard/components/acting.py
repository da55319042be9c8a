"""Acknowledge and note: what people did about a finding, and the form that adds to it."""

import socket
from collections.abc import Callable, Sequence
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


def draw(finding_id: str, handling: Handling, rerun: Sequence[str]) -> None:
    """Who acknowledged and what was noted, oldest first; then the form. `rerun`: fragments that show either."""
    st.markdown("**Handling**" if handling.actions else "**Handling** :gray[Nobody has acknowledged or noted it.]")
    if handling.acknowledged:
        first = handling.acknowledged
        st.markdown(f"{mark(handling)}by **{in_markdown(first.who)}** at {wording.utc(first.at_ms)}")
    if left_out := handling.actions[:-SHOWN]:
        st.caption(f"The {wording.count(len(left_out))} oldest entries are not shown.")
    for action in handling.actions[-SHOWN:]:
        st.markdown(entry(action))
    _form(finding_id, rerun)


def mark(handling: Handling) -> str:
    """A badge before a finding that somebody looks after; nothing before the others."""
    return ":blue-badge[☑ Acknowledged] " if handling.acknowledged else ""


def entry(action: Action) -> str:
    """One action as Markdown: when, who, and every line of the note as text."""
    did = "acknowledged" if action.doing is Doing.ACKNOWLEDGE else "noted"
    lines = [in_markdown(line.strip(), NOTE_LIMIT) for line in (action.note or "").splitlines() if line.strip()]
    head = f":small[:gray[{wording.utc(action.at_ms)}]] **{in_markdown(action.who)}** {did}"
    return "  \n".join([head, *lines])


def _form(finding_id: str, rerun: Sequence[str]) -> None:
    note_key = f"note-{finding_id}-{st.session_state.get('notes-taken', 0)}"
    with st.form(f"act-{finding_id}", border=True):
        st.text_input("Your name", key=OPERATOR, max_chars=WHO_LIMIT, persist_state="session", width=260)
        st.text_area("Note", key=note_key, max_chars=NOTE_LIMIT, height=80)
        with st.container(horizontal=True):
            for doing, label in ((Doing.ACKNOWLEDGE, "Acknowledge"), (Doing.NOTE, "Add note")):
                st.form_submit_button(label, on_click=partial(_submit, doing, finding_id, note_key, rerun))
        st.caption("What is written here is kept for good, and every reader of the page sees it.")
    if problem := st.session_state.get(_problem_key(finding_id)):
        st.error(in_markdown(problem, 300))


def _submit(doing: Doing, finding_id: str, note_key: str, rerun: Sequence[str]) -> None:
    who, note = str(st.session_state.get(OPERATOR) or ""), str(st.session_state.get(note_key) or "")
    problem = actions.refusal(doing, who, note) or _store(Action(uuid4().hex, 0, doing, finding_id, who, note))
    st.session_state[_problem_key(finding_id)] = problem
    if problem is None:
        st.session_state["notes-taken"] = st.session_state.get("notes-taken", 0) + 1
        st.rerun(list(rerun))


def store_row(row: Row) -> str | None:
    """Append a row of operator_actions; returns why it could not be, as a sentence."""
    return _tried(lambda log: action_log.append_row(log, row))


def _store(action: Action) -> str | None:
    return _tried(lambda log: action_log.append(log, action))


def _tried(append: Callable[[SegmentLog], None]) -> str | None:
    try:
        append(_log(cached.settings().store.data_dir, socket.gethostname()))
    except NotWritableError as exc:
        return str(exc)
    return None


def _problem_key(finding_id: str) -> str:
    return f"problem-{finding_id}"


@st.cache_resource(show_spinner=False, max_entries=4, on_release=lambda log: log.close())
def _log(data_dir: str, host: str) -> SegmentLog:
    """One for the process: its sessions append one after another."""
    return action_log.open_log(Path(data_dir), host)
