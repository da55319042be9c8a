"""The check for barriers, which every page goes through in test_journey, sees one where there is one."""

import pytest

from tests.dashboard import axe
from tests.dashboard.test_journey import Visit, chromium

__all__ = ["chromium"]

pytestmark = pytest.mark.browser


@pytest.mark.timeout(120)
def test_the_check_sees_a_violation_where_there_is_one(chromium, served):
    with Visit(chromium, served) as visit:
        visit.open("/health?refresh=Off")
        visit.page.evaluate("document.querySelector('h1').innerHTML = '<img src=\"data:,\">'")
        assert [one for one in axe.violations(visit.page, axe.STREAMLITS_OWN) if one.startswith("image-alt: <img")]
