"""Cluster, window, pace and search: one row above every page, all of it in the URL.

It lives in the entry point, because a bound widget inside a page loses its linked value at the first page switch.
`from` and `to` are bound to no widget: they freeze the window, and a page switch carries them over.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from urllib.parse import urlencode

import streamlit as st

from dashboard import cached, view, wording
from dashboard.components import local_time
from dashboard.view import View

FROZEN = "frozen_window"
BEFORE = "window_before"
MOMENT = "moment_of_this_run"
DRAWN = "window_drawn_at"
UNREADABLE = "window_of_link_unreadable"
UNDERWAY_MS = 300  # after a new window is drawn: what the browser sent before is run sooner, a person goes Back later
INTERRUPTED_MS = 5_000  # after a new window was asked for, where what the browser sent before cut its run short
SLOWEST_S = 10  # a page that does not refresh shares its moment with those that do


def draw(page: str) -> None:
    """Draw the row; `page` is the url path about to be shown."""
    _note_unreadable(page)
    _carry_window(page)
    names = [cluster.name for cluster in cached.settings().clusters]
    with st.container(horizontal=True, vertical_alignment="bottom", key="toolbar"):
        if len(names) > 1:
            st.selectbox("Cluster", names, key="cluster", bind="query-params", width=150)
        st.text_input(
            "Search", key="search", bind="query-params", type="search", width=180,
            placeholder="topic, group or pipeline",
        )  # fmt: skip
        st.segmented_control(
            "Range", list(view.RANGES_MS), key="range", default=view.DEFAULT_RANGE, required=True,
            bind="query-params", on_change=_thaw,
        )  # fmt: skip
        st.segmented_control(
            "Refresh", list(view.REFRESH_S), key="refresh", default=view.DEFAULT_REFRESH, required=True,
            bind="query-params",
        )  # fmt: skip
        st.toggle("Pause", key="pause", bind="query-params")
        _window_menu()
        _link_menu()
    _frozen_line()


@contextmanager
def one_moment() -> Iterator[None]:
    """Every panel of a run of the whole page answers for the same moment, however long the first of them takes.

    It is the newest moment that was answered for somebody, unless that is too long ago: a page opens with answers that
    are there, and asks anew at its next refresh.
    """
    cluster = _cluster()
    st.session_state[MOMENT] = view.shared_moment(cached.answered_ms(cluster), now_ms(), _pace_ms(cluster))
    try:
        yield
        st.session_state.setdefault(DRAWN, now_ms())  # not if another run cuts this one short
    finally:
        del st.session_state[MOMENT]


def look() -> View:
    """What the toolbar says now. Asked again at every run of every panel: a live window moves."""
    cluster = _cluster()
    frozen = _shown()
    moment_ms = st.session_state.get(MOMENT) or now_ms()
    start, end = frozen or view.live_window(str(st.session_state.get("range")), moment_ms, _pace_ms(cluster))
    refresh_s = _refresh_s()
    return View(
        cluster=cluster,
        from_ms=start,
        to_ms=end,
        is_frozen=frozen is not None,
        refresh_s=None if frozen or st.session_state.get("pause") else refresh_s,
        search=str(st.session_state.get("search") or ""),
        is_dark=st.context.theme.type == "dark",
    )


def own_pace_s(pace_s: int) -> int | None:
    """The pace of what goes on while the window stands still; None where the reader wants nothing refreshed."""
    return None if st.session_state.get("pause") or _refresh_s() is None else pace_s


def _refresh_s() -> int | None:
    return view.REFRESH_S.get(str(st.session_state.get("refresh")), view.REFRESH_S[view.DEFAULT_REFRESH])


def _pace_ms(cluster: str) -> int:
    """A step of the sampling. Of a large cluster the length of a refresh: its panels, which refresh one after another,
    then ask for the same moment.
    """
    step_ms, minute = cached.step_ms(cluster), now_ms() // cached.MINUTE_MS
    try:
        is_large = cached.is_large(cluster, minute * cached.MINUTE_MS)
    except Exception:  # a store that cannot be read costs the panels that read it, each of which says why
        is_large = False
    return max(step_ms, 1000 * (_refresh_s() or SLOWEST_S)) if is_large else step_ms


def now_ms() -> int:
    """The page's clock."""
    return time.time_ns() // 1_000_000


def _cluster() -> str:
    names = [cluster.name for cluster in cached.settings().clusters]
    chosen = st.session_state.get("cluster")
    return chosen if chosen in names else names[0]


def _note_unreadable(page: str) -> None:
    """A link that names a window nobody can read opens live, which a reader must not take for the window it meant."""
    ends = st.query_params.get("from"), st.query_params.get("to")
    if any(ends) and view.parse_window(*ends) is None:
        st.session_state[UNREADABLE] = True
    elif st.session_state.get("page") not in (None, page):
        st.session_state.pop(UNREADABLE, None)


def _carry_window(page: str) -> None:
    """A link's window counts; a page switch keeps the frozen one; without either the window is live."""
    linked, shown = view.parse_window(st.query_params.get("from"), st.query_params.get("to")), _shown()
    switched = st.session_state.get("page") not in (None, page)
    st.session_state["page"] = page
    if shown and (_was_underway(linked) or (switched and not linked)):
        _show(shown)
    elif linked and not _was_underway(linked):
        st.session_state[FROZEN] = linked
    else:
        _show_now()


def freeze(from_ms: int, to_ms: int) -> None:
    """Show exactly this window on every page, and stop the refresh. Back leads to the one before."""
    _remember()
    _show((from_ms, to_ms))


def _thaw() -> None:
    _remember()
    _show_now()


def _remember() -> None:
    """What is shown before it changes, to know a request that was sent before the browser hears of the change."""
    st.session_state[BEFORE] = (_shown(), now_ms())
    st.session_state.pop(DRAWN, None)
    st.session_state.pop(UNREADABLE, None)


def _was_underway(linked: tuple[int, int] | None) -> bool:
    """The browser asked before it heard of the newest window: its address still has the one before."""
    before, changed_ms = st.session_state.get(BEFORE, (None, 0))
    drawn_ms = st.session_state.get(DRAWN)
    until_ms = changed_ms + INTERRUPTED_MS if drawn_ms is None else drawn_ms + UNDERWAY_MS
    return linked == before and now_ms() < until_ms


def _shown() -> tuple[int, int] | None:
    """The frozen window; None while it is live."""
    return st.session_state.get(FROZEN)


def _show(window: tuple[int, int]) -> None:
    st.session_state[FROZEN] = window
    st.query_params.update({name: view.format_time(ms) for name, ms in zip(("from", "to"), window, strict=True)})


def _show_now() -> None:
    st.session_state.pop(FROZEN, None)
    for name in ("from", "to"):
        if name in st.query_params:
            del st.query_params[name]


def _freeze_now() -> None:
    now = look()
    freeze(now.from_ms, now.to_ms)


def _freeze_chosen() -> None:
    start, end = st.session_state["window_from"], st.session_state["window_to"]
    if _is_window(start, end):
        freeze(_ms(start), _ms(end))


def _is_window(start: datetime | None, end: datetime | None) -> bool:
    return start is not None and end is not None and start < end


def _window_menu() -> None:
    with st.popover(
        ":material/calendar_clock:", help="Choose an exact window", on_change="rerun", key="window-menu"
    ) as menu:
        if menu.open:
            now = look()
            start = st.datetime_input("From (UTC)", _moment(now.from_ms), key="window_from", step=60)
            end = st.datetime_input("To (UTC)", _moment(now.to_ms), key="window_to", step=60)
            st.button("Show this window", on_click=_freeze_chosen, disabled=not _is_window(start, end))
            if not _is_window(start, end):
                st.caption("This is no window: From must lie before To.")


def _link_menu() -> None:
    with st.popover("Copy link", on_change="rerun", key="link-menu") as menu:
        if menu.open:
            if not look().is_frozen:
                _freeze_now()
            st.caption("This link shows exactly this window, also tomorrow.")
            st.code(f"{st.context.url}?{_query()}", language=None, wrap_lines=True)


def _query() -> str:
    return urlencode(st.query_params.to_dict())


def _frozen_line() -> None:
    now = look()
    with st.container(horizontal=True, vertical_alignment="center", key="frozen"):
        if now.is_frozen:
            st.markdown(
                f":blue-badge[Frozen window] {wording.span(now.from_ms, now.to_ms)}",
                help=local_time.hover(("from", now.from_ms), ("to", now.to_ms)),
            )
            st.button("Back to live", on_click=_thaw, icon=":material/play_arrow:", type="tertiary")
        elif UNREADABLE in st.session_state:
            st.caption("The window of the link cannot be read: what is shown is live, not that window.")


def _ms(moment: datetime) -> int:
    return round(moment.replace(tzinfo=UTC).timestamp() * 1000)


def _moment(time_ms: int) -> datetime:
    return datetime.fromtimestamp(time_ms / 1000, UTC).replace(tzinfo=None)
