"""Every page over every kind of store: full, empty, stale, without a right, partly broken, with hostile names."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.view import format_time
from guarantees.lifecycle import Change, FindingEvent
from store.contracts import TABLES
from store.findings import append_events
from store.log import SegmentLog
from store.segments import folder, producer_name
from tests.dashboard import fixture_store, story_replication
from tests.dashboard.conftest import ROOT, now_ms

PAGES = [
    "overview",
    "lag",
    "rebalances",
    "violations",
    "replication",
    "transactions",
    "audit",
    "incident",
    "reports",
    "health",
    "settings",
    "changes",
    "sql",
]
TITLES = {"audit": "duplicates & loss", "changes": "what changed"}
UNWATCHED = "Unknown: no round was stored in this window"
NOTHING_YET = "The collector has stored no answer of this cluster yet."
ALWAYS_KNOWN = ["settings", "sql"]  # what is in force, and what tables there are, is known without a store
# A Markdown special character of the hostile name without its backslash.
UNESCAPED = re.compile(r"(?<!\\)<img|(?<!\\)\[link|(?<!\\):red\[x")


@pytest.fixture
def visit(monkeypatch: pytest.MonkeyPatch):
    """Open a page of the app over the store of a settings file."""

    def open_page(settings: Path, page: str, **query: str) -> AppTest:
        monkeypatch.setenv("TIDEMARK_SETTINGS", str(settings))
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        for name, value in query.items():
            app.query_params[name] = value
        app.switch_page(f"dashboard/pages/{page}.py").run()
        assert not app.exception
        return app

    return open_page


@pytest.fixture(scope="module")
def stale(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # Half a minute past five, so that neither a quick nor a busy machine leaves the minute the tests read.
    return _store(tmp_path_factory.mktemp("stale"), story_ms=now_ms() - 5 * 60_000 - 30_000)


@pytest.fixture(scope="module")
def undeclared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _store(tmp_path_factory.mktemp("undeclared"), story_ms=now_ms(), quiet_minutes=10, with_pipelines=False)


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    return fixture_store.write_settings(tmp_path)


def words(app: AppTest) -> str:
    """Everything a person reads on the page outside the tables."""
    return "\n".join(str(element.value) for element in (*app.markdown, *app.caption, *app.code, *app.title))


def cells(app: AppTest) -> str:
    return "\n".join(table.value.to_string() for table in app.dataframe)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_with_data_draws_every_panel(visit, believable, page):
    app = visit(believable, page)

    assert app.title[0].value.lower() == TITLES.get(page, page)
    assert "could not be drawn" not in words(app)
    assert app.dataframe


CHARTS = ("plotly_chart", "echarts_chart", "arrow_vega_lite_chart", "vega_lite_chart", "imgs")
CHOSEN = {
    "lag": {"group": "order-service", "partition": "orders-2"},
    "incident": {"finding": fixture_store.lost(10**12).finding_id},
    "audit": {"topic": "orders"},
    "transactions": {"transaction": "9001-7"},
}
DRAWN = {"overview", "lag", "rebalances", "violations", "replication", "transactions", "audit", "incident"}


@pytest.mark.parametrize("page", PAGES)
def test_every_chart_and_table_says_in_words_what_it_shows(visit, believable, page):
    app = visit(believable, page, **CHOSEN.get(page, {}))

    charts = [chart for kind in CHARTS for chart in app.get(kind)]
    assert bool(charts) == (page in DRAWN)
    assert [shown for shown in (*charts, *app.dataframe, *app.table) if len(shown.proto.alt) < 10] == []


@pytest.mark.parametrize("page", PAGES)
def test_a_page_without_data_says_why_and_what_to_do(visit, empty, page):
    app = visit(empty, page)

    said = words(app)
    assert "could not be drawn" not in said
    assert page in ALWAYS_KNOWN or not app.dataframe
    assert not app.metric
    assert ":green-badge[✓ OK]" not in said
    assert {"overview": "Brokers reachable", "sql": "No query was run yet"}.get(page, NOTHING_YET) in said
    for blamed in ("Declare", "Clear", "Select", "No pipeline", "0 of 0", "did not all tell", "No round"):
        assert page in ("settings", "sql") or blamed not in said


def test_a_window_before_the_first_answer_says_so_on_every_panel(visit, believable):
    early = {"from": "2020-01-01T00:00:00Z", "to": "2020-01-01T01:00:00Z"}

    said = words(visit(believable, "lag", **early))

    assert said.count("No answer of this cluster is stored of any time before the end of this window.") == 4


def test_a_report_on_a_pipeline_is_not_offered_before_one_was_observed(visit, tmp_path):
    nothing = fixture_store.write_settings(tmp_path, with_pipelines=False)

    app = visit(nothing, "reports", report="delivery")

    assert NOTHING_YET in words(app)
    assert not app.selectbox


@pytest.mark.parametrize("page", [page for page in PAGES if page != "sql"])  # where a query says of when it asks
def test_old_numbers_are_called_stale(visit, stale, page):
    app = visit(stale, page)

    assert "◷" in words(app)
    assert re.search(r"newest evidence [5-9] min", words(app))


def test_a_stale_pipeline_is_never_green(visit, stale):
    app = visit(stale, "overview")

    assert "✓ OK" not in cells(app)
    assert "◷ Stale" in cells(app) or "✕ Violated" in cells(app)


@pytest.mark.parametrize("page", ["overview", "lag"])
def test_a_missing_right_is_said_and_its_numbers_are_no_zeros(visit, believable, page):
    app = visit(believable, page)

    assert "Not permitted: 6 of" in words(app)
    assert "GROUP\\_AUTHORIZATION\\_FAILED" in words(app)


def test_a_group_that_may_not_be_read_has_no_lag_and_a_reason(visit, believable):
    app = visit(believable, "lag", group="reporting")

    partitions = app.dataframe[1].value
    assert partitions["Lag"].isna().all()
    assert set(partitions["Committed"]) == {"–"}
    assert partitions["Unknown because"].str.contains("GROUP_AUTHORIZATION_FAILED").all()
    assert "The total is withheld where a partition is unknown" in words(app)


def test_health_says_which_right_is_missing_and_what_that_hides(visit, believable):
    app = visit(believable, "health")

    coverage = app.dataframe[0].value.set_index("Signal")
    assert coverage.loc["committed offsets", "Verdict"] == "? Unknown"
    assert coverage.loc["committed offsets", "Hidden meanwhile"] == "lag, rewinds, skips"
    assert coverage.loc["end offsets", "Verdict"] == "✓ OK"


def test_health_says_how_many_rounds_the_window_holds(visit, believable):
    assert re.search(r"In the window: \d+ of \d+ expected rounds since .* UTC, longest gap between rounds 5 s", words(
        visit(believable, "health")
    ))  # fmt: skip


def test_health_shows_each_promise_and_what_the_selected_one_needs(visit, believable):
    app = visit(believable, "health", pipeline="orders-to-payments")

    promises = app.dataframe[1].value.set_index("Pipeline")
    assert promises.loc["orders-to-payments", "Promise"] == "at least once (declared)"
    assert re.fullmatch(r"\d+ of \d+", promises.loc["invoices", "Rounds seen"])
    needs = app.dataframe[2].value.set_index("Requirement")
    assert needs.loc["copies of an acknowledged record of orders", "State"] == "✓ Met"
    assert needs.loc["acks of the producers of orders", "State"] == "? Unknown"
    assert needs.loc["acks of the producers of orders", "Seen"].startswith("not observable")


def test_health_says_why_a_promise_is_inferred(visit, undeclared):
    said = words(visit(undeclared, "health", pipeline="order-service:orders"))

    assert "promises at least once (inferred)" in said
    assert "order\\-service has commits on 6 of 6 partitions of orders" in said
    assert "The producers' acks are in no answer".replace("'", "\\'") in said


@pytest.mark.parametrize(
    ("page", "broken", "alive"),
    [
        ("overview", "partition_state", "Delivery is not safe"),
        ("lag", "rebalances", "Groups, most lag first"),
        ("rebalances", "group_members", "2 rebalances of 1 group"),
        ("violations", "finding_events", "Findings, worst first"),
        ("replication", "replica_offsets", "at min ISR · 5 under-replicated in all"),
        ("transactions", "open_producers", "Fencing and time-outs"),
        ("health", "part_events", "Last round, by signal"),
        ("settings", "rounds", "Thresholds"),
    ],
)
def test_a_broken_table_costs_its_panel_and_not_the_page(visit, tmp_path, page, broken, alive):
    settings = _store(tmp_path, story_ms=now_ms(), quiet_minutes=2)
    break_table(tmp_path / "data", broken)

    app = visit(settings, page)

    said = words(app)
    assert "could not be drawn; those that rest on other answers are not affected" in said
    named = [name for one in app.code for name in re.findall(r'"([^"]+/broken[^"]+)"', one.value)]
    assert all(name.startswith(("raw/", "log/")) for name in named), "where the store lies is nobody's business"
    assert named or page not in ("violations", "transactions")
    assert alive in said
    titles = re.findall(r"^\*\*[^*]+\*\*", said, re.MULTILINE)
    assert len(titles) == len(set(titles)), "a panel says its title twice"


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("kind", ["believable", "undeclared"])
def test_hostile_names_are_text(visit, page, kind, request):
    app = visit(request.getfixturevalue(kind), page, group=fixture_store.HOSTILE)

    assert "could not be drawn" not in words(app)
    assert not [m.value for m in app.markdown if UNESCAPED.search(m.value)]
    assert not [m.value for m in app.markdown if "\u202e" in m.value]
    assert not [m.value for m in app.markdown if m.allow_html]
    assert "\u202e" not in cells(app)


def test_without_declared_pipelines_they_are_proposed_and_marked_inferred(visit, undeclared):
    app = visit(undeclared, "overview")

    assert "at least once (inferred)" in cells(app)
    assert "[[pipelines]]" in words(app)


def test_the_overview_gives_losses_and_duplicates_as_intervals(visit, believable):
    app = visit(believable, "overview")

    tiles = {metric.label: metric.value for metric in app.metric}
    assert tiles["Lost, 24 h"] == "41"
    assert tiles["Duplicates, 24 h"] == "128"
    assert "38 to 44 · 1 finding" in words(app)


def test_without_sampled_ids_losses_and_duplicates_are_unknown_and_not_zero(visit, tmp_path):
    settings = _store(tmp_path, story_ms=now_ms(), quiet_minutes=2)
    (tmp_path / "data" / "metrics.duckdb").unlink()

    tiles = {metric.label: metric.value for metric in visit(settings, "overview").metric}
    assert tiles["Lost, 24 h"] == "41", "what was found before stays found"

    for path in (tmp_path / "data").rglob("finding_events"):
        shutil.rmtree(path)
    tiles = {metric.label: metric.value for metric in visit(settings, "overview", range="1h").metric}
    assert tiles["Lost, 24 h"] == "Unknown"
    assert tiles["Duplicates, 24 h"] == "Unknown"


def test_a_link_to_a_finding_shows_its_evidence_in_full_digits(visit, believable):
    finding = fixture_store.duplicates(10**12)

    app = visit(believable, "violations", finding=finding.finding_id)

    assert "128 records of orders\\-4 stored twice by another producer" in words(app)
    facts = " ".join(table.value.to_string() for table in app.table)
    assert str(fixture_store.BASE_OFFSET + 1312) in facts
    copies = app.dataframe[1].value
    assert list(copies["Copy"]) == ["First", "Last"]
    assert list(copies["Producer id"]) == ["7001", "7014"]
    assert list(copies["Offset"]) == [str(fixture_store.BASE_OFFSET + offset) for offset in (900, 1312)]
    assert str(fixture_store.BASE_OFFSET + 900) in app.code[-1].value


def test_evidence_names_the_cause_and_the_promise_that_allows_it(visit, believable):
    said = words(visit(believable, "violations", finding=fixture_store.duplicates(10**12).finding_id))

    assert "**Cause**" in said
    assert "stored by another producer id" in said
    assert "does not break the promise of **orders\\-to\\-payments**: at least once (declared)" in said
    assert "What a promise allows is shown, not alarmed." in said


def test_a_cause_that_no_evidence_names_is_said_to_be_not_observed(visit, believable):
    said = words(visit(believable, "violations", finding=fixture_store.redelivery(10**12).finding_id))

    assert "**Cause** :gray[cause not observed]" in said


def test_a_finding_and_what_followed_it_lead_to_each_other(visit, tmp_path):
    """A member left; the sink got duplicates a minute later."""
    settings = _store(tmp_path, story_ms=now_ms(), quiet_minutes=2)
    before = replace(fixture_store.redelivery(now_ms()), anchor="before")
    log = SegmentLog(tmp_path / "data", producer_name("host-1", "jobs"))
    after = replace(
        fixture_store.duplicates(now_ms()),
        place=replace(before.place, topic="payments", topic_id="sink", group_id=None),
        happened_at_ms=before.happened_at_ms + 60_000,
    )
    append_events(log, [FindingEvent(Change.OPENED, now_ms() - 5_000, finding) for finding in (before, after)])
    log.close()

    cause, effect = (visit(settings, "violations", finding=one.finding_id) for one in (before, after))

    assert "**Followed by** 1 finding" in words(cause)
    assert "The group was delivered records again from" in words(effect)
    assert "it wrote what it was delivered again to the sink" in words(effect)


def test_a_link_to_an_unknown_finding_says_so(visit, believable):
    assert "not known at the end of this window" in words(visit(believable, "violations", finding="0" * 16))


def test_a_closed_finding_says_why_it_closed(visit, believable):
    app = visit(believable, "violations", finding=fixture_store.rewind(10**12).finding_id)

    assert "Closed] the commit passed the old offset again" in words(app)


def test_a_frozen_window_shows_what_was_known_then(visit, believable):
    app = visit(believable, "violations", **{"from": "2020-01-01T00:00:00Z", "to": "2020-01-01T01:00:00Z"})

    assert "Frozen window" in words(app)
    assert "2020-01-01 00:00:00 to 01:00:00 UTC" in words(app)
    assert "No answer of this cluster is stored of any time before the end of this window." in words(app)
    assert "No finding was open" not in words(app)


@pytest.mark.parametrize(
    "page", ["overview", "rebalances", "violations", "replication", "incident", "reports", "changes"]
)
def test_no_page_says_that_nothing_happened_while_nobody_looked(visit, stale, page):
    from_ms, to_ms = now_ms() - 3 * 60_000, now_ms()
    said = words(visit(stale, page, search="nowhere", **{"from": format_time(from_ms), "to": format_time(to_ms)}))

    assert UNWATCHED in said
    assert not re.search(r"(was open|members or owners|another leader|or was|was seen) in this window", said)
    assert page != "violations" or "Nothing to draw" in said


def test_where_only_the_search_or_a_filter_finds_none_nothing_is_denied_of_everything(visit, believable):
    for page, denied in (
        ("overview", "No finding that the search finds was open in this window"),
        ("rebalances", "No group that the search finds changed its members or owners in this window"),
        ("incident", "No incident that the search finds was open in this window"),
        ("changes", "No change that the search finds was seen in this window"),
    ):
        assert denied in words(visit(believable, page, search="nowhere"))
    filtered = words(visit(believable, "violations", kind="unclean_election", state="closed"))
    assert "No finding of those the filters leave was open in this window" in filtered
    assert "clear the search" in words(visit(believable, "rebalances", search="nowhere"))


def test_the_search_narrows_every_table(visit, believable):
    app = visit(believable, "lag", search="invoice")

    assert list(app.dataframe[0].value["Group"]) == ["invoice-writer"]


def test_an_hour_is_drawn_from_the_roll_ups_and_the_newest_minutes(visit, believable):
    app = visit(believable, "lag", range="1h", group="order-service")

    assert "could not be drawn" not in words(app)
    assert app.get("plotly_chart")


def opened(app: AppTest, chart: str) -> dict[str, list[dict[str, object]]]:
    """The tables of a chart by what they are called, once its reader opens them."""
    closed = {one.proto.alt for one in app.dataframe}
    app.session_state[f"{chart}-as-tables"] = True
    app.run()
    return {
        one.proto.alt: one.value.astype(object).where(one.value.notna(), None).to_dict("records")
        for one in app.dataframe
        if one.proto.alt not in closed
    }


def test_lag_over_time_stands_in_tables_too_and_only_for_who_opens_them(visit, believable):
    tables = opened(visit(believable, "lag", group="order-service"), "lag")

    assert list(tables) == ["Lag over time, the newest first", "Events, the newest first"]
    over_time, events = tables.values()
    assert over_time[0].keys() == {"From (UTC)", "Total", *(f"orders-{number}" for number in range(6))}
    known = [row for row in over_time if row["Total"] is not None]
    assert max(row["orders-2"] for row in known) > 1_000, "it piled up while nobody owned it"
    assert over_time[0]["From (UTC)"] > over_time[-1]["From (UTC)"]
    assert {row["Lane"] for row in events} == {"rebalances", "leader changes", "findings"}


def test_a_lag_that_is_not_known_is_a_gap_in_the_table(visit, believable):
    over_time = opened(visit(believable, "lag", group="reporting"), "lag")["Lag over time, the newest first"]

    assert {row["Total"] for row in over_time} == {None}


def test_members_over_time_stand_in_a_table_too(visit, believable):
    (rows,) = opened(visit(believable, "rebalances", rebalance="order-service@1"), "members").values()

    assert {row["Lane"] for row in rows} >= {"rebalancing", "order-service ·0-11aa"}
    assert "orders 2–5" in {row["What"] for row in rows}
    assert [row["From (UTC)"] for row in rows] == sorted((row["From (UTC)"] for row in rows), reverse=True)


def test_replication_over_time_stands_in_tables_too(visit, believable):
    offsets, lanes = opened(visit(believable, "replication"), "replication").values()

    assert offsets[0].keys() >= {"Time (UTC)", "Not replicated", "Held by a transaction"}
    assert any(row["Not replicated"] is not None for row in offsets)
    assert {row["Lane"] for row in lanes} >= {"leader", "in sync"}


def test_without_settings_the_page_says_which_variable_to_set(monkeypatch):
    for name in ("TIDEMARK_SETTINGS", "TIDEMARK_BOOTSTRAP"):
        monkeypatch.delenv(name, raising=False)

    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()

    assert "TIDEMARK_SETTINGS" in app.code[0].value
    assert not app.exception


def break_table(data_dir: Path, table: str) -> None:
    """A whole Parquet file whose times are text, as another program may leave one."""
    where = data_dir / folder(TABLES[table], now_ms())
    where.mkdir(parents=True, exist_ok=True)
    columns = {"cluster_id": [fixture_store.CLUSTER_ID], "group_id": ["order-service"], "part": ["collect"],
               "topic_id": [story_replication.SHIPMENTS_ID], "partition": [3]}  # fmt: skip
    times = {TABLES[table].time_column: ["yesterday"], "started_at": ["yesterday"]}
    pq.write_table(pa.table(columns | times), where / "broken.0.1-1.parquet")


def _store(folder: Path, *, story_ms: int, quiet_minutes: int = 0, with_pipelines: bool = True) -> Path:
    settings = fixture_store.write_settings(folder, with_pipelines=with_pipelines)
    fixture_store.build(folder / "data", story_ms, quiet_minutes=quiet_minutes)
    return settings
