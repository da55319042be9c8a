"""What every test may ask for."""

import pytest

from lab.cluster import Cluster


@pytest.fixture(scope="session")
def cluster():
    """The real three-broker cluster, started once for all tests that need it."""
    with Cluster() as started:
        yield started
