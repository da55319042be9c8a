"""The page of duplicates and losses over its stores: full, unread, unreadable, searched, selected, linked."""

# ruff: noqa: F811 (fixtures of another module)
import json
import re
from pathlib import Path

import pytest

from dashboard import view
from store.metrics import METRICS_FILE, MetricsWriter
from tests.dashboard import fixture_store, story_audit
from tests.dashboard.conftest import now_ms
from tests.dashboard.fixture_store import BASE_OFFSET, HOSTILE
from tests.dashboard.test_pages import cells, stale, visit, words  # noqa: F401 (fixtures)

LINK = {"range": "1h"}


def table(app, column):
    """The first table that has the column, by its values in the first column of names."""
    return next(frame.value for frame in app.dataframe if column in frame.value)


@pytest.fixture(scope="module")
def unread(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cluster that is observed and a store the record jobs never wrote to."""
    folder = tmp_path_factory.mktemp("unread")
    settings = fixture_store.write_settings(folder)
    fixture_store.build(folder / "data", now_ms(), quiet_minutes=10)
    (folder / "data" / METRICS_FILE).unlink()
    return settings


@pytest.fixture(scope="module")
def later(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The story ended three minutes ago, and the jobs have gone on reading since."""
    folder = tmp_path_factory.mktemp("later")
    settings = fixture_store.write_settings(folder)
    fixture_store.build(folder / "data", now_ms() - 3 * 60_000, quiet_minutes=10)
    return settings


def test_each_topic_has_its_figure_its_base_and_its_gaps(visit, believable):
    topics = table(visit(believable, "audit", **LINK), "Extra copies").set_index("Topic")

    assert topics.loc["orders", "Extra copies"] == "128"
    assert topics.loc["payments", "Extra copies"].startswith("none among")
    assert topics.loc["invoices", "Extra copies"] == "at most 237"
    assert topics.loc["invoices", "Ids compared"] == "1 in 64"
    assert (topics.loc["orders", "Without id"], topics.loc["orders", "Aborted"]) == (25, 12)
    assert (topics.loc["payments", "Purged"], topics.loc["payments", "Gaps"]) == (400, 200)
    assert topics.loc["payments", "Verdict"] == "? Unknown"
    assert re.fullmatch(r"9[0-9](\.[0-9])? %", topics.loc["payments", "Offsets covered"])


def test_the_figures_of_the_last_day_are_those_of_the_overview(visit, believable):
    tiles = {metric.label: metric.value for metric in visit(believable, "overview").metric}
    app = visit(believable, "audit", range="24h")

    assert table(app, "Extra copies").set_index("Topic").loc["orders", "Findings, 24 h"] == tiles["Duplicates, 24 h"]
    assert table(app, "Extra copies").set_index("Topic").loc["orders", "Extra copies"] == tiles["Duplicates, 24 h"]
    lost = table(app, "Source → sink").set_index("Pipeline")
    assert lost.loc["orders-to-payments", "Findings, 24 h"] == f"{tiles['Lost, 24 h']} (38 to 44)"


def test_a_pipeline_without_a_sink_is_said_to_be_not_observable(visit, believable):
    app = visit(believable, "audit", pipeline="invoices", **LINK)

    pipelines = table(app, "Source → sink").set_index("Pipeline")
    assert pipelines.loc["invoices", "Lost"] == "not observed"
    assert pipelines.loc["invoices", "Grade"] == "NOT-OBSERVABLE"
    assert "no sink is declared" in words(app)
    assert "name the topic it writes to \\(sink\\) in tidemark\\.toml" in words(app)


def test_the_comparison_shows_how_far_it_went_and_what_it_cannot_see(visit, believable):
    app = visit(believable, "audit", pipeline="orders-to-payments", **LINK)

    judged = table(app, "Judged from")
    assert judged.iloc[0]["Partition"] == "orders-2"
    assert judged.iloc[0]["Judged to"] == str(BASE_OFFSET + 6000)
    said = words(app)
    assert f"0 → {BASE_OFFSET + story_audit.READ}" in said
    assert "12 ids wait" in said
    assert "PROBABLE at most" in said
    assert "400 offsets of the sink purged before they were read" in said


def test_the_cause_is_named_with_both_producers(visit, believable):
    causes = table(visit(believable, "audit", **LINK), "What it means")

    assert list(causes["Cause"]) == ["Another producer id"]
    assert list(causes["First producer → later"]) == ["7001 → 7014 (epoch 0)"]
    assert "a restart without a transactional id" in causes["What it means"][0]


def test_both_copies_of_an_id_are_shown_in_full_digits(visit, believable):
    copies = table(visit(believable, "audit", **LINK), "First copy").set_index("Message id")

    assert copies.loc["order-000456", "First copy"] == f"orders-4:{BASE_OFFSET + 900}"
    assert copies.loc["order-000456", "Later copy"] == f"orders-4:{BASE_OFFSET + 1312}"
    assert copies.loc["order-000456", "Time apart"] == "20 s"
    assert "only a hash is stored" in copies.index


def test_lost_ids_are_told_from_late_ones(visit, believable):
    app = visit(believable, "audit", **LINK)
    missing = table(app, "Found in the sink at")

    assert list(missing["State"].value_counts()) == [story_audit.LOST, story_audit.LATE]
    assert set(missing[missing["State"] == "✕ Lost"]["Found in the sink at"]) == {"nowhere"}
    assert missing[missing["State"] == "◷ Late"]["Found in the sink at"].str.startswith("payments-1:").all()
    assert "44 in the store, 44 shown" in words(app)


def test_the_search_finds_a_message_id(visit, believable):
    app = visit(believable, "audit", search="order-000456", **LINK)

    assert list(table(app, "Extra copies")["Topic"]) == ["orders"]
    assert list(table(app, "First copy")["Message id"]) == ["order-000456"]


def test_the_search_finds_a_lost_id_and_its_pipeline(visit, believable):
    app = visit(believable, "audit", search="ORDER-000163", **LINK)

    assert list(table(app, "Source → sink")["Pipeline"]) == ["orders-to-payments"]
    assert list(table(app, "Found in the sink at")["Message id"]) == ["order-000163"]
    assert not [frame for frame in app.dataframe if "Extra copies, records" in frame.value]


def test_the_search_for_a_name_keeps_all_its_examples(visit, believable):
    assert len(table(visit(believable, "audit", search="orders", **LINK), "First copy")) == 5


def test_a_search_that_finds_nothing_says_so(visit, believable):
    app = visit(believable, "audit", search="no-such-thing", **LINK)

    assert words(app).count("The search finds nothing here") == 2
    assert not app.dataframe


def test_the_link_chooses_the_topic_of_every_panel(visit, believable):
    app = visit(believable, "audit", topic="payments", **LINK)

    said = words(app)
    assert "No extra copy was found in this window" in said
    assert "Topic **payments**" in said
    assert "400 purged before it was read, 200 in no range" in said
    assert not [frame for frame in app.dataframe if "First copy" in frame.value]


def test_a_link_to_an_unknown_topic_or_pipeline_says_so(visit, believable):
    said = words(visit(believable, "audit", topic="gone", pipeline="gone", **LINK))

    assert "The topic of this link is neither read nor named by a pipeline" in said
    assert "The pipeline of this link is not known" in said


def test_a_hostile_topic_is_chosen_and_stays_text(visit, believable):
    app = visit(believable, "audit", topic=HOSTILE, **LINK)

    assert "could not be drawn" not in words(app)
    assert "\\<img src\\=x" in words(app)
    assert "\u202e" not in cells(app) + words(app)
    assert not [m.value for m in app.markdown if m.allow_html]
    assert "<img" not in app.get("plotly_chart")[-1].proto.spec


def test_without_the_record_jobs_nothing_is_zero_and_the_page_says_what_to_do(visit, unread):
    app = visit(unread, "audit", **LINK)

    topics = table(app, "Extra copies").set_index("Topic")
    assert set(topics["Extra copies"]) == {"not observed"}
    assert "✓ OK" not in set(topics["Verdict"])
    said = words(app)
    assert "no range of it was read in this window" in said
    assert "nothing was compared yet" in said
    assert "none among" not in said + cells(app)


REFUSED = "payments-0: Fetch: not permitted: TOPIC_AUTHORIZATION_FAILED"


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """READ on payments was revoked six minutes ago; the jobs live on and read the rest."""
    folder, at = tmp_path_factory.mktemp("refused"), now_ms()
    settings = fixture_store.write_settings(folder)
    fixture_store.build(folder / "data", at, quiet_minutes=10)
    with MetricsWriter(folder / "data" / METRICS_FILE) as writer, writer.transaction() as metrics:
        runs = metrics.query("SELECT * FROM job_runs WHERE epoch_ms(started_at) > ?", [at - 6 * 60_000]).to_pylist()
        hindered = {"unread": json.dumps([["production", "payments", REFUSED]]), "message": REFUSED, "backlog": None}
        metrics.replace("job_runs", [run | hindered for run in runs])
    return settings


def test_a_topic_that_may_not_be_read_is_never_green_and_says_so(visit, refused):
    app = visit(refused, "audit", topic="payments", pipeline="orders-to-payments", **LINK)

    said = words(app)
    assert said.count("⊘ Not permitted: 1 of 3 topics to read") == 6
    assert "It is not read to its end\\: payments\\-0\\: Fetch\\: not permitted" in said
    assert "Source or sink is not read to its end" in said
    topics = table(app, "Extra copies").set_index("Topic")
    assert topics.loc["payments", "Verdict"] != "✓ OK"
    assert "newest evidence" not in said, "the other topics are read as ever"


def test_a_window_without_copies_says_that_the_last_day_has_some(visit, later):
    app = visit(later, "audit", topic="orders", **_window(2, 0))

    assert "No extra copy was found in this window\\: none among" in words(app)
    assert "Findings of the last 24 h count 128\\: widen the window" in words(app)
    assert table(app, "Extra copies").set_index("Topic").loc["orders", "Findings, 24 h"] == "128"
    assert not [frame for frame in app.dataframe if "First copy" in frame.value]


def test_a_comparison_that_is_newer_than_the_window_says_so(visit, later):
    said = words(visit(later, "audit", pipeline="orders-to-payments", **_window(9, 4)))

    assert "This is the comparison as of" in said
    assert "after the window" in said


def test_old_answers_of_the_jobs_are_stale_and_never_green(visit, stale):
    app = visit(stale, "audit", **LINK)

    assert "newest evidence 5 min" in words(app)
    assert "✓ OK" not in cells(app)
    assert "◷ Stale" in cells(app)


def test_metrics_that_cannot_be_opened_cost_their_panels_and_not_the_page(visit, tmp_path):
    settings = fixture_store.write_settings(tmp_path)
    fixture_store.build(tmp_path / "data", now_ms(), quiet_minutes=2)
    (tmp_path / "data" / METRICS_FILE).write_bytes(b"not a database")

    app = visit(settings, "audit", **LINK)

    assert app.title[0].value == "Duplicates & loss"
    assert words(app).count("could not be drawn; those that rest on other answers are not affected") == 8
    assert "StoreError" in words(app)


def test_an_unreadable_example_costs_its_panel_and_not_the_others(visit, tmp_path):
    settings = fixture_store.write_settings(tmp_path)
    fixture_store.build(tmp_path / "data", now_ms(), quiet_minutes=2)
    with MetricsWriter(tmp_path / "data" / METRICS_FILE) as writer, writer.transaction() as metrics:
        (row,) = metrics.query("SELECT * FROM duplicates").to_pylist()
        metrics.replace("duplicates", [row | {"examples": "{not JSON"}])

    app = visit(settings, "audit", **LINK)

    assert words(app).count("could not be drawn; those that rest on other answers are not affected") == 1
    assert table(app, "Extra copies").set_index("Topic").loc["orders", "Extra copies"] == "128"
    assert list(table(app, "What it means")["Cause"]) == ["Another producer id"]


def test_of_many_topics_the_worst_are_shown_and_the_rest_is_counted(visit, tmp_path):
    settings = fixture_store.write_settings(tmp_path)
    at = now_ms()
    fixture_store.build(tmp_path / "data", at, quiet_minutes=2)
    with MetricsWriter(tmp_path / "data" / METRICS_FILE) as writer, writer.transaction() as metrics:
        metrics.replace("ledger", [
            {"cluster_id": fixture_store.CLUSTER_ID, "topic": f"t{number}", "topic_id": f"t{number}", "partition": 0,
             "first_offset": 0, "next_offset": 9, "last_stable_offset": 9, "records": 9, "records_without_id": 0,
             "aborted_records": 0, "sampled": 9, "sampling_rate": 1.0, "state": "complete", "observed_at": at - 6_000}
            for number in range(500)
        ])  # fmt: skip

    app = visit(settings, "audit", **LINK)

    assert len(table(app, "Extra copies")) == 200
    assert table(app, "Extra copies").iloc[0]["Topic"] == "orders"
    assert "304 topics left out" in words(app)
    assert "The search finds them" in words(app)


def test_of_a_long_window_the_last_day_is_shown_and_called_so(visit, believable):
    assert "those of the last 24 h of this window" in words(visit(believable, "audit", range="7d"))
    assert "those of the last 24 h of this window" not in words(visit(believable, "audit", range="24h"))


def test_examples_can_be_downloaded(visit, believable):
    app = visit(believable, "audit", **LINK)

    assert [button.label for button in app.get("download_button")] == [
        "Download copies (CSV)",
        "Download missing ids (CSV)",
    ]


def _window(from_minutes: float, to_minutes: float) -> dict[str, str]:
    """A frozen window, by how long ago it began and ended."""
    ends = {"from": from_minutes, "to": to_minutes}
    return {name: view.format_time(now_ms() - round(minutes * 60_000)) for name, minutes in ends.items()}
