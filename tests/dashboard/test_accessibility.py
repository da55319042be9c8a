"""What axe-core finds on every page as a person meets it, in light and in dark."""

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.dashboard.test_journey import PAGES, Visit, chromium

__all__ = ["chromium"]

pytestmark = pytest.mark.browser

# Streamlit's own markup, which no page can change: the navigation nests lists through <div>, and the sparkline of a
# metric draws marks that call themselves graphics and have no name.
STREAMLITS_OWN = [["[data-testid='stSidebarNav']"], ["[data-testid='stMetricChart']"]]
GRAVE = {"serious", "critical"}


def violations(visit: Visit, left_out: list[list[str]]) -> list[str]:
    """The serious ones, each with the rule, the element and what is wrong with it."""
    found = Axe().run(visit.page, context={"exclude": left_out}).response["violations"]
    return [_sentence(one, node) for one in found if one["impact"] in GRAVE for node in one["nodes"]]


def _sentence(violation: dict[str, Any], node: dict[str, Any]) -> str:
    reasons = [check["message"] for check in (*node["any"], *node["all"], *node["none"])]
    return f"{violation['id']}: {node['html'][:160]}: {'; '.join(reasons)[:200]}"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.timeout(300)
def test_no_page_has_a_serious_violation_beyond_streamlits_own_markup(chromium, served, scheme):
    with Visit(chromium, served, scheme=scheme) as visit:
        found = {}
        for path in PAGES:
            visit.open(f"{path}?refresh=Off")
            visit.page.wait_for_timeout(1_500)
            found[path] = violations(visit, STREAMLITS_OWN)
        assert found == dict.fromkeys(PAGES, [])


@pytest.mark.timeout(120)
def test_the_check_sees_a_violation_where_there_is_one(chromium, served):
    with Visit(chromium, served) as visit:
        visit.open("/health?refresh=Off")
        visit.page.evaluate("document.querySelector('h1').innerHTML = '<img src=\"data:,\">'")
        assert [one for one in violations(visit, STREAMLITS_OWN) if one.startswith("image-alt: <img")]
