"""An incident in Chromium: found from the overview, walked by its cursor, noted, and handed on as a link."""

import pytest

from guarantees.incidents import identity
from tests.dashboard import axe, fixture_store, story_cut_log, story_handling
from tests.dashboard.conftest import now_ms, running_page
from tests.dashboard.test_journey import Visit
from tests.dashboard.test_journey import chromium as chromium

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The page over the story of the incident; what is written stays in this store."""
    folder, end = tmp_path_factory.mktemp("incident-served"), now_ms()
    settings = fixture_store.write_settings(folder)
    fixture_store.build(folder / "data", end, quiet_minutes=15)
    story_handling.store(folder / "data", story_cut_log.findings(end))
    with running_page(settings) as address:
        yield address


def test_an_incident_is_found_walked_noted_and_handed_on_as_a_link(chromium, served):
    with Visit(chromium, served) as mine, Visit(chromium, served) as theirs:
        page = mine.page
        mine.open("/?refresh=Off")
        line = page.locator('[class*="st-key-attention-"]').filter(has_text="The log of orders-0 was cut")
        line.get_by_role("link", name="Incident").click()
        page.get_by_text("A member of order-service left and orders-2 moved, and 6 more findings").wait_for()
        mine.settle()
        began = mine.query()["at"]

        page.get_by_role("button", name="Event after").click()
        page.wait_for_function(f"!window.location.search.includes({began[0].replace(':', '%3A')!r})")
        mine.settle()
        stepped = mine.query()["at"]
        page.get_by_role("slider").focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_function(f"!window.location.search.includes({stepped[0].replace(':', '%3A')!r})")
        mine.settle()
        assert mine.query()["at"] > stepped

        page.get_by_label("Your name").fill("Ada")
        page.get_by_label("Note", exact=True).fill("the <b>rack</b> lost power, see http://example.org")
        page.get_by_role("button", name="Add note").click()
        # The field still holds the note for a moment.
        page.locator("p", has_text="the <b>rack</b> lost power").wait_for()
        page.get_by_role("button", name="Acknowledge", exact=True).click()
        page.get_by_text("acknowledged by a person").wait_for()
        assert page.locator('a[href*="example.org"]').count() == 0

        page.get_by_role("button", name="Copy link").click()
        page.get_by_text("This link shows exactly this window").wait_for()
        mine.settle()
        assert set(mine.query()) >= {"from", "to", "finding", "at"}
        link = page.locator('[data-testid="stCode"]', has_text="/incident?").inner_text().strip()
        page.keyboard.press("Escape")

        theirs.page.goto(link)
        theirs.settle()
        theirs.page.get_by_text("the <b>rack</b> lost power").wait_for()
        assert {name: theirs.query()[name] for name in ("from", "to", "at")} == {
            name: mine.query()[name] for name in ("from", "to", "at")
        }
        held = "[data-testid='stTable']"
        assert theirs.page.locator(held).first.inner_text() == page.locator(held).first.inner_text()
        assert axe.violations(theirs.page, axe.STREAMLITS_OWN) == []
        assert theirs.page.get_by_text("could not be drawn").count() == 0
        assert mine.faults == theirs.faults == []


def test_a_row_of_the_list_opens_its_story_and_back_leads_to_the_list(chromium, served):
    with Visit(chromium, served, width=400) as visit:
        visit.open("/incident?refresh=Off")
        visit.page.get_by_text("with findings that still last").wait_for()
        visit.select_row(0)
        visit.page.get_by_text("On one time axis").wait_for()
        visit.settle()
        assert set(visit.query()) >= {"incident", "at"}
        overflow = visit.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert overflow <= 0

        visit.page.go_back()
        visit.settle()
        visit.page.get_by_text("with findings that still last").wait_for()
        visit.open(f"/incident?refresh=Off&incident={identity('orders-to-payments', story_cut_log.ahead(10**12))}")
        visit.page.get_by_text("and 6 more findings").wait_for()  # by a name it would have had
        visit.page.get_by_role("button", name="Incidents of the window").click()
        visit.page.get_by_text("with findings that still last").wait_for()
        visit.settle()
        assert "incident" not in visit.query()
        assert visit.faults == []
