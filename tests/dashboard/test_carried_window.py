"""The window, the address and the session agree, whichever request arrives when."""

from dataclasses import dataclass
from datetime import timedelta

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.components import toolbar
from tests.dashboard import fixture_store
from tests.dashboard.conftest import ROOT

LINK = {"from": "2026-03-01T02:00:00Z", "to": "2026-03-01T03:00:00Z"}
SOON, LATER = toolbar.UNDERWAY_MS - 1, toolbar.UNDERWAY_MS


@dataclass
class Reader:
    """A page whose requests carry the address the browser has, and the clock of the server."""

    app: AppTest
    clock_ms: int = 1_800_000_000_000

    def ask(self, address: dict[str, str], *, after_ms: int = 10_000) -> None:
        self.clock_ms += after_ms
        self.app.query_params.clear()
        self.app.query_params.update(address)
        self.app.run()
        assert not self.app.exception

    def click(self, place: str) -> None:
        self.clock_ms += 10_000
        next(button for button in self.app.button if place in (button.key, button.label)).click().run()

    @property
    def address(self) -> dict[str, str]:
        """Its window: AppTest keeps each value as a list."""
        return {name: value for name in LINK if (value := "".join(self.app.query_params.get(name, [])))}

    @property
    def is_frozen(self) -> bool:
        frozen = any("Frozen window" in str(element.value) for element in self.app.markdown)
        assert frozen == (len(self.address) == 2), "the screen and the address do not agree"
        return frozen


@pytest.fixture
def reader(tmp_path, monkeypatch) -> Reader:
    monkeypatch.setenv("TIDEMARK_SETTINGS", str(fixture_store.write_settings(tmp_path)))
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).switch_page("dashboard/pages/settings.py")
    reader = Reader(app)
    monkeypatch.setattr(toolbar, "now_ms", lambda: reader.clock_ms)
    return reader


def test_a_link_freezes_its_window_and_back_to_live_clears_the_address(reader):
    reader.ask(LINK)
    assert reader.is_frozen
    reader.click("Back to live")
    assert not reader.is_frozen


@pytest.mark.parametrize(("after_ms", "is_frozen"), [(SOON, False), (LATER, True)])
def test_the_former_window_returns_by_back_and_not_by_a_request_that_was_underway(reader, after_ms, is_frozen):
    reader.ask(LINK)
    reader.click("Back to live")
    reader.ask(LINK, after_ms=after_ms)
    assert reader.is_frozen is is_frozen


@pytest.mark.parametrize(("after_ms", "is_frozen"), [(SOON, True), (LATER, False)])
def test_a_new_window_goes_by_back_and_not_by_a_request_that_was_underway(reader, after_ms, is_frozen):
    reader.ask({})
    reader.click("window-earlier")
    chosen = reader.address
    assert chosen
    reader.ask({}, after_ms=after_ms)
    assert reader.is_frozen is is_frozen
    assert reader.address == (chosen if is_frozen else {})


def test_another_link_counts_at_once(reader):
    reader.ask(LINK)
    reader.click("window-earlier")
    other = {"from": "2026-02-01T02:00:00Z", "to": "2026-02-01T03:00:00Z"}
    reader.ask(other, after_ms=0)
    assert reader.is_frozen
    assert reader.address == other


def test_a_window_whose_run_was_cut_short_is_kept_for_longer(reader):
    reader.ask({})
    reader.click("window-earlier")
    del reader.app.session_state[toolbar.DRAWN]
    reader.ask({}, after_ms=toolbar.INTERRUPTED_MS - 1)
    assert reader.is_frozen


UNREAD = "The window of the link cannot be read"


def is_said(reader, sentence) -> bool:
    return any(sentence in str(element.value) for element in reader.app.caption)


@pytest.mark.parametrize(
    "link",
    [
        {"from": "yesterday", "to": LINK["to"]},
        {"from": LINK["from"]},
        {"from": LINK["to"], "to": LINK["from"]},
        {"from": LINK["from"], "to": LINK["from"]},
    ],
)
def test_a_link_whose_window_cannot_be_read_opens_live_and_says_so_until_a_window_is_chosen(reader, link):
    reader.ask(link)
    assert not reader.is_frozen
    assert is_said(reader, UNREAD)
    reader.ask({})
    assert is_said(reader, UNREAD), "the reader has not seen to it yet"
    reader.click("window-earlier")
    assert not is_said(reader, UNREAD)
    reader.click("Back to live")
    assert not is_said(reader, UNREAD)


@pytest.mark.parametrize("link", [{}, LINK])
def test_a_link_that_can_be_read_or_names_no_window_says_nothing_of_it(reader, link):
    reader.ask(link)
    assert not is_said(reader, UNREAD)


@pytest.mark.parametrize(("later_s", "is_window"), [(60, True), (0, False), (-60, False)])
def test_a_chosen_window_that_does_not_begin_before_it_ends_is_said_and_cannot_be_shown(reader, later_s, is_window):
    reader.ask({})
    reader.app.session_state["window-menu"] = True
    reader.app.run()
    start, end = reader.app.datetime_input
    end.set_value(start.value + timedelta(seconds=later_s)).run()

    (button,) = [one for one in reader.app.button if one.label == "Show this window"]
    assert button.proto.disabled is not is_window
    assert is_said(reader, "This is no window") is not is_window
    if is_window:
        reader.click("Show this window")
        assert reader.is_frozen
