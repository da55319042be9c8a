"""From a group to one of its partitions and to another group, in Debian's Chromium."""

import pytest

from tests.dashboard.test_journey import Visit, chromium  # noqa: F401

pytestmark = pytest.mark.browser

GROUPS, PARTITIONS = 0, 1  # tables of the page, from the top


@pytest.mark.timeout(180)
def test_a_partition_is_clicked_with_its_group_and_goes_when_another_group_is_clicked(chromium, served):  # noqa: F811
    with Visit(chromium, served) as visit:
        visit.open("/lag?refresh=Off")
        visit.page.get_by_text("Group transfer-ledger").wait_for()
        visit.select_row(2, PARTITIONS)
        shown = visit.page.get_by_text("transfers-2 of group transfer-ledger")
        shown.wait_for()
        linked = visit.query()
        assert (linked["group"], linked["partition"]) == (["transfer-ledger"], ["transfers-2"])

        visit.select_row(2, GROUPS)
        visit.page.get_by_text("Select a partition in the table above").wait_for()
        shown.wait_for(state="detached")
        linked = visit.query()
        assert linked["group"] != ["transfer-ledger"]
        assert "partition" not in linked
        assert visit.faults == []
