"""From a topic to the ids that prove it, in Debian's Chromium."""

import csv
from pathlib import Path

import pytest

from tests.dashboard.fixture_store import BASE_OFFSET
from tests.dashboard.story_audit import FORMULA
from tests.dashboard.test_journey import Visit, chromium  # noqa: F401 (fixture)

pytestmark = pytest.mark.browser


@pytest.mark.timeout(300)
def test_a_topic_is_chosen_its_gaps_are_seen_and_back_returns(chromium, served):  # noqa: F811
    with Visit(chromium, served) as visit:
        visit.open("/audit?range=1h")
        visit.page.get_by_text("Topic orders").wait_for()
        assert "topic" not in visit.query()

        visit.select_row(1)
        visit.page.get_by_text("400 purged before it was read, 200 in no range").wait_for()
        assert visit.query()["topic"] == ["payments"]
        visit.page.get_by_text("No extra copy was found in this window").first.wait_for()

        visit.page.go_back()
        visit.settle()
        visit.page.get_by_text("Topic orders").wait_for()
        assert "topic" not in visit.query()
        assert visit.faults == []


@pytest.mark.timeout(300)
def test_an_id_is_searched_and_its_copies_are_downloaded(chromium, served):  # noqa: F811
    with Visit(chromium, served) as visit:
        visit.open("/audit?range=1h")
        with visit.page.expect_download() as every_copy:
            visit.page.get_by_role("button", name="Download copies (CSV)").click()
        rows = _rows(every_copy.value.path())
        assert [row["Message id"] for row in rows if FORMULA in row["Message id"]] == [f"'{FORMULA}"]
        assert len(rows) == 5

        visit.open("/audit?range=1h&search=order-000456")
        visit.page.get_by_text("1 in the store, 1 shown").wait_for()
        with visit.page.expect_download() as one:
            visit.page.get_by_role("button", name="Download copies (CSV)").click()
        (row,) = _rows(one.value.path())
        assert row["Later copy"] == f"orders-4:{BASE_OFFSET + 1312}"
        assert visit.faults == []


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))
