"""An operator at the Replication page, in Debian's Chromium."""

import pytest

from tests.dashboard import test_journey
from tests.dashboard.story_replication import SHIPMENTS_ID
from tests.dashboard.test_journey import Visit

pytestmark = pytest.mark.browser
chromium = test_journey.chromium


@pytest.mark.timeout(300)
def test_a_partition_is_clicked_read_linked_and_left(chromium, served):
    with Visit(chromium, served) as visit:
        visit.open("/replication?refresh=Off")
        visit.page.get_by_text("25 partitions:").wait_for()
        visit.page.get_by_text("none was selected: the worst one, or the one that changed most").wait_for()
        assert "partition" not in visit.query()

        visit.select_row(1)
        visit.page.locator("p", has_text="Partition shipments-2").wait_for()
        assert visit.query()["partition"] == [f"{SHIPMENTS_ID}-2"]
        figure = visit.page.get_by_role("figure", name="What is not replicated and not readable")
        figure.get_by_text("broker 1, epoch 7").wait_for()
        figure.get_by_text("not replicated yet").wait_for()
        assert figure.get_by_text("broker 3, epoch 5").count() == 1

        visit.page.go_back()
        visit.settle()
        visit.page.locator("p", has_text="Partition shipments-3").wait_for()
        assert "partition" not in visit.query()

        visit.open(f"/replication?refresh=Off&partition={SHIPMENTS_ID}-4")
        visit.page.locator("p", has_text="Partition shipments-4").wait_for()
        assert visit.faults == []


@pytest.mark.timeout(300)
def test_an_unclean_election_leads_to_its_evidence(chromium, served):
    with Visit(chromium, served) as visit:
        visit.open("/replication?refresh=Off")
        visit.page.get_by_text("Broker 1 became leader of shipments-2, not in sync when last seen").wait_for()
        visit.page.get_by_role("link", name="Evidence").click()
        visit.page.get_by_text("an unclean election").first.wait_for()
        assert visit.query()["finding"]
        assert visit.faults == []
