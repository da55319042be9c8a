"""What a person at a browser waits for, measured in Chromium."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright
from playwright.sync_api import TimeoutError as WaitedTooLong

CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
WATCH = Path(__file__).with_name("watch.js")
# Where the overview says whether delivery is safe, and what stands under it once that is said of a frozen window.
ANSWER_OF_FROZEN = [".st-key-panel-is-delivery-safe-", "frozen window"]
IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'
PATIENCE_MS = 60_000
STRIP_MS = 10_000
QUIET_MS = 150  # for so long nothing changes any more: the page is drawn
LOOK_AGAIN_MS = 50
BINARY = 2  # opcode of a frame


@dataclass(frozen=True, slots=True)
class Refresh:
    """One refresh of a page: bytes over the wire, and the main thread's long tasks (number, ms)."""

    bytes: int
    long_tasks: int
    long_tasks_ms: float


class Look:
    """One page in a browser whose cache is warm, with what it received."""

    def __init__(self, page: Page, wire: CDPSession, address: str) -> None:
        self.page, self.wire, self.address, self.received = page, wire, address, 0
        wire.on("Network.webSocketFrameReceived", self._count)

    def opened_s(self, path: str, shown: str) -> float:
        """From the address to the selector's being visible and the page's being drawn."""
        return self._timed(lambda: self.page.goto(self.address + path, wait_until="commit"), shown)

    def switched_s(self, title: str, shown: str) -> float:
        """A click in the sidebar."""
        return self._timed(self.page.locator('[data-testid="stSidebarNavLink"]', has_text=title).first.click, shown)

    def filtered_s(self, word: str, shown: str) -> float:
        """A word in the search field, up to a table that shows only what it finds."""
        field = self.page.get_by_label("Search").first
        field.fill(word)
        return self._timed(lambda: field.press("Enter"), shown)

    def dragged_s(self, first: float = 0.4, last: float = 0.7) -> tuple[float, float] | None:
        """From the end of a drag over a share of the time strip to the answer for its window, and to the last panel.

        None where there is no strip.
        """
        strip = self.page.locator("canvas[aria-hidden=true]").first
        try:
            strip.wait_for(timeout=STRIP_MS)
        except WaitedTooLong:
            return None
        box = strip.bounding_box()
        if not box:
            return None
        y = box["y"] + box["height"] / 2
        self.page.mouse.move(box["x"] + box["width"] * first, y)
        self.page.mouse.down()
        self.page.mouse.move(box["x"] + box["width"] * last, y, steps=8)
        self.page.evaluate("answer => { window.act.expected = answer; }", ANSWER_OF_FROZEN)
        whole_s = self._timed(self.page.mouse.up, "text=Frozen window")
        return float(self.page.evaluate("(window.act.answered - window.act.begun) / 1000")), whole_s

    def thawed(self) -> None:
        """Back to the live window, where it is frozen."""
        button = self.page.get_by_role("button", name="Back to live")
        if button.count():
            self._timed(button.click, IDLE)

    def settled(self) -> None:
        """Until the page has nothing left to do."""
        self.page.locator(IDLE).wait_for(timeout=PATIENCE_MS)

    def listen(self) -> None:
        """Count what is received from now on: hearing every frame costs the browser, so what is timed is not heard."""
        self.wire.send("Network.enable")
        self.received = 0

    def refreshed(self, seconds: float) -> Refresh:
        """What arrives and is worked off while the page refreshes itself once."""
        self.page.evaluate("window.longTasks.length = 0")
        before = self.received
        self.page.wait_for_timeout(seconds * 1_000)
        tasks = self.page.evaluate("window.longTasks")
        return Refresh(self.received - before, len(tasks), sum(tasks))

    def _timed(self, act: Callable[[], object], shown: str) -> float:
        """From the act to the last change of the page that followed the run it begins, on the screen."""
        act()
        self.page.wait_for_function(
            "quiet => window.act?.isOver(quiet)", arg=QUIET_MS, polling=LOOK_AGAIN_MS, timeout=PATIENCE_MS
        )
        self.page.locator(shown).first.wait_for(state="visible", timeout=PATIENCE_MS)
        return float(self.page.evaluate("(window.act.drawn - window.act.begun) / 1000"))

    def _count(self, event: dict[str, dict[str, object]]) -> None:
        response = event["response"]
        size = len(str(response["payloadData"]))
        self.received += size * 3 // 4 if response["opcode"] == BINARY else size  # binary is handed over in base 64


@contextmanager
def looking(*addresses: str) -> Iterator[tuple[Look, ...]]:
    """One Chromium with a page for each address, closed afterwards."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield tuple(_opened(browser, address) for address in addresses)
        browser.close()


def _opened(browser: Browser, address: str) -> Look:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.add_init_script(path=WATCH)
    page = context.new_page()
    return Look(page, context.new_cdp_session(page), address)


def middle(measure: Callable[[], float | None], times: int) -> float | None:
    """The median of some tries."""
    found = [measure() for _ in range(times)]
    known = [one for one in found if one is not None]
    return median(known) if known else None
