"""The benchmark's store in its small form: it must be what the collectors and the maintainer would have left."""

import pytest
from streamlit.testing.v1 import AppTest

from benchmarks import large_store, live_store, questions
from benchmarks.large_cluster import CLUSTER_ID, LARGE, SMALL, Cluster
from dashboard import cached, lag_questions, queries
from dashboard.view import format_time
from store.findings import load_findings
from store.maintenance import roll_up
from store.merging import OF_A_MINUTE
from store.reading import segments
from store.segments import SegmentName
from store.unfit import unfit_files
from tests.dashboard.conftest import ROOT

MINUTE_MS = 60_000
ABOUT = {"cluster_id": CLUSTER_ID, "left_groups": [], "left_topics": []}


def end_ms(directory):
    """The end of what was written."""
    return int((directory / large_store.WRITTEN).read_text().split()[0])


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    directory = tmp_path_factory.mktemp("large")
    large_store.build(directory, SMALL, 1, ahead_minutes=1)
    live_store.release(directory, end_ms(directory))
    return directory


@pytest.fixture(scope="module")
def now_ms(built):
    return end_ms(built)


def ask(built, from_ms, to_ms, question, **about):
    return queries.ask(built / "data", from_ms, to_ms, question, ABOUT | about)


def test_every_group_and_topic_is_there_with_a_known_lag(built, now_ms):
    rows = ask(built, now_ms - 15_000, now_ms, queries.GROUP_LAG)

    assert len(rows) == SMALL.pairs
    assert all(row["lag"] is not None and row["unknown"] == 0 for row in rows)
    assert sum(row["partitions"] for row in rows) == SMALL.pairs * SMALL.partitions


def test_the_raw_samples_say_what_the_roll_ups_say(built, now_ms):
    """At the full minute, where both are made from the same moment of the model."""
    at_ms = now_ms - 5 * MINUTE_MS
    raw = ask(built, at_ms, at_ms + 5_000, lag_questions.LAG_TREND.raw, step_ms=MINUTE_MS)
    rolled_up = ask(built, at_ms, at_ms + 5_000, lag_questions.LAG_TREND.by_minute, step_ms=MINUTE_MS)

    assert raw == [{name: row[name] for name in ("group_id", "at_ms", "lag")} for row in rolled_up]
    assert len(raw) == SMALL.groups


def test_a_silent_broker_leaves_gaps_and_no_zero(built):
    began_ms = int((built / large_store.WRITTEN).read_text().split()[1])
    rows = ask(built, began_ms - 41 * MINUTE_MS, began_ms - 40 * MINUTE_MS, lag_questions.LAG_TREND.by_minute,
               step_ms=MINUTE_MS)  # fmt: skip

    silent = [row for row in rows if row["lag"] is None]
    assert 0 < len(silent) < len(rows)


def test_nothing_in_it_is_unfit_or_left_to_roll_up(built):
    began_ms = int((built / large_store.WRITTEN).read_text().split()[1])

    assert unfit_files(built / "data") == []
    assert roll_up(built / "data", began_ms) == 0


def test_minutes_that_are_over_are_merged_as_by_the_maintainer(built):
    began_ms = int((built / large_store.WRITTEN).read_text().split()[1])
    over = [
        SegmentName.parse(path.name)
        for path in segments(built / "data", "committed_offsets", None)
        if path.stat().st_mtime_ns < began_ms * 1_000_000
    ]

    assert over
    assert {name.level for name in over} <= {OF_A_MINUTE, 2}


def test_its_findings_are_those_of_a_large_cluster(built):
    found = [history.finding for history in load_findings(built / "data").values()]

    assert len(found) == 2_000
    assert 0 < sum(one.closed_reason is None for one in found) < 1_000


def test_what_lies_ahead_is_seen_when_its_time_has_come_and_not_before(tmp_path):
    large_store.build(tmp_path, SMALL, 1, ahead_minutes=2)
    began_ms = int((tmp_path / large_store.WRITTEN).read_text().split()[1])

    def ticks():
        return ask(tmp_path, began_ms, end_ms(tmp_path), queries.COVERAGE)[0]["tick"]

    aside = sorted(path.stat().st_mtime for path in (tmp_path / large_store.AHEAD).rglob("*.parquet"))
    seen = ticks()
    live_store.release(tmp_path, round(aside[0] * 1000) - 1)
    assert ticks() == seen

    live_store.release(tmp_path, round(aside[-1] * 1000) + 1)
    assert ticks() > seen
    assert not list((tmp_path / large_store.AHEAD).rglob("*.parquet"))


def test_every_question_of_the_pages_is_timed(built, capsys):
    questions.main([str(built)])

    timed = [line for line in capsys.readouterr().out.splitlines() if line.endswith(" ms |")]
    assert len(timed) >= len(cached.GROUPS) + 18


def test_going_on_with_it_keeps_what_was_there(built, now_ms):
    before = ask(built, now_ms - 15_000, now_ms, queries.GROUP_LAG)

    large_store.build(built, SMALL, 1, ahead_minutes=3)

    assert ask(built, now_ms - 15_000, now_ms, queries.GROUP_LAG) == before


def test_the_size_of_a_large_cluster_is_the_one_that_was_measured():
    assert (LARGE.topics * LARGE.partitions, LARGE.groups, LARGE.pairs * LARGE.partitions) == (20_000, 1_000, 111_750)
    cluster = Cluster(LARGE, 0)
    assert len(set(cluster.topics)) == LARGE.topics
    assert len(set(cluster.groups)) == LARGE.groups
    assert len(set(cluster.pairs)) == LARGE.pairs


@pytest.mark.parametrize(("page", "rows"), [("overview", "223 pipelines"), ("lag", "223 groups and topics")])
def test_a_long_table_is_cut_and_says_how_to_find_the_rest(built, now_ms, monkeypatch, page, rows):
    monkeypatch.setenv("TIDEMARK_SETTINGS", str(built / "tidemark.toml"))
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.query_params["from"], app.query_params["to"] = format_time(now_ms - 900_000), format_time(now_ms)
    app.switch_page(f"dashboard/pages/{page}.py").run()

    assert not app.exception
    assert max(len(table.value) for table in app.dataframe) == 100
    assert any(caption.value.startswith(f"100 of {rows} are shown, ") for caption in app.caption)
