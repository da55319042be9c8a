"""A hanging transaction is found, looked into, and its fencing followed to the evidence, in Debian's Chromium."""

from urllib.parse import urlparse

import pytest

from tests.dashboard import story_transactions
from tests.dashboard.test_journey import Visit, chromium

__all__ = ["chromium"]

pytestmark = pytest.mark.browser


@pytest.mark.timeout(300)
def test_a_hanging_transaction_is_clicked_read_linked_and_left(chromium, served):
    with Visit(chromium, served) as visit:
        visit.open("/transactions?refresh=Off")  # a slow machine would draw without a pause
        visit.page.get_by_text("Select a transaction in the table").wait_for()

        visit.select_row(0)
        visit.page.get_by_text("No transactional id is known").wait_for()
        assert visit.query()["transaction"] == [story_transactions.HANGING]
        start = story_transactions.stable_offset(0)
        visit.page.get_by_text(f"--start-offset {start}").wait_for()
        visit.page.get_by_text("Changes the log").wait_for()

        visit.page.go_back()
        visit.settle()
        visit.page.get_by_text("Select a transaction in the table").wait_for()
        assert "transaction" not in visit.query()
        assert visit.faults == []


@pytest.mark.timeout(300)
def test_a_fenced_producer_leads_to_its_finding(chromium, served):
    with Visit(chromium, served) as visit:
        visit.open(f"/transactions?transaction={story_transactions.LATE}")
        visit.page.get_by_text("Do not abort it by start offset").wait_for()
        visit.page.get_by_role("link", name="Producer fenced").first.click()
        visit.page.get_by_text("A transaction of producer 9003 was aborted under epoch 11").wait_for()
        assert urlparse(visit.page.url).path == "/violations"
        assert visit.query()["finding"]
        assert visit.faults == []


@pytest.mark.timeout(300)
def test_the_outcomes_open_as_tables(chromium, served):
    with Visit(chromium, served, width=400) as visit:
        visit.open("/transactions")
        visit.page.get_by_text("As tables").click()
        visit.settle()
        visit.page.get_by_label("Outcomes by time").first.wait_for()
        assert visit.page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
        assert visit.faults == []
