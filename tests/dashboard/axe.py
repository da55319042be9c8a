"""What axe-core finds on a page as a person meets it."""

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

# Streamlit's own markup, which no page can change: the navigation nests lists through <div>, and the sparkline of a
# metric draws marks that call themselves graphics and have no name.
STREAMLITS_OWN = [["[data-testid='stSidebarNav']"], ["[data-testid='stMetricChart']"]]
GRAVE = {"serious", "critical"}


def violations(page: Page, left_out: list[list[str]]) -> list[str]:
    """The serious ones, each with the rule, the element and what is wrong with it."""
    found = Axe().run(page, context={"exclude": left_out}).response["violations"]
    return [_sentence(one, node) for one in found if one["impact"] in GRAVE for node in one["nodes"]]


def _sentence(violation: dict[str, Any], node: dict[str, Any]) -> str:
    reasons = [check["message"] for check in (*node["any"], *node["all"], *node["none"])]
    return f"{violation['id']}: {node['html'][:160]}: {'; '.join(reasons)[:200]}"
