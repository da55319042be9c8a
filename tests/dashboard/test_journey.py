"""One walk through the pages in Debian's Chromium, as an operator takes it."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import pytest
from playwright.sync_api import Browser, Page, Request, sync_playwright

from tests.dashboard import axe, fixture_store

pytestmark = pytest.mark.browser

CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
PAGES = {
    "/": "Overview",
    "/lag": "Lag",
    "/rebalances": "Rebalances",
    "/violations": "Violations",
    "/replication": "Replication",
    "/transactions": "Transactions",
    "/audit": "Duplicates & loss",
    "/changes": "What changed",
    "/sql": "SQL",
    "/incident": "Incident",
    "/reports": "Reports",
    "/health": "Health",
    "/settings": "Settings",
}
# Streamlit asks below the page's path first when a subpage is opened by its address, and then at the root.
HARMLESS = re.compile(r"/[a-z]+/_stcore/(health|host-config)$")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    assert Path(CHROMIUM).exists(), f"{CHROMIUM} is missing: install Debian's chromium package to run the journeys"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


class Visit:
    """A page with everything that must not happen on it."""

    def __init__(self, browser: Browser, address: str, *, width: int = 1280, scheme: str = "light") -> None:
        self.address = address
        self.context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(60_000)  # the machine is shared with a cluster and Spark
        self.faults: list[str] = []
        self.page.on("pageerror", lambda error: self.faults.append(f"script error: {error}"))
        self.page.on("dialog", lambda dialog: (self.faults.append("a dialog opened"), dialog.dismiss()))
        self.page.on("request", self._check_request)
        self.page.on(
            "console",
            lambda message: (
                self.faults.append(f"console: {message.text} {message.location}")
                if message.type == "error" and not HARMLESS.search(message.location.get("url", ""))
                else None
            ),
        )

    def __enter__(self) -> "Visit":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._tell()
        self.context.close()

    def _tell(self) -> None:
        """What a person would see, for who reads that a test failed."""
        print(f"at {self.page.url}, faults {self.faults}\n{self.page.locator('body').inner_text()[:3_000]}")

    def open(self, path: str) -> None:
        self.page.goto(self.address + path)
        self.settle()

    def settle(self) -> None:
        self.page.wait_for_timeout(150)
        self.page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]', timeout=60_000)

    def query(self) -> dict[str, list[str]]:
        return parse_qs(urlparse(self.page.url).query)

    def select_row(self, number: int, table: int = 0) -> None:
        """Click the selection box of a row: the grid is a canvas, so by its place. `table`: which one of the page."""
        grid = self.page.locator('[data-testid="stDataFrame"]').nth(table)
        grid.scroll_into_view_if_needed()
        box = grid.bounding_box()
        assert box is not None
        self.page.mouse.click(box["x"] + 16, box["y"] + 35 + 35 * number + 17)
        self.settle()

    def overflow(self, width: int) -> int:
        """By how many pixels the page is wider than a window of this width."""
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.wait_for_timeout(800)  # charts and tables are laid out anew
        return int(self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth"))

    def _check_request(self, request: Request) -> None:
        url = urlparse(request.url)
        if url.scheme not in ("data", "blob") and url.hostname != "127.0.0.1":
            self.faults.append(f"a request left the host: {request.url}")


@pytest.mark.parametrize(("scheme", "widths"), [("light", (400, 2560, 1280)), ("dark", (1280,))])
@pytest.mark.timeout(300)
def test_every_page_opens_without_an_error_a_foreign_request_a_sideways_scroll_or_a_barrier(
    chromium, served, scheme, widths
):
    with Visit(chromium, served, width=widths[0], scheme=scheme) as visit:
        barriers = {}
        for path, title in PAGES.items():
            visit.open(f"{path}?refresh=Off")
            visit.page.get_by_role("heading", name=title, exact=True).wait_for()
            assert visit.page.get_by_text("could not be drawn").count() == 0
            assert visit.page.locator('[data-testid="stException"]').count() == 0
            for width in widths:
                assert visit.overflow(width) <= 0, f"{path} scrolls sideways at {width} px"
            barriers[path] = axe.violations(visit.page, axe.STREAMLITS_OWN)
        assert barriers == dict.fromkeys(PAGES, [])
        assert visit.faults == []


@pytest.mark.timeout(300)
def test_a_finding_is_clicked_read_linked_and_left(chromium, served):
    with Visit(chromium, served) as visit:
        visit.open("/violations")
        assert "finding" not in visit.query()

        visit.select_row(0)
        visit.page.get_by_text("breaks the promise of").wait_for()
        chosen = visit.query()["finding"][0]
        proof = visit.page.get_by_role("table", name="Evidence")
        proof.get_by_text(str(fixture_store.BASE_OFFSET + 1200), exact=True).wait_for()
        visit.page.get_by_text("Assuming that the pipeline writes one sink record").wait_for()

        visit.page.go_back()
        visit.settle()
        visit.page.get_by_text("Select a finding in the table").wait_for()
        assert "finding" not in visit.query()

        visit.open(f"/violations?finding={chosen}")
        visit.page.get_by_text("breaks the promise of").wait_for()
        assert visit.faults == []


@pytest.mark.timeout(300)
def test_the_overview_leads_to_the_evidence(chromium, served):
    with Visit(chromium, served) as visit:
        visit.open("/")
        visit.page.get_by_text("Delivery is not safe").wait_for()
        # The first line's link, not the first link: it may be drawn after that of the next line.
        line = visit.page.locator('[class*="st-key-attention-"]').first
        line.get_by_role("link", name="Evidence").click()
        visit.page.get_by_text("breaks the promise of").wait_for()
        assert urlparse(visit.page.url).path == "/violations"
        assert visit.query()["finding"]
        assert visit.faults == []


@pytest.mark.timeout(300)
def test_a_pipeline_of_the_overview_is_clicked_and_leads_to_what_breaks_it_and_to_its_group(chromium, served):
    with Visit(chromium, served) as visit:
        visit.open("/?refresh=Off")
        visit.page.get_by_text("Select a pipeline in the table").wait_for()
        visit.select_row(0)
        detail = visit.page.locator(".st-key-panel-pipeline")
        detail.get_by_text("promises at least once").wait_for()
        (chosen,) = visit.query()["pipeline"]
        assert chosen == "orders-to-payments", "the worst one comes first"

        because = detail.locator('[class*="st-key-because-"]').first
        because.get_by_role("link", name="Evidence").click()
        visit.page.get_by_text("breaks the promise of").wait_for()
        visit.page.go_back()
        detail.get_by_role("link", name="Lag of its group").click()
        visit.page.get_by_role("heading", name="Lag", exact=True).wait_for()
        visit.page.locator(".st-key-panel-partitions-over-time").get_by_text("order-service").first.wait_for()
        assert urlparse(visit.page.url).path == "/lag"
        assert visit.query()["group"] == ["order-service"]
        visit.page.go_back()
        detail.get_by_role("link", name="What the promise needs").click()
        visit.page.locator(".st-key-panel-what-the-promise-needs [data-testid=stDataFrame]").wait_for()
        assert visit.query()["pipeline"] == [chosen]
        assert visit.faults == []


@pytest.mark.timeout(300)
def test_a_copied_link_freezes_the_window_and_survives_a_page_switch(chromium, served):
    with Visit(chromium, served) as visit:
        visit.open("/lag?range=1h&search=order")
        visit.page.get_by_role("button", name="Copy link").click()
        visit.page.get_by_text("This link shows exactly this window").wait_for()
        visit.settle()
        frozen = visit.query()
        assert set(frozen) >= {"from", "to", "range", "search"}

        visit.page.keyboard.press("Escape")
        visit.page.get_by_role("link", name="Violations").click()
        visit.page.get_by_role("heading", name="Violations", exact=True).wait_for()
        visit.settle()
        assert {name: visit.query().get(name) for name in frozen} == frozen

        visit.page.get_by_role("button", name="Back to live").click()
        visit.settle()
        assert "from" not in visit.query()
        assert visit.faults == []
