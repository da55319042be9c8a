"""What the pages say when the cluster, one of its answers, the record jobs or the collector fall silent."""

import re
from pathlib import Path

import pytest

from dashboard import record_evidence
from guarantees.observations import Signal
from store.log import SegmentLog
from store.metrics import METRICS_FILE, MetricsWriter
from store.segments import producer_name
from tests.dashboard import fixture_store as story
from tests.dashboard.conftest import now_ms
from tests.dashboard.test_pages import visit, words  # noqa: F401

HOUR_MS = 3_600_000
OUT_OF_REACH = "no broker answers: timed out"
TITLE = "## "


def built(folder: Path, story_ms: int, **columns: int) -> Path:
    settings = story.write_settings(folder)
    story.build(folder / "data", story_ms, **columns)
    return settings


def ask_on(folder: Path, from_ms: int, silent: set[Signal], to_ms: int | None = None) -> None:
    """Rounds up to a moment, or now, in which these signals fail and the others are answered."""
    log = SegmentLog(folder / "data", producer_name("host-1", "asks-on"))
    for at in range(from_ms, to_ms or now_ms(), story.STEP_MS):
        log.append("rounds", [
            {"cluster_id": story.CLUSTER_ID, "cluster": "production", "tick": at // story.STEP_MS,
             "signal": signal.value, "started_at": at - 50, "observed_at": at, "asked": 1,
             "answered": 0 if signal in silent else 1, "refused": 0, "failed": 1 if signal in silent else 0,
             "error": OUT_OF_REACH if signal in silent else None, "interval_ms": story.STEP_MS}
            for signal in Signal
        ])  # fmt: skip
    log.close()


def headline(app) -> str:
    return next(element.value for element in app.markdown if element.value.startswith(TITLE))


def metrics(app) -> dict[str, str]:
    return {metric.label: metric.value for metric in app.metric}


@pytest.fixture(scope="module")
def out_of_reach(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("out-of-reach")
    settings = built(folder, now_ms() - 2 * story.MINUTE_MS)
    ask_on(folder, now_ms() - 2 * story.MINUTE_MS, set(Signal))
    return settings


@pytest.mark.parametrize("page", ["overview", "lag", "replication", "transactions"])
def test_a_cluster_that_is_asked_on_and_on_and_does_not_answer_is_stale(visit, out_of_reach, page):  # noqa: F811
    said = words(visit(out_of_reach, page))

    assert re.search(r"◷[^\n]*newest evidence [2-9] min", said)
    assert "answers failed" in said
    assert not re.search(r"\*\*[^\n]*:small\[:gray\[\d+ s ago", said), "no panel with signals calls itself fresh"


@pytest.mark.parametrize(
    ("page", "panel"),
    [
        ("overview", "Needs attention"),
        ("violations", "Findings, worst first"),
        ("transactions", "Fencing and time-outs"),
    ],
)
def test_a_list_of_findings_is_as_old_as_the_last_answer(visit, out_of_reach, believable, page, panel):  # noqa: F811
    def header(settings):
        return next(line for line in words(visit(settings, page)).splitlines() if line.startswith(f"**{panel}**"))

    assert re.search(r"◷[^\n]*newest evidence [2-9] min", header(out_of_reach))
    assert re.search(r":small\[:gray\[\d+ s ago", header(believable))


def test_a_cluster_out_of_reach_keeps_its_pipelines_and_none_is_called_safe(visit, out_of_reach):  # noqa: F811
    app = visit(out_of_reach, "overview")

    assert "safe as far as" not in headline(app)
    assert metrics(app)["Lag, offsets"] != "Unknown", "what was last seen stays on the screen, hatched"
    assert "✓ OK" not in words(app)


@pytest.mark.parametrize(
    ("silent_min", "said"), [(3, "newest evidence 3 min"), (17, "newest evidence older than 15 min")]
)
def test_one_signal_that_fails_for_long_makes_its_panels_stale_and_no_others(visit, tmp_path, silent_min, said):  # noqa: F811
    settings = built(tmp_path, now_ms() - silent_min * story.MINUTE_MS - 10_000)
    ask_on(tmp_path, now_ms() - silent_min * story.MINUTE_MS, {Signal.PARTITION_STATES})

    headers = [line for line in words(visit(settings, "replication")).splitlines() if line.startswith("**")]
    assert said in next(line for line in headers if line.startswith("**Partitions at risk"))
    lag = words(visit(settings, "lag"))
    assert re.search(r"\*\*Groups, most lag first\*\*  :small\[:gray\[\d+ s ago", lag)


def test_the_headline_is_about_every_pipeline_whatever_is_searched_for(visit, believable):  # noqa: F811
    assert "Delivery is not safe" in headline(visit(believable, "overview", search="nowhere"))
    assert "No pipeline matches the search" in words(visit(believable, "overview", search="nowhere"))


@pytest.fixture(scope="module")
def jobs_stopped(tmp_path_factory) -> Path:
    """Their ranges and comparisons are of the last day, and their newest run ended twenty hours ago."""
    folder = tmp_path_factory.mktemp("jobs-stopped")
    settings = built(folder, now_ms(), quiet_minutes=5)
    writer = MetricsWriter(folder / "data" / METRICS_FILE)
    ended = now_ms() - 20 * HOUR_MS - story.MINUTE_MS
    with writer.transaction() as rows:
        rows.delete("job_runs", "true")
        rows.replace("job_runs", [{"run_id": "last", "job": "live", "started_at": ended - 1_000, "ended_at": ended,
                                   "state": "done", "ranges": 1, "records": 1, "backlog": 0,
                                   "observed_at": ended}])  # fmt: skip
    writer.close()
    return settings


def test_what_jobs_wrote_that_stopped_is_no_evidence_that_nothing_was_lost(visit, jobs_stopped):  # noqa: F811
    app = visit(jobs_stopped, "overview")

    said = words(app)
    assert "the record jobs last wrote 20 h" in said
    assert "✓ all ids compared" not in said
    rows = app.dataframe[0].value.set_index("Pipeline")
    assert "0" not in set(rows["Lost"]) | set(rows["Duplicated"])
    assert rows.loc["orders-to-payments", "Lost"].startswith("41"), "what was found stays found"
    assert rows.loc["invoices", "Duplicated"].startswith("unknown")


def test_a_topic_that_may_not_be_read_any_more_is_no_evidence_either(visit, tmp_path):  # noqa: F811
    settings = built(tmp_path, now_ms(), quiet_minutes=5)
    writer = MetricsWriter(tmp_path / "data" / METRICS_FILE)
    with writer.transaction() as rows:
        rows.delete("job_runs", "true")
        rows.replace("job_runs", [
            {"run_id": "looks", "job": "live", "started_at": now_ms() - 9_000, "ended_at": now_ms() - 8_000,
             "state": "done", "ranges": 0, "records": 0, "backlog": None, "observed_at": now_ms() - 8_000,
             "message": "orders: not permitted", "unread": '[["production", null, "not permitted: READ"]]'},
        ])  # fmt: skip
    writer.close()

    app = visit(settings, "overview")
    assert "not permitted: READ" in words(app)
    assert app.dataframe[0].value.set_index("Pipeline").loc["invoices", "Duplicated"].startswith("unknown")


def test_a_comparison_that_judged_no_id_or_is_no_longer_declared_is_none():
    rows = [{"pipeline": name, "judged": number} for name, number in (("a", 0), ("b", 3), ("gone", 3))]
    assert record_evidence.judged(rows, {"a", "b"}) == [rows[1]]


def test_a_cluster_that_was_last_heard_yesterday_is_stale_and_not_new(visit, tmp_path):  # noqa: F811
    app = visit(built(tmp_path, now_ms() - 26 * HOUR_MS), "overview")

    said = words(app)
    assert "Before the first answer" not in said
    assert re.search(r"◷[^\n]*newest evidence (26 h|1 d)", said)
    assert "safe as far as" not in headline(app)


@pytest.mark.parametrize(("page", "what"), [("overview", "a promise is open"), ("transactions", "fenced or timed out")])
def test_nothing_is_denied_of_a_time_in_which_nobody_looked(visit, tmp_path, page, what):  # noqa: F811
    said = words(visit(built(tmp_path, now_ms() - 26 * HOUR_MS), page, search="nowhere"))

    assert what not in said
    assert "Unknown: no round was stored in this window" in said
