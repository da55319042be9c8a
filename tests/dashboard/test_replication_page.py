"""The Replication page over a store whose story ended at a known moment, looked at through frozen windows."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dashboard.replication_questions import MOST_ROWS
from dashboard.view import format_time
from guarantees.observations import Signal
from store.log import SegmentLog
from store.segments import producer_name
from tests.dashboard import fixture_store, test_pages
from tests.dashboard.fixture_store import BASE_OFFSET, CLUSTER_ID, HOSTILE, MINUTE_MS
from tests.dashboard.story_replication import BEHIND, NO_ANSWER, NO_LEADER, SHIPMENTS_ID, unclean
from tests.dashboard.test_pages import UNESCAPED, cells, words

visit = test_pages.visit
STORY_MS = 1_764_000_000_000


def window(minutes_back=15, minutes_on=0):
    ends = (STORY_MS - minutes_back * MINUTE_MS, STORY_MS + minutes_on * MINUTE_MS)
    return dict(zip(("from", "to"), map(format_time, ends), strict=True))


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _store(tmp_path_factory.mktemp("told"))


def test_every_partition_in_danger_is_a_row_and_the_worst_comes_first(visit, told):
    app = visit(told, "replication", **window())

    table = app.dataframe[0].value
    assert list(table["Partition"]) == [
        "shipments-3", "shipments-2", "payments-5", "shipments-4", "returns-0", "shipments-1",
    ]  # fmt: skip
    assert list(table["State"]) == [
        "offline: no leader", "at min ISR", "at min ISR", "at min ISR", "under-replicated, min ISR unknown",
        "in sync again",
    ]  # fmt: skip
    assert list(table["Below min ISR"]) == [
        "5 min to 5 min 6 s", "4 min 55 s to 5 min 5 s", "never seen", "never seen",
        "unknown: min ISR could not be read", "35 to 45 seconds",
    ]  # fmt: skip
    rows = table.set_index("Partition")
    assert list(rows.loc["shipments-3", ["Leader", "ELR", "Last known ELR"]]) == ["none (epoch 4)", "1, 3", "1"]
    assert list(rows.loc["shipments-2", ["Leader", "In sync", "Needed"]]) == [
        "1 (epoch 7)",
        "2 of 3: 1, 2 (without 3)",
        "2",
    ]
    assert rows.loc["shipments-2", "Unclean election"] == "15:54:19"
    assert rows.loc["shipments-1", "Verdict"] == "✓ OK"
    assert rows.loc["shipments-3", "Since (UTC)"] == "15:56:59"


def test_the_counts_are_those_of_the_overview(visit, told):
    said = words(visit(told, "replication", **window()))
    overview = visit(told, "overview", **window())

    assert (
        "**25 partitions:** 1 offline · 1 below min ISR, offline ones included · 3 at min ISR · "
        "5 under-replicated in all · ? min ISR could not be read for 1" in said
    )
    tiles = {metric.label: metric.value for metric in overview.metric}
    assert tiles["Under-replicated"] == "5"
    assert "of 25 partitions · 1 below min ISR · min ISR unknown for 1 · 1 offline" in words(overview)


def test_without_a_selection_the_worst_partition_is_drawn_and_said_to_be_it(visit, told):
    said = words(visit(told, "replication", **window()))

    assert "Partition **shipments\\-3** :gray[· none was selected: the worst one" in said
    assert "No ELR lane" not in said


def test_the_selected_partition_is_drawn_with_its_replicas_and_read_in_full_digits(visit, told):
    app = visit(told, "replication", partition=f"{SHIPMENTS_ID}-4", **window())

    spec = json.loads(app.get("plotly_chart")[0].proto.spec)
    named = [trace["name"] for trace in spec["data"] if trace["type"] == "scatter"]
    assert named == ["not replicated yet", "held by a transaction", "broker 1", "broker 3"]
    replicas = app.dataframe[1].value.set_index("Broker")
    end = BASE_OFFSET + 10 * 239 + 17
    assert list(replicas["Log end offset"]) == [str(end - BEHIND), str(end), "–"]
    assert list(replicas["Behind the leader, offsets"]) == [f"{BEHIND:,}", "0", "–"]
    assert list(replicas["Role"]) == ["not in sync", "leader", "in sync"]
    assert replicas.loc["3", "Unknown because"] == NO_ANSWER
    offsets = app.dataframe[2].value.set_index("Offset")
    assert offsets.loc["High watermark", "Value"] == str(end - 17)
    assert offsets.loc["Last stable offset", "Value"] == str(end - 17 - 6)
    assert offsets.loc["Log start offset", "Read (UTC)"] == "2025-11-24 15:59:58.940"
    assert set(offsets["Answered by broker"]) == {"2"}


def test_a_partition_nobody_leads_has_no_numbers_but_the_reason(visit, told):
    app = visit(told, "replication", partition=f"{SHIPMENTS_ID}-3", **window())

    replicas = app.dataframe[1].value.set_index("Broker")
    assert set(replicas["Behind the leader, offsets"]) == {"–"}
    assert replicas.loc["2", "Log end offset"] == str(BASE_OFFSET + 10 * 239 + 17)
    assert replicas.loc["2", "Unknown because"] == NO_LEADER
    assert replicas.loc["1", "Unknown because"] == f"{NO_ANSWER}; {NO_LEADER}"
    assert set(app.dataframe[2].value["Unknown because"]) == {"LEADER_NOT_AVAILABLE (5)"}


@pytest.mark.parametrize("name", ["nothing", f"{SHIPMENTS_ID}-99", "x-4", "-", "<b>-1"])
def test_a_link_to_a_partition_nobody_saw_says_so(visit, told, name):
    said = words(visit(told, "replication", partition=name, **window()))

    assert "no such partition was observed in this window" in said
    assert "could not be drawn" not in said


def test_a_long_window_says_that_offsets_are_drawn_for_its_last_quarter_of_an_hour(visit, told):
    long = words(visit(told, "replication", partition=f"{SHIPMENTS_ID}-2", **window(60)))
    short = words(visit(told, "replication", partition=f"{SHIPMENTS_ID}-2", **window(15)))

    assert "Offsets exist as samples for the last 15 minutes of the window" in long
    assert "Offsets exist as samples" not in short
    assert "No ELR lane" in short


def test_elections_are_clean_or_unclean_and_the_unclean_one_leads_to_its_evidence(visit, told):
    app = visit(told, "replication", **window())

    table = app.dataframe[-1].value.set_index("Partition")
    assert list(table["Election"]) == ["▲ unclean", "✓ clean", "✓ clean"]
    assert table.loc["shipments-2", "Leader"] == "3 → none → 1"
    assert list(table.loc["shipments-0", ["After (UTC)", "Seen by (UTC)", "Leader", "Leader epoch"]]) == [
        "15:52:54", "15:52:59", "1 → 2", "3 → 4",
    ]  # fmt: skip
    assert "3 elections, seen between two samples each" in words(app)
    links = [link.proto.query_string for link in app.get("page_link")]
    assert any(unclean(STORY_MS).finding_id in link for link in links)


def test_the_search_narrows_partitions_and_elections_but_not_the_selected_one(visit, told):
    app = visit(told, "replication", search="shipments-2", partition=f"{SHIPMENTS_ID}-4", **window())

    assert list(app.dataframe[0].value["Partition"]) == ["shipments-2"]
    assert list(app.dataframe[-1].value["Partition"]) == ["shipments-2"]
    assert "Partition **shipments\\-4**" in words(app)


def test_a_search_that_finds_nothing_says_so(visit, told):
    said = words(visit(told, "replication", search="nowhere", **window()))

    assert "No partition that the search finds is in danger, or was in this window" in said
    assert "No partition that the search finds got another leader in this window" in said
    assert "no such partition was observed" in said


def test_without_danger_the_partition_that_changed_most_is_drawn(visit, told):
    said = words(visit(told, "replication", search="orders", **window()))

    assert "No partition that the search finds is in danger, or was in this window" in said
    assert "Partition **orders\\-0**" in said


def test_what_was_at_risk_for_a_while_is_listed_and_none_is_denied(visit, tmp_path):
    """One partition was at min ISR, and recovered; one had no leader until its topic was made anew."""
    settings, fell, over = _store(tmp_path), STORY_MS - 9 * MINUTE_MS, STORY_MS - 4 * MINUTE_MS
    ended = {"last_seen_at": over - 5_000, "ended_before": over}
    before = {"last_seen_at": fell - 5_000, "ended_before": fell, "leader": 1, "in_sync_replicas": [1, 2, 3]}
    with _log(tmp_path) as log:
        log.append("partition_state", [
            _state("briefly", 0, **before),
            _state("briefly", 0, started_at=fell, leader=1, in_sync_replicas=[1, 2], **ended),
            _state("briefly", 0, started_at=over, leader=1, in_sync_replicas=[1, 2, 3]),
            _state("briefly", 1, **before),
            _state("briefly", 1, started_at=fell, leader_epoch=4, **ended, ended_reason="the topic was made anew"),
            _state("briefly", 1, started_at=over, topic_id="newer", leader=1, in_sync_replicas=[1, 2, 3]),
        ])  # fmt: skip

    app = visit(settings, "replication", search="briefly", **window())

    rows = app.dataframe[0].value
    assert list(rows["Partition"]) == ["briefly-0", "briefly-1"]
    assert list(rows["State"]) == ["in sync again", "no longer listed"]
    assert list(rows["Below min ISR"]) == ["never seen", "at least 4 min 55 s"]
    assert "in danger" not in words(app)
    assert "No partition that the search finds got another leader in this window" in words(app)


def test_old_evidence_is_stale_and_what_had_recovered_is_not_green(visit, told):
    app = visit(told, "replication", **window(5, 10))

    assert "◷ Stale] newest evidence 10 min" in words(app)
    assert "✓ OK" not in cells(app)
    assert "◷ Stale" in cells(app)


def test_evidence_older_than_the_window_is_still_counted_but_not_drawn(visit, told):
    app = visit(told, "replication", **window(-30, 60))

    assert "**25 partitions:** 1 offline" in words(app)
    assert "no such partition was observed in this window" in words(app)
    assert not app.get("plotly_chart")


def test_a_missing_right_is_said_on_every_panel_that_rests_on_it(visit, tmp_path):
    settings = _store(tmp_path)
    with _log(tmp_path) as log:
        log.append("rounds", [
            {"cluster_id": CLUSTER_ID, "cluster": "production", "tick": 9_999, "signal": signal.value,
             "started_at": STORY_MS - 600, "observed_at": STORY_MS - 500, "asked": 25, "answered": 18, "refused": 7,
             "failed": 0, "error": "not permitted: CLUSTER_AUTHORIZATION_FAILED (31)", "interval_ms": 5_000}
            for signal in (Signal.PARTITION_STATES, Signal.REPLICA_OFFSETS)
        ])  # fmt: skip

    said = words(visit(settings, "replication", **window()))

    assert said.count("Not permitted: 7 of 25") == 2
    assert "Not permitted: 14 of" in said
    assert said.count("CLUSTER\\_AUTHORIZATION\\_FAILED") == 3


def test_more_partitions_than_a_table_holds_are_counted_and_can_be_searched_for(visit, tmp_path):
    settings, most = _store(tmp_path), MOST_ROWS + 40
    with _log(tmp_path) as log:
        log.append("partition_state", [_state("bulk", number) for number in range(most)])
        log.append("partition_state", [
            row for number in range(most, most + MOST_ROWS + 7)
            for row in (_state("short", number, last_seen_at=STORY_MS - 566_000, ended_before=STORY_MS - 561_000),
                        _state("short", number, leader=1, in_sync_replicas=[1, 2, 3], started_at=STORY_MS - 561_000))
        ])  # fmt: skip

    app = visit(settings, "replication", **window())
    found = visit(settings, "replication", search=f"bulk-{most - 1}", **window())

    assert len(app.dataframe[0].value) == MOST_ROWS
    assert "253 partitions left out, those that matter least. The search finds them." in words(app)
    assert list(found.dataframe[0].value["Partition"]) == [f"bulk-{most - 1}"]


def test_hostile_topics_are_text_in_tables_figure_and_sentences(visit, tmp_path):
    settings = _store(tmp_path)
    with _log(tmp_path) as log:
        log.append("partition_state", [
            _state(HOSTILE, 0, ended_before=STORY_MS - 61_000, last_seen_at=STORY_MS - 66_000),
            _state(HOSTILE, 0, leader=2, leader_epoch=4, started_at=STORY_MS - 61_000),
        ])  # fmt: skip

    app = visit(settings, "replication", partition="bulk-id-0", **window())

    said, figure = words(app), app.get("plotly_chart")[0].proto.spec
    assert "could not be drawn" not in said
    assert "\\<img src" in said
    assert not UNESCAPED.search(said)
    assert "<img" not in figure
    assert not [text for text in (said, cells(app), figure) if "\u202e" in text]
    assert not [element for element in app.markdown if element.allow_html]


def _state(topic, partition, **columns):
    row = {
        "cluster_id": CLUSTER_ID, "topic": topic, "topic_id": "bulk-id", "partition": partition, "leader": None,
        "leader_epoch": 3, "replicas": [1, 2, 3], "in_sync_replicas": [1], "offline_replicas": [],
        "min_insync_replicas": 2, "started_at": STORY_MS - 10 * MINUTE_MS, "last_seen_at": STORY_MS - 1_000,
    }  # fmt: skip
    return row | columns


def _store(folder: Path) -> Path:
    settings = fixture_store.write_settings(folder)
    fixture_store.build(folder / "data", STORY_MS)
    return settings


@contextmanager
def _log(folder: Path) -> Iterator[SegmentLog]:
    log = SegmentLog(folder / "data", producer_name("host-2", "collect"))
    yield log
    log.close()
