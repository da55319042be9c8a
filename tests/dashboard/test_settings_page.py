"""What is in force, as the settings page shows it."""

from dataclasses import fields, replace

import pytest

from collectors import seldom
from dashboard import diagnostics, settings_rows
from guarantees.needs import NEEDS, hidden_without, rights_in_words
from guarantees.observations import Signal
from guarantees.promises import Guarantee, Pipeline
from guarantees.thresholds import Thresholds
from settings import ClusterSettings, PipelineSettings, Secret, Security, StoreSettings
from tests.dashboard import fixture_store
from tests.dashboard.conftest import now_ms
from tests.dashboard.test_pages import visit as visit
from tests.dashboard.test_pages import words

PIPELINE = PipelineSettings(name="p", cluster="c", source="s", group="g", promise=Guarantee.EXACTLY_ONCE)


def test_every_signal_says_what_it_hides_and_which_right_it_needs():
    assert set(NEEDS) == set(Signal)
    assert rights_in_words(Signal.PRODUCERS) == "READ on the topic"
    assert hidden_without("a signal of another version") == rights_in_words("a signal of another version") == "–"


def test_every_threshold_has_a_reason_and_a_changed_one_is_marked_and_comes_first():
    rows = settings_rows.threshold_rows(replace(Thresholds(), gap_s=90.0))

    assert [row["Threshold"] for row in rows][0] == "gap_s"
    assert {row["Threshold"] for row in rows} == {one.name for one in fields(Thresholds)}
    assert [row["Changed"] for row in rows] == ["● changed"] + ["–"] * (len(rows) - 1)
    assert (rows[0]["Value"], rows[0]["Default"]) == ("90", "30")
    assert all(len(str(row["Why this default"])) > 20 for row in rows)
    assert next(row for row in rows if row["Threshold"] == "offsets_retention_s")["Value"] == "604,800"


def test_a_cluster_shows_how_it_is_reached_and_no_secret(monkeypatch):
    monkeypatch.setenv("KAFKA_PASSWORD", "hunter2")
    security = Security(
        protocol="SASL_SSL",
        sasl_mechanism="SCRAM-SHA-512",
        username="tidemark",
        password=Secret(env="KAFKA_PASSWORD"),
        key_file="/etc/key.pem",
        key_password=Secret(file="/etc/key.password"),
    )
    row = settings_rows.cluster_row(
        ClusterSettings(
            name="c",
            bootstrap_servers="one:9092,two:9092",
            security=security,
            include_topics=("orders*",),
            exclude_topics=("*-internal", "tmp*"),
        )
    )

    assert row["Connection"] == "SASL_SSL · SCRAM-SHA-512 · as tidemark"
    assert row["Topics"] == "orders*, but not *-internal, tmp*"
    assert row["Groups"] == "*"
    assert row["Headers read of"] == "none"
    assert not [value for value in row.values() if "hunter2" in str(value) or "KAFKA_PASSWORD" in str(value)]
    assert "key" not in " ".join(str(value) for value in row.values())


def test_a_declared_pipeline_shows_its_audit_and_a_proposed_one_none():
    declared = settings_rows.pipeline_row("c", PIPELINE.pipeline, PIPELINE)
    proposed = settings_rows.pipeline_row("c", Pipeline("g:s", "s", "g", None, Guarantee.AT_LEAST_ONCE, True), None)

    assert (declared["Promise"], declared["Message id"]) == ("exactly once (declared)", "key")
    assert (declared["Ids kept"], declared["Settle, s"], declared["Ids stored"]) == ("0.0156", "600", "yes")
    assert (proposed["Promise"], proposed["Message id"]) == ("at least once (inferred)", "not audited")
    assert proposed["Ids kept"] == "–"


def test_a_refused_signal_says_which_right_to_grant():
    refused = {"signal": "producers", "asked": 12, "refused": 3, "error": "not permitted: 29"}

    (row,) = settings_rows.missing_right_rows([refused, refused | {"signal": "groups", "refused": 0}])

    assert (row["Signal"], row["Not permitted"], row["Right to grant"]) == ("producers", "3 of 12", "READ on the topic")
    assert row["Hidden meanwhile"] == "who holds the stable offset, hanging transactions"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"failed": 0, "refused": 0, "error": None}, "the brokers' lists show all of it"),
        ({"failed": 0, "refused": 1, "error": "not permitted: x"}, "none seen is not none"),
        ({"failed": 3, "refused": 0, "error": "no broker answers"}, "is not known: no broker answers"),
    ],
)
def test_what_lists_leave_out_is_said(row, said):
    assert said in settings_rows.lists_line([{"signal": "groups", "failed": 1}, {"signal": "rights"} | row])


def test_lists_nobody_asked_about_may_not_be_whole():
    assert settings_rows.lists_line([]).endswith("whether they leave out anything here is not known.")


def test_the_store_says_what_it_holds_and_how_far_back():
    keep = StoreSettings(raw_retention_h=6.0, raw_max_bytes=2_000_000_000)

    line = settings_rows.store_line(keep, 12, 3_400_000, 1_764_000_000_000)

    assert line.startswith("3.4 MB in 12 files. Raw samples are kept 6 h or 2 GB, whichever is less; the oldest hour")
    assert "2025-11-24 16:00:00.000 UTC" in line
    assert "none are kept yet" in settings_rows.store_line(keep, 0, 0, None)


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        ([], "No run of the record jobs is known: duplicates and losses stay unknown."),
        (
            [{"job": "live", "state": "done", "started_at_ms": 0, "ended_at_ms": 4_000, "backlog": 12_345}],
            "Newest run: live, done, started 10 s ago, ended 6 s ago. Backlog: 12,345 offsets.",
        ),
        (
            [{"job": "live", "state": "running", "started_at_ms": 0, "ended_at_ms": None, "backlog": None}],
            "Newest run: live, running, started 10 s ago. Backlog: unknown.",
        ),
    ],
)
def test_the_jobs_say_their_newest_run_and_their_backlog(runs, said):
    assert settings_rows.job_line(runs, 10_000) == said


@pytest.mark.parametrize(
    ("environ", "where", "how"),
    [
        ({"TIDEMARK_SETTINGS": "/etc/tidemark.toml", "TIDEMARK_BOOTSTRAP": "b:9092"}, "/etc/tidemark.toml", "changes"),
        ({"TIDEMARK_BOOTSTRAP": "b:9092"}, "TIDEMARK_BOOTSTRAP=b:9092", "There is no settings file"),
    ],
)
def test_the_origin_of_the_settings_and_the_way_to_change_them_are_said(environ, where, how):
    said = settings_rows.origin(environ)

    assert said[0] == where
    assert how in said[1]


def test_what_streamlit_does_not_say_is_unknown_and_not_nobody():
    known = diagnostics.rows({("active_sessions", ""): 3, ("session_events", "connect"): 9}, 250_000_000, {"x": "1.2"})
    unknown = diagnostics.rows(None, 0, {})

    assert [row["Value"] for row in known] == ["3", "9", "unknown: Streamlit does not say", "250 MB", "1.2"]
    assert [row["Value"] for row in unknown[:3]] == ["unknown: Streamlit does not say"] * 3


def test_the_page_shows_everything_in_force_and_where_to_change_it(visit, believable):
    app = visit(believable, "settings")

    said = words(app).replace("\\", "")
    assert app.code[0].value == str(believable)
    assert "[[pipelines]]" in said
    assert "[thresholds]" in said
    tables = [table.value for table in app.dataframe]
    assert list(tables[0]["Cluster"]) == ["production"]
    assert list(tables[1]["Pipeline"]) == ["orders-to-payments", "invoices", "reports"]
    assert list(tables[2]["Not permitted"]) == ["6 of 18"]
    thresholds = app.table[0].value
    assert len(thresholds) == len(fields(Thresholds))
    assert thresholds["Why this default"][0] == "slow committers \\(every 10 s\\) with slack"
    assert "Newest run: live, done" in said
    assert "the oldest hour kept begins" in said


@pytest.mark.parametrize("late", [1, 1.5])
def test_a_right_that_is_missing_is_said_between_the_rounds_that_ask_for_it(visit, tmp_path, late):
    settings, step_ms = fixture_store.write_settings(tmp_path), round(late * fixture_store.STEP_MS)
    refused = {"refused": 3, "answered": 15, "error": "not permitted: TOPIC_AUTHORIZATION_FAILED (29)"}
    asked_seldom = {Signal.LOG_DIRS: {}, Signal.RIGHTS: {}, Signal.FEATURES: {}, Signal.CONFIGS: refused}
    fixture_store.append(tmp_path / "data", "rounds", [
        row | asked_seldom.get(row["signal"], {})
        for tick in range(seldom.SELDOM_ROUNDS)
        for row in fixture_store.round_rows(tick, now_ms() - (seldom.SELDOM_ROUNDS - tick) * step_ms)
        if seldom.is_due(tick) or row["signal"] not in asked_seldom
    ])  # fmt: skip

    app = visit(settings, "settings")

    missing = app.dataframe[2].value.set_index("Signal")
    assert missing.loc["configs", "Not permitted"] == "3 of 18"
    assert "the brokers' lists show all of it" in words(app).replace("\\", "")


def test_pipelines_that_are_only_proposed_are_listed_as_inferred(visit, tmp_path):
    settings = fixture_store.write_settings(tmp_path, with_pipelines=False)
    fixture_store.build(tmp_path / "data", now_ms(), quiet_minutes=2)

    pipelines = visit(settings, "settings").dataframe[1].value

    assert set(pipelines["Message id"]) == {"not audited"}
    assert all("inferred" in promise for promise in pipelines["Promise"])


def test_the_search_finds_a_pipeline_and_a_threshold(visit, believable):
    tables = [table.value for table in visit(believable, "settings", search="invoice").dataframe]

    assert list(tables[1]["Pipeline"]) == ["invoices"]
    thresholds = visit(believable, "settings", search="gap_s").table[0].value
    assert list(thresholds["Threshold"]) == ["gap\\_s"]
