"""Windows whose samples have expired while rounds, intervals and findings are kept: nothing is denied of them."""

import shutil
from pathlib import Path

import pytest

from dashboard import expired
from dashboard.view import format_time
from store.contracts import TABLES, Family
from store.expiry import HISTORY
from tests.dashboard import fixture_store, story_replication, story_transactions
from tests.dashboard.fixture_store import CLUSTER_ID, MINUTE_MS
from tests.dashboard.test_pages import cells, visit, words

__all__ = ["visit"]

STORY_MS = 1_764_000_000_000
HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
WINDOW = {"from": format_time(STORY_MS - 15 * MINUTE_MS), "to": format_time(STORY_MS)}
GONE = "o samples of this time are kept, only those since 2025-11-25 16:00:00.000 UTC"


def expired_store(folder: Path, **settings: bool) -> Path:
    """The believable store a day later: what expires first has, and is sampled again."""
    path = fixture_store.write_settings(folder, **settings)
    fixture_store.build(folder / "data", STORY_MS)
    for name, table in TABLES.items():
        if table.family not in (Family.KEPT, Family.METRIC) and name not in HISTORY:
            shutil.rmtree(folder / "data" / "raw" / name, ignore_errors=True)
    fixture_store.append(folder / "data", "partition_offsets", [
        {"cluster_id": CLUSTER_ID, "tick": 90_000, "topic": "t", "topic_id": "t", "partition": 0,
         "requested_at": STORY_MS + DAY_MS, "observed_at": STORY_MS + DAY_MS}
    ])  # fmt: skip
    return path


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return expired_store(tmp_path_factory.mktemp("old"))


@pytest.mark.parametrize(
    ("window", "samples_ms", "looked_ms", "said"),
    [
        ((0, 99), 100, 0, "no samples of this time are kept, only those since 1970-01-01 00:00:00.100 UTC"),
        ((0, 99), 100, None, "no samples of this time are kept, only those since 1970-01-01 00:00:00.100 UTC"),
        ((50, 150), 100, 50, "no samples before 1970-01-01 00:00:00.100 UTC are kept"),
        ((50, 150), 100, 99, "no samples before 1970-01-01 00:00:00.100 UTC are kept"),
        ((50, 150), 100, 49, None),  # nobody looked in the part of the window of which none is kept
        ((50, 150), 100, None, None),
        ((100, 150), 100, 99, None),
        ((0, 79), None, None, "no samples of this time are kept"),
        ((0, 80), None, None, None),  # a store without samples, of a time of which they would be kept
    ],
)
def test_samples_are_not_kept_of_a_time_before_the_oldest_of_them_as_far_as_anybody_looked(
    window, samples_ms, looked_ms, said
):
    why = expired.not_kept(*window, samples_ms, 80, looked_ms)

    assert (None if why is None else why.reason) == said


def test_of_expired_samples_lag_denies_no_group_and_no_partition(visit, old):
    said = words(visit(old, "lag", group="order-service", partition="orders-2", **WINDOW))

    assert said.count(f"N{GONE}") == 3, "groups, the partition, share groups"
    assert "No group" not in said
    assert "no such partition" not in said
    assert "No share group" not in said


def test_of_expired_samples_the_overview_does_not_say_that_nothing_was_observed_yet(visit, old):
    app = visit(old, "overview", **WINDOW)

    said, shown = words(app), cells(app)
    assert f"? n{GONE}" in said
    assert "no group with a commit" not in said
    assert f"n{GONE}" in shown
    assert "nothing was observed yet" not in shown


def test_of_expired_samples_no_pipeline_is_proposed_and_none_denied(visit, tmp_path):
    settings = expired_store(tmp_path, with_pipelines=False)

    for page in ("overview", "health", "audit"):
        said = words(visit(settings, page, **WINDOW))
        assert f"No pipeline is declared, and none can be proposed: n{GONE}" in said
        assert "no group's commits were seen" not in said


def test_of_expired_samples_no_step_of_a_transaction_and_no_commit_is_denied(visit, old):
    said = words(visit(old, "transactions", search="nowhere", transaction=story_transactions.NORMAL, **WINDOW))

    assert f"No step of a transactional id that the search finds is known: n{GONE}" in said
    assert f"Who has a commit on its partitions is unknown: n{GONE}" in said
    assert f"N{GONE}" in words(visit(old, "transactions", **WINDOW)), "of what is listed, records may be missing"


def test_of_expired_samples_a_partition_and_the_controllers_have_none(visit, old):
    name = f"{story_replication.SHIPMENTS_ID}-2"
    said = words(visit(old, "replication", partition=name, **WINDOW))

    assert said.count(f"N{GONE}") == 2, "of the partition, and of what brokers store"
    assert "was stored in the last 15 minutes" not in said
    assert "Nobody told" not in words(visit(old, "health", **WINDOW))


def test_while_no_sample_is_kept_at_all_only_the_time_since_they_would_be_counts(visit, tmp_path):
    settings = expired_store(tmp_path)
    shutil.rmtree(tmp_path / "data" / "raw" / "partition_offsets")

    said = words(visit(settings, "lag", **WINDOW))

    assert "No samples of this time are kept." in said
    assert "only those since" not in said, "there are none"
    assert "No group" not in said
