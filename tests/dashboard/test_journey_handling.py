"""What an operator does about a finding, in Chromium: filter, open an event, read the answers, acknowledge, note."""

import re
from dataclasses import replace

import pytest

from dashboard.view import format_time
from guarantees.findings import Kind
from tests.dashboard import fixture_store, story_handling
from tests.dashboard.conftest import now_ms, running_page
from tests.dashboard.test_journey import Visit
from tests.dashboard.test_journey import chromium as chromium

MIDDLE = "mark => { const box = mark.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2] }"
pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The page over the story and an election that cost 500 partitions; what is written stays in this store."""
    folder = tmp_path_factory.mktemp("handled")
    settings = fixture_store.write_settings(folder)
    end = now_ms()
    fixture_store.build(folder / "data", end, quiet_minutes=15)
    election = replace(fixture_store.lost(end), kind=Kind.UNCLEAN_ELECTION, title="A stale replica was elected")
    story_handling.store(folder / "data", story_handling.spread(election, 500))
    with running_page(settings) as address:
        yield address


def patient(chromium, served) -> Visit:
    """These walks wait for what other processes of the machine may delay."""
    visit = Visit(chromium, served)
    visit.page.set_default_timeout(60_000)
    return visit


def test_a_finding_is_acknowledged_and_noted_and_another_session_sees_it(chromium, served):
    finding_id = fixture_store.lost(10**12).finding_id
    with patient(chromium, served) as mine, patient(chromium, served) as theirs:
        theirs.open(f"/violations?finding={finding_id}")
        theirs.page.get_by_text("Nobody has acknowledged or noted it").wait_for()
        mine.open(f"/violations?finding={finding_id}")
        mine.page.get_by_label("Your name").fill("Ada")
        mine.page.get_by_label("Note", exact=True).fill("the <b>sink's</b> disk was full\nsee http://example.org")
        mine.page.wait_for_timeout(11_000)  # a refresh meanwhile takes nothing away
        assert mine.page.get_by_label("Note", exact=True).input_value().startswith("the <b>sink's</b> disk")

        mine.page.get_by_role("button", name="Acknowledge", exact=True).click()

        mine.page.get_by_text("the <b>sink's</b> disk was full").wait_for()
        mine.page.get_by_text("Acknowledged by Ada at").or_(mine.page.get_by_text("☑ Acknowledged")).first.wait_for()
        assert mine.page.get_by_label("Note", exact=True).input_value() == ""
        assert mine.page.get_by_label("Your name").input_value() == "Ada"
        assert mine.page.locator('a[href*="example.org"]').count() == 0
        theirs.page.get_by_text("the <b>sink's</b> disk was full").wait_for()  # at its own refresh
        assert mine.faults == theirs.faults == []


def test_an_event_of_many_partitions_is_filtered_opened_and_left_again(chromium, served):
    with patient(chromium, served) as visit:
        visit.open("/violations?search=orders&refresh=Off")
        visit.page.get_by_text(re.compile(r"50\d findings in \d events")).wait_for()
        visit.page.get_by_label("Kind").first.click()
        visit.page.get_by_role("option", name="Unclean election").click()
        visit.page.get_by_text("500 findings in 1 event").wait_for()
        assert visit.query()["kind"] == ["unclean_election"]
        visit.page.keyboard.press("Escape")

        visit.select_row(0)
        visit.page.get_by_text("Findings of this event").wait_for()
        visit.page.get_by_text("300 findings left out, those that matter least").wait_for()
        first = visit.query()["finding"][0]
        members = visit.page.locator('[data-testid="stDataFrame"]').nth(1)
        members.scroll_into_view_if_needed()
        visit.page.wait_for_timeout(500)  # what scrolls does not lie still at once
        box = members.bounding_box()
        visit.page.mouse.click(box["x"] + 16, box["y"] + 35 + 35 * 2 + 17)
        visit.settle()
        visit.page.wait_for_function(f"!window.location.search.includes('{first}')")
        assert visit.query()["kind"] == ["unclean_election"]

        visit.page.go_back()
        visit.settle()
        visit.page.wait_for_function(f"window.location.search.includes('{first}')")
        visit.open("/violations?kind=unclean_election&state=closed")
        visit.page.get_by_text("No finding of those the filters leave was open in this window").wait_for()
        assert visit.faults == []


def test_a_click_on_a_member_shows_its_group_and_takes_the_place_of_the_rebalance(chromium, served):
    with patient(chromium, served) as visit:
        visit.open("/rebalances?refresh=Off")
        visit.select_row(0)
        visit.page.get_by_text("Selected rebalance").wait_for()
        assert visit.query()["rebalance"][0].startswith("order-service@")

        members = visit.page.locator(".st-key-panel-members-now [data-testid=stDataFrame]")
        members.scroll_into_view_if_needed()
        visit.page.wait_for_timeout(500)  # what scrolls does not lie still at once
        box = members.bounding_box()
        visit.page.mouse.click(box["x"] + 16, box["y"] + 35 + 17)
        visit.page.get_by_text("Selected member").wait_for()
        visit.settle()
        assert "member" in visit.query()
        assert "rebalance" not in visit.query()
        assert visit.page.get_by_text("Selected rebalance").count() == 0
        assert visit.faults == []


def test_in_a_still_window_a_click_on_a_mark_opens_its_evidence(chromium, served):
    window = f"from={format_time(now_ms() - 1_200_000)}&to={format_time(now_ms() - 5_000)}"
    with patient(chromium, served) as visit:
        visit.open(f"/violations?kind=lost_write&{window}")
        visit.page.get_by_text("Click a mark to see its evidence").wait_for()
        mark = visit.page.locator(".scatterlayer .point").first
        mark.wait_for(state="attached")  # a path without a fill counts as hidden
        visit.page.mouse.click(*mark.evaluate(MIDDLE))
        visit.page.get_by_text("breaks the promise of").wait_for()
        assert visit.query()["finding"] == [fixture_store.lost(10**12).finding_id]
        assert visit.faults == []


def test_the_answers_behind_a_finding_are_opened(chromium, served):
    with patient(chromium, served) as visit:
        visit.open(f"/violations?finding={fixture_store.rewind(10**12).finding_id}")
        visit.page.get_by_text("Answers behind it").click()
        visit.page.get_by_text("What each group has committed").wait_for()
        visit.page.wait_for_timeout(11_000)  # still open after a refresh
        visit.page.get_by_text("What each group has committed").wait_for()
        assert visit.faults == []


def test_in_a_still_window_a_click_on_a_point_chooses_the_moment_whose_owner_is_told(chromium, served):
    window = f"from={format_time(now_ms() - 900_000)}&to={format_time(now_ms() - 5_000)}"
    with patient(chromium, served) as visit:
        visit.open(f"/lag?group=order-service&partition=orders-2&{window}")
        for panel in ("partition", "partitions-over-time"):
            figure = visit.page.locator(f".st-key-panel-{panel} .stPlotlyChart").first
            figure.scroll_into_view_if_needed()
            visit.page.wait_for_timeout(500)  # what scrolls does not lie still at once
            before = visit.query().get("at")
            number = 20 if before is None else 40
            point = figure.locator(".scatterlayer .point").nth(number)
            point.wait_for(state="attached")  # a point that is not chosen is not seen
            visit.page.mouse.click(*point.evaluate(MIDDLE))
            visit.page.wait_for_function("before => new URL(location).searchParams.get('at') !== before",
                                         arg=before[0] if before else None)  # fmt: skip
            visit.settle()
            chosen = visit.query()["at"][0]
            field = visit.page.get_by_label("Who owned it at (UTC)")
            visit.page.wait_for_function("text => document.querySelector(`[value='${text}']`)", arg=chosen)
            assert field.input_value() == chosen
        assert visit.faults == []
