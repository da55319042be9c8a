"""What a person at a browser waits for, measured in Chromium."""

import time
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median

from playwright.sync_api import Browser, CDPSession, Page, sync_playwright
from playwright.sync_api import TimeoutError as WaitedTooLong

from benchmarks.sessions import is_end

CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
ANSWER_OF_FROZEN = "text=/Data up to .* frozen window/"  # under the sentence that says whether delivery is safe
IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'
PATIENCE_MS = 60_000
STRIP_MS = 10_000
LOOK_AGAIN_MS = 5
BINARY = 2  # opcode of a frame
SMALL_FRAME = 1_000  # characters: the message that a run has ended is shorter, and few others are decoded
# Long tasks: the main thread was busy for more than 50 ms and answered nobody.
WATCH = """
window.longTasks = [];
new PerformanceObserver(list => { for (const one of list.getEntries()) window.longTasks.push(one.duration); })
  .observe({ type: "longtask", buffered: true });
"""


@dataclass(frozen=True, slots=True)
class Refresh:
    """One refresh of a page: bytes over the wire, and the main thread's long tasks (number, ms)."""

    bytes: int
    long_tasks: int
    long_tasks_ms: float


class Look:
    """One page in a browser whose cache is warm, with what it received."""

    def __init__(self, page: Page, wire: CDPSession, address: str) -> None:
        self.page, self.address, self.received, self.runs_ended = page, address, 0, 0
        wire.on("Network.webSocketFrameReceived", self._count)

    def opened_s(self, path: str, shown: str) -> float:
        """From the address to the selector's being visible and the script's end."""
        return self._timed(lambda: self.page.goto(self.address + path, wait_until="commit"), shown)

    def switched_s(self, title: str, shown: str) -> float:
        """A click in the sidebar."""
        link = self.page.locator('[data-testid="stSidebarNavLink"]', has_text=title).first
        return self._answered(link.click, shown)

    def filtered_s(self, word: str, shown: str) -> float:
        """A word in the search field, up to a table that shows only what it finds."""
        field = self.page.get_by_label("Search").first
        field.fill(word)
        return self._answered(lambda: field.press("Enter"), shown)

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
        answered_s: list[float] = []

        def released() -> None:
            began = time.perf_counter()
            self.page.mouse.up()
            self.page.locator(ANSWER_OF_FROZEN).first.wait_for(state="visible", timeout=PATIENCE_MS)
            answered_s.append(time.perf_counter() - began)

        whole_s = self._answered(released, "text=Frozen window")
        return answered_s[0], whole_s

    def thawed(self) -> None:
        """Back to the live window, where it is frozen."""
        button = self.page.get_by_role("button", name="Back to live")
        if button.count():
            button.click()
            self.page.get_by_text("Frozen window", exact=True).wait_for(state="detached", timeout=PATIENCE_MS)
        self.settled()

    def settled(self) -> None:
        """Until the page has nothing left to do."""
        self.page.locator(IDLE).wait_for(timeout=PATIENCE_MS)

    def refreshed(self, seconds: float) -> Refresh:
        """What arrives and is worked off while the page refreshes itself once."""
        self.page.evaluate("window.longTasks.length = 0")
        before = self.received
        self.page.wait_for_timeout(seconds * 1_000)
        tasks = self.page.evaluate("window.longTasks")
        return Refresh(self.received - before, len(tasks), sum(tasks))

    def _answered(self, act: Callable[[], object], shown: str) -> float:
        """From the act to the end of the run it begins: a page that has not begun to answer looks like one that did."""
        before = self.runs_ended

        def to_the_end() -> None:
            act()
            gives_up_s = time.monotonic() + PATIENCE_MS / 1_000
            while self.runs_ended == before:
                if time.monotonic() > gives_up_s:
                    raise WaitedTooLong("the page did not answer")
                self.page.wait_for_timeout(LOOK_AGAIN_MS)

        return self._timed(to_the_end, shown)

    def _timed(self, act: Callable[[], object], shown: str) -> float:
        began = time.perf_counter()
        act()
        self.page.locator(shown).first.wait_for(state="visible", timeout=PATIENCE_MS)
        self.settled()
        return time.perf_counter() - began

    def _count(self, event: dict[str, dict[str, object]]) -> None:
        response = event["response"]
        text = str(response["payloadData"])
        if response["opcode"] != BINARY:
            self.received += len(text)
            return
        self.received += len(text) * 3 // 4  # handed over in base 64
        self.runs_ended += len(text) < SMALL_FRAME and is_end(b64decode(text))


@contextmanager
def looking(*addresses: str) -> Iterator[tuple[Look, ...]]:
    """One Chromium with a page for each address, closed afterwards."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield tuple(_opened(browser, address) for address in addresses)
        browser.close()


def _opened(browser: Browser, address: str) -> Look:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.add_init_script(WATCH)
    page = context.new_page()
    wire = context.new_cdp_session(page)
    wire.send("Network.enable")
    return Look(page, wire, address)


def middle(measure: Callable[[], float | None], times: int) -> float | None:
    """The median of some tries."""
    found = [measure() for _ in range(times)]
    known = [one for one in found if one is not None]
    return median(known) if known else None
