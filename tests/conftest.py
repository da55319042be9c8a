"""What every test may ask for."""

import sys
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from lab.cluster import Cluster

# How fast examples are drawn says something about the machine, which the tests share with a cluster and a browser.
settings.register_profile("shared machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared machine")


@pytest.fixture(scope="session")
def cluster():
    """The real three-broker cluster, started once for all tests that need it."""
    with Cluster() as started:
        yield started


@pytest.fixture(autouse=True)
def the_main_module_stays() -> Iterator[None]:
    """AppTest makes the page's script the main module, which every later process of the test run would start with."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main
