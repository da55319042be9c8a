"""Topics to which nothing is written: no copies where they were watched all the time, and unknown where not."""

import shutil
from pathlib import Path

import pytest

from store.metrics import METRICS_FILE, MetricsWriter
from tests.dashboard import fixture_store as story
from tests.dashboard.conftest import now_ms
from tests.dashboard.test_pages import visit, words  # noqa: F401

DAY_MS = 86_400_000
TOPICS = (story.ORDERS, story.PAYMENTS, story.INVOICES)
NEVER_READ = "no range of it was read in this window"


def emptied(folder: Path, *, covered_days_ago: int | None, looked_ago_ms: int = 9_000) -> Path:
    """A store whose topics have no record in the last day, and perhaps a range before it; the jobs have just looked."""
    settings, looked = story.write_settings(folder), now_ms() - looked_ago_ms
    story.build(folder / "data", now_ms(), quiet_minutes=5)
    for path in (folder / "data").rglob("finding_events"):
        shutil.rmtree(path)
    writer = MetricsWriter(folder / "data" / METRICS_FILE)
    with writer.transaction() as rows:
        for table in ("ledger", "losses", "lost_ids", "duplicates", "job_runs"):
            rows.delete(table, "true")
        if covered_days_ago is not None:
            read_at = now_ms() - covered_days_ago * DAY_MS
            rows.replace("ledger", [story._range(topic, read_at) for topic in TOPICS])
        rows.replace("job_runs", [
            {"run_id": "look", "job": "live", "state": "done", "started_at": looked, "ended_at": looked, "ranges": 0,
             "records": 0, "backlog": 0, "unread": "[]", "observed_at": looked},
        ])  # fmt: skip
    writer.close()
    return settings


def tiles(app) -> dict[str, str]:
    return {metric.label: metric.value for metric in app.metric}


@pytest.fixture(scope="module")
def watched(tmp_path_factory) -> Path:
    return emptied(tmp_path_factory.mktemp("watched"), covered_days_ago=2)


@pytest.fixture(scope="module")
def never_watched(tmp_path_factory) -> Path:
    return emptied(tmp_path_factory.mktemp("never-watched"), covered_days_ago=None)


def test_a_quiet_topic_that_was_watched_has_no_copies_on_the_overview_and_on_its_page(visit, watched):  # noqa: F811
    overview, audit = visit(watched, "overview"), visit(watched, "audit")

    assert tiles(overview)["Duplicates, 24 h"] == "0"
    assert "✓ all ids compared" in words(overview)
    rows = overview.dataframe[0].value.set_index("Pipeline")
    assert rows.loc["invoices", "Duplicated"] == "0"
    verdicts = audit.dataframe[0].value.set_index("Topic")["Verdict"]
    assert set(verdicts[[topic.name for topic in TOPICS]]) == {"✓ OK"}
    assert NEVER_READ not in words(audit)


def test_a_quiet_topic_that_nobody_watched_before_is_unknown_on_both(visit, never_watched):  # noqa: F811
    overview, audit = visit(never_watched, "overview"), visit(never_watched, "audit")

    assert tiles(overview)["Duplicates, 24 h"] == "Unknown"
    assert "no topic's ids are sampled" in words(overview)
    assert NEVER_READ in words(audit)


def test_a_declared_comparison_that_had_no_id_to_judge_is_not_called_undeclared(visit, watched):  # noqa: F811
    said = words(visit(watched, "overview"))

    assert "no id was to be judged yet" in said
    assert "no pipeline is compared with a sink" not in said
