"""The page of the lab: only where the demo runs, which names it in its settings. A button for each fault."""

from pathlib import Path

import streamlit as st

from dashboard import cached
from lab.menu import Offer, is_busy, newest, offers, state_in_words
from lab.paths import LabPaths
from lab.requests import Request, all_requests, post
from lab.running import is_alive

_LOOK_EVERY_S = 2.0


def lab_paths() -> LabPaths:
    """The lab keeps Tidemark's data in its own directory."""
    return LabPaths(Path(cached.settings().store.data_dir).parent)


@st.fragment(run_every=_LOOK_EVERY_S)
def faults(paths: LabPaths) -> None:
    """Every fault with its state."""
    if not is_alive(paths.running):
        st.info("The lab has ended. Start it again: make demo")
        return
    requests = all_requests(paths)
    known = newest(requests)
    st.caption("The lab is at work." if is_busy(requests) else "The lab waits for a fault.")
    for offer in offers():
        with st.container(border=True):
            _draw(paths, offer, known.get(offer.name))


def _draw(paths: LabPaths, offer: Offer, request: Request | None) -> None:
    text, action = st.columns([5, 1], vertical_alignment="center")
    with text:
        st.markdown(f"**{offer.code}** {offer.title}")
        st.caption(f"Breaks: {offer.breaks}.")
        if offer.refusal is None:
            st.caption(f"State: {state_in_words(request)}.")
            st.page_link(offer.look.path, label=f":blue[{offer.look.sentence} →]", icon="")
        else:
            st.caption(f"Not here: {offer.refusal}.")
    is_refused = offer.refusal is not None or (request is not None and is_busy([request]))
    asked = {"on_click": post, "args": (paths, offer.name), "disabled": is_refused}
    action.button(f"Inject {offer.code}", key=f"inject-{offer.code}", **asked)


st.title("Lab", anchor=False)
st.caption("Each button hurts the demo's own cluster for real. What Tidemark makes of it is on its own pages.")
faults(lab_paths())
