"""A tab that stays open while the page's server dies and comes back."""

import re

import pytest

from tests.dashboard import fixture_store
from tests.dashboard.conftest import free_port, now_ms, start_page
from tests.dashboard.test_journey import Visit
from tests.dashboard.test_journey import chromium as chromium

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
SEEN = re.compile(r"Data up to (\d\d:\d\d:\d\d) UTC")


def seen(visit: Visit) -> str:
    """Up to when the tab has data, as it says itself."""
    told = SEEN.search(visit.page.get_by_text(SEEN).first.inner_text())
    assert told is not None
    return told[1]


@pytest.fixture
def settings(tmp_path):
    fixture_store.build(tmp_path / "data", now_ms(), quiet_minutes=10)
    return fixture_store.write_settings(tmp_path)


def test_after_its_server_was_killed_and_started_again_an_open_tab_shows_fresh_figures(chromium, settings):
    port = free_port()
    server = start_page(settings, port)
    try:
        with Visit(chromium, f"http://127.0.0.1:{port}") as visit:
            visit.open("/?refresh=10s&search=orders")
            visit.page.get_by_text(SEEN).first.wait_for()
            visit.page.evaluate("window.isTheSameTab = true")
            server.kill()
            server.wait(timeout=20)
            visit.page.wait_for_timeout(3_000)  # the tab notices
            before = seen(visit)  # what it showed last stays readable
            server = start_page(settings, port)

            visit.page.wait_for_function(
                "before => (/Data up to (\\d\\d:\\d\\d:\\d\\d) UTC/.exec(document.body.innerText) || [])[1] > before",
                arg=before, timeout=90_000,
            )  # fmt: skip
            assert visit.page.evaluate("window.isTheSameTab"), "nobody loaded it again"
            assert visit.page.get_by_text("could not be drawn").count() == 0
            assert visit.query()["search"] == ["orders"], "what was looked for is in the address, and stays"
            visit.page.get_by_role("heading", name="Overview").wait_for()
    finally:
        server.kill()
        server.wait(timeout=20)
