"""What is written is UTC; on hover a reader finds it in the time zone of the own browser."""

import json
import re
from pathlib import Path

import pytest
from streamlit.runtime.context import ContextProxy

from dashboard import queries, rebalance_answers
from tests.dashboard import fixture_store
from tests.dashboard.test_incident_page import INCIDENT, opened
from tests.dashboard.test_incident_page import told as told
from tests.dashboard.test_pages import visit as visit


@pytest.fixture
def in_india(monkeypatch):
    monkeypatch.setattr(ContextProxy, "timezone", property(lambda _: "Asia/Kolkata"))


@pytest.mark.parametrize(
    ("page", "query", "said"),
    [
        ("lag", {"group": "order-service", "partition": "orders-2"}, "Owned by"),
        ("rebalances", {"rebalance": "chosen"}, "**Selected rebalance** seen"),
        ("replication", {}, "seen between two samples each"),
        ("overview", {"from": "2020-01-01T00:00:00Z", "to": "2020-01-01T01:00:00Z"}, "Frozen window"),
    ],
)
def test_a_moment_that_a_sentence_tells_is_said_in_the_readers_time_on_hover(
    visit, believable, in_india, page, query, said
):
    if "rebalance" in query:
        query = {"rebalance": newest_rebalance(believable)}

    told = [one for one in visit(believable, page, **query).markdown if said in one.value and one.help]

    assert told
    assert all(re.search(r"In your time zone, Asia/Kolkata: .* \d\d:\d\d:\d\d", one.help) for one in told)


@pytest.mark.parametrize(
    ("page", "alt", "column", "said"),
    [
        ("violations", "Findings", "Since (UTC)", ""),
        ("replication", "Elections in the window", "Seen by (UTC)", ""),
        ("replication", "Partitions at risk", "Since (UTC)", "At the latest: the first sample that showed it. "),
    ],
)
def test_the_head_of_a_column_of_times_says_where_the_readers_clock_stands(
    visit, believable, in_india, page, alt, column, said
):
    grids = [one.proto for one in visit(believable, page).dataframe if one.proto.alt.startswith(alt)]

    assert grids
    assert (
        json.loads(grids[0].columns)[column]["help"]
        == f"{said}In your time zone, Asia/Kolkata: UTC+05:30 at the end of the window"
    )


def newest_rebalance(settings: Path) -> str:
    """The identity of a rebalance of the story, as the collector stored it."""
    rows = queries.ask(settings.parent / "data", 0, 2**42, queries.REBALANCES, {"cluster_id": fixture_store.CLUSTER_ID})
    return rebalance_answers.identity(rows[0])


def test_an_incident_says_its_begin_and_its_cursor_in_the_readers_time(visit, told, in_india):
    helps = [one.help for one in opened(visit, told, incident=INCIDENT).markdown if one.help]

    assert any("from 20" in text for text in helps)
    assert any("the moment 20" in text for text in helps)


def test_without_a_zone_of_the_browser_nothing_is_said_of_it(visit, believable):
    window = {"from": "2020-01-01T00:00:00Z", "to": "2020-01-01T01:00:00Z"}
    told = [one for one in visit(believable, "overview", **window).markdown if "Frozen window" in one.value]

    assert [one.help for one in told] == [""]
