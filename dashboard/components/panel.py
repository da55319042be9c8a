"""A panel: its own fragment with a title, the age of its evidence, and a card of its own when it fails.

Stale evidence is hatched and pale, and called so; what may not be read is said. A failing panel leaves the rest alive.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from dashboard import answers, cached, coverage, expired, wording
from dashboard.components import toolbar
from dashboard.freshness import Freshness
from dashboard.names import cut, in_markdown
from dashboard.view import View
from guarantees.observations import Signal
from guarantees.promises import Verdict

logger = logging.getLogger(__name__)

WHY = 120  # characters of a head: Health has all of it

STYLE = """<style>
[data-testid="stLayoutWrapper"]:has(> [class*="st-key-stale-"]) + * { filter: saturate(.4); position: relative; }
[data-testid="stLayoutWrapper"]:has(> [class*="st-key-stale-"]) + *::after {
  content: ""; position: absolute; inset: -4px; pointer-events: none; border-radius: 6px;
  background: repeating-linear-gradient(135deg, rgba(122,135,147,.22) 0 2px, transparent 2px 10px); }
@media (min-width: 900px) { .stMainBlockContainer { padding-inline: 2.25rem; } }
[class*="st-key-toolbar"] { row-gap: .5rem; }
[class*="st-key-panel-"] { margin-bottom: .75rem; }
[data-testid="stCaptionContainer"] code { color: inherit; }
</style>"""


@dataclass(frozen=True, slots=True)
class Panel:
    """What a panel is called, which signals it rests on, and what it draws of a view.

    `age_of` is for panels that rest on something else than the signals of the sampling rounds; `pace_s` for those that
    are drawn again at their own pace, or (None) only when somebody asks. One that is not `of_cluster` has something to
    show before the cluster answered for the first time.
    """

    title: str
    draw: Callable[[View], None]
    signals: tuple[Signal, ...] = ()
    shows_age: bool = True
    age_of: Callable[[View], Freshness] | None = None
    pace_s: Callable[[], float | None] = lambda: toolbar.look().refresh_s
    of_cluster: bool = True

    @property
    def key(self) -> str:
        return "".join(char if char.isalnum() else "-" for char in self.title.lower())

    @property
    def fragment_key(self) -> str:
        """What a widget elsewhere reruns to draw this panel again."""
        return f"fragment-{self.key}"


def show(panel: Panel) -> None:
    """Draw it now, and again at its pace: that of the toolbar, where it has none of its own."""
    st.fragment(_drawn, run_every=panel.pace_s(), key=panel.fragment_key)(panel)


def look() -> View:
    """What the toolbar says now."""
    return toolbar.look()


def empty(why: str, remedy: str = "") -> None:
    """Nothing to show, why, and what to do."""
    st.markdown(f":gray[{why}]" + (f"  \n:gray[{remedy}]" if remedy else ""))


def none_seen(
    view: View,
    what: str,
    happened: str,
    remedy: str = "",
    *,
    signal: Signal = Signal.END_OFFSETS,
    within: str = "this window",
) -> None:
    """What did not happen in the window (`No group`, `changed its owners`), as far as the search leaves it in and the
    rounds tell in which the signal was answered that would have shown it; and what to do.
    """
    said = f"{what}{wording.searched(view)} {happened}"
    empty(wording.none_seen(said, answers.rounds_seen(view, signal), within), remedy)


def none_now(view: View, what: str, remedy: str) -> None:
    """What was not seen in the newest round (`No share group`), and what to do: clear the search where there is one."""
    empty(
        f"{what}{wording.searched(view)} was seen.", "Clear the search to see all." if view.search.strip() else remedy
    )


def none_sampled(view: View, what: str, remedy: str) -> None:
    """The same of what samples alone tell: where they are not kept, that."""
    if not _not_kept(view):
        none_now(view, what, remedy)


def unsampled(view: View, why: str, remedy: str) -> None:
    """Nothing to show of what samples alone tell: that they are not kept, else why and what to do."""
    if not _not_kept(view):
        empty(why, remedy)


def _not_kept(view: View) -> bool:
    """Says so where the samples of the newest round are not kept any more."""
    if (not_kept := expired.now(view)) is None:
        return False
    empty(expired.sentence(not_kept), expired.REMEDY)
    return True


def says_nothing_collected(view: View) -> bool:
    """Says so where nothing of the cluster was heard up to the end of the window."""
    if cached.heard(view) is not None:
        return False
    empty(*wording.nothing_collected(view))
    return True


def look_wider(view: View) -> str:
    """What to do where a window holds nothing."""
    return "Widen it, or clear the search." if view.search.strip() else "Widen it."


def _drawn(panel: Panel) -> None:
    view, has_title = toolbar.look(), False
    with st.container(key=f"panel-{panel.key}"):
        try:
            evidence = panel.age_of(view) if panel.age_of else coverage.age(view, panel.signals)
            is_stale = panel.shows_age and evidence.verdict(view.to_ms) is Verdict.STALE
            with st.container(key=f"{'stale' if is_stale else 'live'}-{panel.key}"):
                _header(panel, evidence, view)
            has_title = True
            with st.container(key=f"drawn-{panel.key}"):  # what is under the title stays when it turns stale
                _contents(panel, view)
            cached.note_answered(view)
        except Exception as exc:  # a panel is a boundary: whatever breaks in it must not take the page
            logger.exception("panel %s failed", panel.title)
            _failed("" if has_title else panel.title, exc)


def _contents(panel: Panel, view: View) -> None:
    if not (panel.of_cluster and says_nothing_collected(view)):
        panel.draw(view)


def _header(panel: Panel, evidence: Freshness, view: View) -> None:
    words = [f"**{panel.title}**"]
    if panel.shows_age:
        words.append(_age(evidence, view))
    says_what_lacks = panel.signals or panel.age_of
    if says_what_lacks and evidence.refused:
        words.append(f":gray-badge[⊘ Not permitted: {evidence.refused:,} of {evidence.asked:,} {evidence.asked_for}]")
        if why := evidence.refused_because:
            words.append(f":small[:gray[{in_markdown(why, WHY)}]]")
    if says_what_lacks and evidence.failed:
        words.append(f":gray-badge[? {evidence.failed:,} of {evidence.asked:,} {evidence.asked_for} failed]")
    st.markdown("  ".join(word for word in words if word))


def _age(evidence: Freshness, view: View) -> str:
    verdict = evidence.verdict(view.to_ms)
    if verdict is Verdict.UNKNOWN:
        return ""
    # A live page may answer for a moment that others asked about: its evidence is no younger for that.
    age = wording.age(evidence.observed_at_ms, view.to_ms if view.is_frozen else toolbar.now_ms())
    if verdict is Verdict.STALE:
        expected_every_s = evidence.expected_every_ms / 1000
        older = "older than " if evidence.is_older else ""
        return f"{wording.LOOKS[verdict].badge} newest evidence {older}{age}, expected every {expected_every_s:g} s"
    return f":small[:gray[{age}]]"


def _failed(title: str, error: Exception) -> None:
    if title:
        st.markdown(f"**{title}**")
    with st.container(border=True):
        st.markdown(
            ":gray-badge[? Unknown] This panel could not be drawn; those that rest on other answers are not affected."
        )
        st.code(cut(_first_line(error), 300), language=None, wrap_lines=True)


def _first_line(error: Exception) -> str:
    """Files are called as they lie in the store: where that is, is nothing for whoever reads the page."""
    said = f"{type(error).__name__}: {error}".replace(f"{Path(cached.data_dir()).resolve()}/", "")
    return said.strip().splitlines()[0]
