"""The window and the selection in Debian's Chromium: dragged, moved by keys, linked, and brought back."""

import os
from collections.abc import Iterator
from datetime import datetime
from urllib.parse import urlencode, urlparse

import pytest

from dashboard.view import format_time
from tests.dashboard import fixture_store
from tests.dashboard.conftest import ROOT, now_ms, running_page
from tests.dashboard.test_journey import Visit, chromium  # noqa: F401

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

# Every second instead of every ten: what a drag has to outlive.
FAST = 'from dashboard import view\nview.REFRESH_S["10s"] = 1\n'


@pytest.fixture(scope="module")
def fast(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page over a store that stays fresh, refreshing ten times as fast as it offers."""
    folder = tmp_path_factory.mktemp("fast")
    (folder / "sitecustomize.py").write_text(FAST)
    settings = fixture_store.write_settings(folder)
    fixture_store.build(folder / "data", now_ms(), quiet_minutes=15)
    with running_page(settings, PYTHONPATH=os.pathsep.join((str(folder), str(ROOT)))) as address:
        yield address


@pytest.fixture(scope="module")
def stopping(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page over a store whose last round is half a minute ahead, and none after it."""
    folder = tmp_path_factory.mktemp("stopping")
    (folder / "sitecustomize.py").write_text(FAST)
    settings = fixture_store.write_settings(folder)
    fixture_store.build(folder / "data", now_ms() + 30_000)
    with running_page(settings, PYTHONPATH=os.pathsep.join((str(folder), str(ROOT)))) as address:
        yield address


class Look(Visit):
    """A visit that can drag on the strip and read the window off the address."""

    def open(self, path: str) -> None:
        super().open(path)
        self.page.locator("[aria-keyshortcuts]").first.wait_for(state="attached")  # the page listens to keys from here
        self.page.locator("canvas[aria-hidden=true]").wait_for()
        self.settle()

    def drag(self, start: float, end: float, *, pause_ms: int = 50, steps: int = 12) -> None:
        """Across the strip, from and to in parts of its width, as slowly as a person."""
        strip = self.page.locator("canvas[aria-hidden=true]")
        while (box := strip.bounding_box()) is None:  # while it is drawn anew it has no place
            self.page.wait_for_timeout(50)
        middle = box["y"] + box["height"] / 2
        self.page.mouse.move(box["x"] + start * box["width"], middle)
        self.page.mouse.down()
        for step in range(1, steps + 1):
            self.page.mouse.move(box["x"] + (start + (end - start) * step / steps) * box["width"], middle)
            self.page.wait_for_timeout(pause_ms)
        self.page.mouse.up()

    def frozen(self) -> tuple[float, float] | None:
        """The window of the address, s since 1970."""
        query = self.query()
        if "from" not in query:
            return None
        start, end = (datetime.fromisoformat(query[name][0]).timestamp() for name in ("from", "to"))
        return start, end

    def wait_frozen(self) -> tuple[float, float]:
        self.page.get_by_text("Frozen window", exact=True).wait_for()
        self.settle()
        window = self.frozen()
        assert window is not None
        return window

    def wait_live(self) -> None:
        self.page.get_by_text("Frozen window", exact=True).wait_for(state="detached")
        self.settle()
        assert self.frozen() is None

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)
        self.page.wait_for_timeout(300)
        self.settle()


@pytest.fixture
def visit(chromium, served) -> Iterator[Look]:  # noqa: F811
    with Look(chromium, served) as look:
        yield look
        assert look.faults == []


def test_every_drag_lands_while_the_page_refreshes_every_second(chromium, fast):  # noqa: F811
    with Look(chromium, fast) as look:
        look.open("/violations")
        for number in range(5):
            look.page.wait_for_timeout(130 * number)
            opened = now_ms() / 1000
            look.drag(0.25, 0.5, pause_ms=150)
            start, end = look.wait_frozen()
            assert end - start == pytest.approx(0.25 * 900, abs=12), f"drag {number}"
            assert opened - 900 * 0.75 - 20 < start < opened - 900 * 0.75 + 20
            look.page.get_by_role("button", name="Back to live").click()
            look.wait_live()
        assert look.faults == []


def test_the_strip_stays_the_same_element_while_the_page_refreshes(chromium, fast):  # noqa: F811
    with Look(chromium, fast) as look:
        look.open("/")
        strip = look.page.locator("canvas[aria-hidden=true]")
        strip.evaluate("canvas => { canvas.isTheSame = true; }")
        before = look.page.get_by_text("asked at").inner_text()
        look.page.wait_for_timeout(2_500)

        assert look.page.get_by_text("asked at").inner_text() != before, "nothing was refreshed meanwhile"
        assert strip.evaluate("canvas => canvas.isTheSame")
        assert look.faults == []


def test_a_drag_during_the_ordinary_refresh_lands_and_is_shown_on_every_page(visit):
    visit.open("/")
    visit.drag(0.5, 0.9, pause_ms=900)  # eleven seconds: a refresh falls into it
    window = visit.wait_frozen()

    for name in ("Lag", "Rebalances", "Violations", "Health"):
        visit.page.get_by_role("link", name=name, exact=True).click()
        visit.page.get_by_role("heading", name=name, exact=True).wait_for()
        assert visit.wait_frozen() == window


HATCHING = "element => [getComputedStyle(element).filter, getComputedStyle(element, '::after').backgroundImage]"
KEPT = ("h1", "[data-testid=stMetric]", "[data-testid=stDataFrame]", ".st-key-panel-needs-attention", ".st-key-strip")


def test_a_drag_makes_no_panel_and_no_table_anew(visit):
    visit.open("/")
    for place in KEPT:
        visit.page.locator(place).first.evaluate("element => { element.isTheSame = true; }")

    visit.drag(0.1, 0.9)
    visit.wait_frozen()

    assert [visit.page.locator(place).first.evaluate("element => element.isTheSame") for place in KEPT] == [True] * 5


def test_a_panel_whose_source_stops_is_hatched_and_keeps_its_table(chromium, stopping):  # noqa: F811
    with Look(chromium, stopping) as look:
        look.open("/")
        body = look.page.locator("[data-testid=stLayoutWrapper]:has(> .st-key-drawn-pipelines--worst-first)")
        table = body.locator("[data-testid=stDataFrame]").first
        table.evaluate("element => { element.isTheSame = true; }")
        assert body.evaluate(HATCHING) == ["none", "none"], "stale from the beginning"

        look.page.locator(".st-key-panel-pipelines--worst-first").get_by_text("newest evidence").wait_for()
        look.settle()
        colour, lines = body.evaluate(HATCHING)
        assert (colour, lines.split("(")[0]) == ("saturate(0.4)", "repeating-linear-gradient")
        assert table.evaluate("element => element.isTheSame")
        assert look.faults == []


# Two clicks before the browser hears of the window of the first: the second tells the address that was there before.
TWO_CLICKS = """([first, second, after_ms]) => {
  document.querySelector(first).click();
  setTimeout(() => document.querySelector(second).click(), after_ms);
}"""
AGREE = """() => location.search.includes("from=") === document.body.innerText.includes("Frozen window")"""


@pytest.mark.parametrize("after_ms", [0, 3, 6, 10, 15])
def test_the_address_and_the_screen_agree_after_two_clicks_at_once(visit, after_ms):
    visit.open("/violations?refresh=Off")
    visit.page.evaluate(TWO_CLICKS, [".st-key-window-earlier button", ".st-key-pause input", after_ms])
    visit.page.wait_for_timeout(1_500)  # Streamlit drops the first of two whose run has not begun
    visit.settle()
    visit.page.wait_for_function(AGREE, timeout=10_000)


def test_a_click_on_the_strip_changes_nothing(visit):
    visit.open("/")
    visit.drag(0.5, 0.5)
    visit.drag(0.5, 0.502)
    visit.page.wait_for_timeout(800)
    visit.settle()

    assert visit.frozen() is None
    assert visit.page.get_by_text("Frozen window", exact=True).count() == 0


def test_a_page_that_shifts_under_a_still_pointer_is_not_dragged_on(visit):
    visit.open("/")
    visit.settle()
    box = visit.page.locator("canvas[aria-hidden=true]").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    visit.page.mouse.move(x, y)
    visit.page.mouse.down()
    visit.page.add_style_tag(content=".stMainBlockContainer { padding-inline: 6rem !important; }")
    visit.page.mouse.move(x + 1, y)
    visit.page.mouse.up()
    visit.page.wait_for_timeout(800)
    visit.settle()

    assert visit.page.locator("canvas[aria-hidden=true]").bounding_box()["x"] > box["x"] + 20, "nothing has shifted"
    assert visit.frozen() is None


def test_a_drag_in_a_drag_and_back_restores_the_window_before(visit):
    visit.open("/violations")
    visit.drag(0.2, 0.8)
    wide = visit.wait_frozen()
    visit.drag(0.5, 0.75)
    visit.page.wait_for_url(lambda url: "from=" in url and visit.frozen() != wide)
    narrow = visit.wait_frozen()
    assert narrow[1] - narrow[0] == pytest.approx(0.25 * (wide[1] - wide[0]), rel=0.05)
    assert wide[0] < narrow[0] < narrow[1] < wide[1]

    visit.page.wait_for_timeout(300)  # a person looks first
    visit.page.go_back()
    assert visit.wait_frozen() == wide
    visit.page.go_back()
    visit.wait_live()
    visit.page.go_forward()
    assert visit.wait_frozen() == wide


def test_keys_move_widen_pause_and_search(visit):
    visit.open("/violations")
    visit.press("[")
    start, end = visit.wait_frozen()
    assert end - start == 900
    visit.press("[")
    assert visit.wait_frozen() == (start - 450, end - 450)
    visit.press("]")
    assert visit.wait_frozen() == (start, end)
    visit.press("-")
    wide = visit.wait_frozen()
    assert wide[1] - wide[0] == 1800
    assert wide[0] < start

    visit.page.get_by_role("button", name="Back to live").click()
    visit.wait_live()
    visit.press("p")
    visit.page.get_by_text("Paused at").wait_for()
    assert visit.query()["pause"] == ["true"]
    visit.press("p")
    visit.page.get_by_text("Live: every 10 s").wait_for()

    visit.press("/")
    visit.page.keyboard.type("p[-]/p")
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_timeout(500)
    visit.settle()
    assert visit.query()["search"] == ["p[-]/p"], "keys are letters while somebody types"
    assert visit.frozen() is None
    assert "pause" not in visit.query()


KEYS = {"pause": "P", "search": "/", "window-earlier": "[", "window-later": "]", "window-wider": "-"}


def test_every_control_with_a_key_tells_assistive_technology_its_key(visit):
    visit.open("/violations")
    told = "element => element.getAttribute('aria-keyshortcuts')"
    places = {control: visit.page.locator(f".st-key-{control} :is(input, button)") for control in KEYS}
    assert {control: place.first.evaluate(told) for control, place in places.items()} == KEYS


def test_r_asks_again(visit):
    visit.open("/violations?refresh=Off")
    before = visit.page.get_by_text("asked at").inner_text()
    visit.page.wait_for_timeout(1_500)
    assert visit.page.get_by_text("asked at").inner_text() == before
    visit.press("r")

    visit.page.wait_for_function("before => !document.body.innerText.includes(before)", arg=before)


def test_a_deep_link_survives_a_page_switch(visit):
    end_ms = now_ms()
    window = urlencode({"from": format_time(end_ms - 600_000), "to": format_time(end_ms)})
    visit.open(f"/lag?{window}&search=order&group=order-service")
    first = visit.wait_frozen()
    visit.page.get_by_role("link", name="Rebalances").click()
    visit.page.get_by_role("heading", name="Rebalances", exact=True).wait_for()

    assert visit.wait_frozen() == first
    assert visit.query()["search"] == ["order"]
    assert urlparse(visit.page.url).path == "/rebalances"
