"""The strip under the toolbar, on every page: total lag and findings over the window; a drag chooses a part of it.

A component of its own, because Streamlit makes a chart anew at every change of its data and a drag on it is lost. It
is hidden from assistive technology: the range, the buttons beside it and the exact window of the toolbar do the same.
"""

import logging
from collections.abc import Callable
from pathlib import Path

import streamlit as st

from dashboard import ahead, answers, known_findings, lag_answers, overall, view
from dashboard.components import toolbar
from dashboard.names import cut, in_markdown

logger = logging.getLogger(__name__)

KEY = "time-brush"
HTML = """<canvas aria-hidden="true"></canvas>
<div class="words"><span class="from"></span><span class="middle"></span><span class="to"></span></div>"""
CSS = """canvas { display: block; width: 100%; height: 44px; box-sizing: border-box; cursor: col-resize;
  touch-action: pan-y; border-radius: 6px; background: var(--st-secondary-background-color); }
.words { display: flex; justify-content: space-between; gap: 12px; margin-top: 2px; font-family: var(--st-font);
  font-size: 12px; line-height: 16px; color: var(--st-gray-text-color); font-variant-numeric: tabular-nums; }
.words span { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.middle { flex-shrink: 1; }
.from, .to { flex-shrink: 0; }"""


def _script(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


time_brush = st.components.v2.component("time_brush", html=HTML, css=CSS, js=_script("brush.js"))
shortcuts = st.components.v2.component("shortcuts", js=_script("shortcuts.js"))


def draw(page: str) -> None:
    """The strip between the buttons that move the window, and whether the page (its url path) moves by itself."""
    with st.container(horizontal=True, vertical_alignment="top", gap="small", key="window-row"):
        _button("chevron_left", "window-earlier", "Half a window earlier: key [", _earlier)
        with st.container(width="stretch", gap=None):
            st.fragment(_drawn, run_every=toolbar.look().refresh_s, key="fragment-brush")(page)
            shortcuts(key="shortcuts", height=1)
        _button("chevron_right", "window-later", "Half a window later: key ]", _later)
        _button("zoom_out", "window-wider", "Twice the window: key -", _wider)
        _button("refresh", "refresh-now", "Refresh now: key R")


def _button(icon: str, key: str, help_text: str, on_click: Callable[[], None] | None = None) -> None:
    st.button(f":material/{icon}:", key=key, help=help_text, on_click=on_click, type="tertiary")


def _drawn(page: str) -> None:
    try:
        look = toolbar.look()
        ahead.begin(look, page)  # the strip is the first that is drawn, on every page and at every refresh
        found = (history.finding for history in known_findings.findings(look).values())
        data = overall.strip(
            answers.cluster_lag(look), lag_answers.trend_step_ms(look, answers.SPARK_POINTS), found, look
        )
        time_brush(key=KEY, data=data, on_window_change=_choose)
        st.caption(overall.refresh_state(look, bool(st.session_state.get("pause")), toolbar.now_ms()))
    except Exception as exc:  # the strip must not take the page
        logger.exception("the strip failed")
        st.caption(f"The strip could not be drawn: {in_markdown(cut(str(exc), 120))}")


def _choose() -> None:
    window = view.dragged_window(st.session_state[KEY].window)
    if window is not None:
        toolbar.freeze(*window)
        st.rerun()


def _earlier() -> None:
    look = toolbar.look()
    toolbar.freeze(*view.shifted(look.from_ms, look.to_ms, -1, toolbar.now_ms()))


def _later() -> None:
    look = toolbar.look()
    if look.is_frozen:  # a live window already ends now
        toolbar.freeze(*view.shifted(look.from_ms, look.to_ms, 1, toolbar.now_ms()))


def _wider() -> None:
    look = toolbar.look()
    toolbar.freeze(*view.widened(look.from_ms, look.to_ms, toolbar.now_ms()))
