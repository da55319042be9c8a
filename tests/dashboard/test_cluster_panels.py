"""Share groups, members of every group, brokers, controllers and what brokers store, on their pages."""

import re
from pathlib import Path

import pytest

from dashboard import cluster_questions, cluster_rows, health, memberships, queries
from dashboard.view import View
from guarantees.observations import Signal
from guarantees.promises import Verdict
from store.log import SegmentLog
from store.segments import producer_name
from tests.dashboard import fixture_store, story_cluster
from tests.dashboard.conftest import now_ms
from tests.dashboard.test_pages import visit, words  # noqa: F401

END_MS = 1_764_000_000_000
VIEW = View("production", END_MS - 900_000, END_MS, False, 10, "")


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, story_ms = tmp_path_factory.mktemp("told"), now_ms()
    settings = fixture_store.write_settings(folder)
    fixture_store.build(folder / "data", story_ms, quiet_minutes=10)
    story_cluster.write(folder / "data", story_ms, story_ms + 10 * 60_000)
    return settings


def table(app, column: str):
    """The rows of the one table with that column."""
    (found,) = (each.value for each in app.dataframe if column in each.value.columns)
    return found.astype(object).where(found.notna(), None).to_dict("records")


def test_share_groups_stand_with_lag_not_started_and_unknown_apart_and_what_cannot_be_told_is_said(visit, told):  # noqa: F811
    app = visit(told, "lag")

    shared, lost = table(app, "Not started")
    assert (shared["Group"], shared["State"], shared["Members"]) == ("packing-queue", "Stable", 2)
    assert (shared["Lag, offsets"], shared["Partitions"], shared["Not started"]) == (12, 3, 1)
    assert (shared["Unknown"], shared["Unknown because"]) == (1, story_cluster.SILENT), "its lag is in no sum"
    (grid,) = [one for one in app.dataframe if one.proto.alt.startswith("Share groups")]
    assert "over the partitions whose lag is known" in grid.proto.columns
    assert (lost["Lag, offsets"], lost["Unknown because"]) == (None, story_cluster.SILENT)
    assert "a rejected or given-up one moves the start offset like an accepted one" in words(app)


def test_without_a_share_group_the_panel_says_so(visit, believable):  # noqa: F811
    assert "No share group was seen" in words(visit(believable, "lag"))


def test_where_only_the_search_finds_none_no_share_group_and_no_member_is_denied(visit, told):  # noqa: F811
    lag, held = (words(visit(told, page, search="nowhere")) for page in ("lag", "rebalances"))

    assert "No share group that the search finds was seen." in lag
    assert "No group with a committed offset that the search finds was seen." in lag
    assert "No member of a group that the search finds was seen." in held
    assert "Brokers know them" not in lag
    assert "Health says" not in held


def test_blanks_around_a_search_word_find_what_the_word_finds(visit, told):  # noqa: F811
    assert table(visit(told, "lag", search=" packing-queue "), "Not started")
    assert table(visit(told, "rebalances", search=" packing-queue "), "Standby")
    assert table(visit(told, "rebalances", search=" "), "Standby")


def test_members_that_have_not_followed_come_first_with_their_epochs_targets_and_tasks(visit, told):  # noqa: F811
    behind, *others = table(visit(told, "rebalances"), "Standby")

    assert (behind["State"], behind["Group"], behind["Type"]) == ("▲ Not followed yet", "order-totals", "streams")
    assert behind["Epochs"] == "member 4 of group 5, target 5"
    assert (behind["Process"], behind["Holds"], behind["Is to hold"]) == ("process-a", "orders 0", "orders 0, 1")
    assert (behind["Standby"], behind["Warm-up"]) == ("0_1 → none", "none")
    shared = [row for row in others if row["Group"] == "packing-queue"]
    assert [(row["Holds"], row["Is to hold"], row["State"]) for row in shared] == [("orders 0", "–", "Stable")] * 2
    assert {row["Epochs"] for row in others if row["Type"] == "classic"} == {"–"}


def test_a_search_finds_members_by_group_and_topic(visit, told):  # noqa: F811
    rows = table(visit(told, "rebalances", search="invoices"), "Standby")

    assert {row["Group"] for row in rows} == {"invoice-writer"}


def test_a_selected_member_leads_to_its_group_and_to_what_it_held(visit, told):  # noqa: F811
    app = visit(told, "rebalances", member="order-service@order-service-2-77f0")

    assert "Group **order\\-service**" in words(app)
    assert "**Selected member** order\\-service\\-2\\-77f0" in words(app)
    held = [(row["Held"], row["Ended"]) for row in table(app, "Held")]
    assert held == [("orders 4, 5", "–"), ("orders 2–5", "changed"), ("orders 4, 5", "changed")]


def test_a_rebalance_of_the_link_comes_before_a_member_and_a_member_that_is_not_there_is_said(visit, told):  # noqa: F811
    with_both = visit(told, "rebalances", member="order-totals@streams-a", rebalance="invoice-writer@1")
    nowhere = visit(told, "rebalances", member="order-service@nobody")

    assert "Group **invoice\\-writer**" in words(with_both)
    assert "Selected member" not in words(with_both)
    assert "The selected member was not seen in this window" in words(nowhere)


@pytest.mark.parametrize("group_id", ["g", "a@b", "100%", "", "ü/ä", fixture_store.HOSTILE])
def test_a_link_names_group_and_member_whatever_they_are_called(group_id):
    link = memberships.identity({"group_id": group_id, "member_id": "m@1"})

    assert memberships.chosen(link) == (group_id, "m@1")


def test_brokers_features_and_the_controller_that_leads_stand_on_the_health_page(visit, told):  # noqa: F811
    app = visit(told, "health")

    brokers = {row["Broker"]: row["State"] for row in table(app, "Rack")}
    assert brokers == {1: "in service", 2: "in service", 3: "▲ fenced: registered, not in service"}
    assert "In force: metadata.version 29, transaction.version 2." in words(app)
    assert "Controller **100** leads, epoch 7" in words(app)
    roles = {row["Node"]: (row["Role"], row["Behind, records"]) for row in table(app, "Role")}
    assert roles == {100: ("leads", 0), 1: ("observes", 10)}


def test_an_offline_directory_comes_first_and_a_replica_that_moves_or_lags_before_larger_ones(visit, told):  # noqa: F811
    app = visit(told, "replication")

    offline, readable = table(app, "Volume used")
    assert (offline["Broker"], offline["State"]) == (2, "▲ the log directory is offline")
    assert (readable["Volume used"], readable["Left, bytes"]) == ("90 %", 100)
    assert (readable["Replicas"], readable["Stored, bytes"], readable["Behind"], readable["Moving"]) == (3, 950, 2, 1)
    states = [(row["Partition"], row["State"], row["Behind, offsets"]) for row in table(app, "Behind, offsets")]
    assert states == [
        ("orders-1", "moves here from another directory", 900),
        ("orders-1", "stored", 31),
        ("orders-0", "stored", 0),
    ]


def test_a_broker_with_replicas_of_which_no_answer_is_new_enough_is_named(visit, told):  # noqa: F811
    assert "What broker 3 stores: no answer of the last 18 rounds tells of it." in words(visit(told, "replication"))


@pytest.mark.parametrize(
    ("assigned", "told_by", "said"),
    [
        ([1, 2], [1, 1, 2], ""),
        ([], [1], ""),
        ([3, 1], [1], "What broker 3 stores: no answer"),
        ([4, 3, 1], [1], "What brokers 3, 4 store: no answer"),
        (range(25), [0], "18, 19, 20 and 4 more store: no answer"),
    ],
)
def test_only_brokers_with_replicas_and_without_an_answer_are_named(assigned, told_by, said):
    found = cluster_rows.silent([{"broker": one} for one in assigned], [{"broker": one} for one in told_by])

    assert said in found
    assert bool(found) is bool(said)


@pytest.mark.parametrize(
    ("behind", "unknown", "shown"),
    [(0, 0, (0, None)), (2, 0, (2, None)), (2, 3, (2, 3)), (0, 3, (None, 3)), (None, None, (None, None))],
)
def test_that_no_replica_is_behind_is_said_only_where_that_is_known_of_all(behind, unknown, shown):
    row = {"broker": 1, "log_dir": "/data/a", "unreadable": None, "total_bytes": None, "usable_bytes": None,
           "replicas": 5, "size_bytes": 9, "moving": 0, "behind": behind, "behind_unknown": unknown}  # fmt: skip

    made = cluster_rows.directory_row(row)

    assert (made["Behind"], made.get("Behind unknown")) == shown


def test_a_replica_whose_distance_is_not_told_is_counted_as_unknown(tmp_path):
    at = {"cluster_id": "c", "tick": 7, "observed_at": END_MS}
    stored = at | {"topic": "t", "topic_id": "id", "replica": 1, "log_dir": "/data/a", "size_bytes": 1,
                   "is_future": False}  # fmt: skip
    log = SegmentLog(tmp_path, producer_name("host", "collect"))
    log.append("log_dirs", [at | {"broker": 1, "log_dir": "/data/a"}])
    log.append("replica_sizes", [
        stored | {"partition": number, "offset_lag": lag, "offset_lag_unknown": None if lag is not None else "offline"}
        for number, lag in enumerate((0, 5, None, None))
    ])  # fmt: skip
    log.close()

    (row,) = queries.ask(tmp_path, END_MS - 1, END_MS + 1, cluster_questions.LOG_DIRS, {"cluster_id": "c"})

    assert (row["replicas"], row["behind"], row["behind_unknown"]) == (4, 1, 2)


def test_what_brokers_store_is_as_old_as_their_own_answer_and_no_younger(visit, tmp_path):  # noqa: F811
    settings, end_ms, step_ms = fixture_store.write_settings(tmp_path), now_ms(), fixture_store.STEP_MS
    fixture_store.append(tmp_path / "data", "rounds", [
        row
        for tick in range(30)
        for row in fixture_store.round_rows(tick, end_ms - (30 - tick) * step_ms)
        if row["signal"] != Signal.LOG_DIRS or tick == 14
    ])  # fmt: skip

    lines = words(visit(settings, "replication")).splitlines()

    (header,) = [line for line in lines if line.startswith("**What brokers store**")]
    assert re.search(r"Stale\] newest evidence 1 min \d+ s ago, expected every 60 s", header)


def test_the_last_answer_of_a_signal_is_no_question_that_nobody_answered(visit, tmp_path):  # noqa: F811
    settings, now = fixture_store.write_settings(tmp_path), now_ms()
    silent = {"groups": {"asked": 18, "answered": 0}, "quorum": {"asked": 0, "answered": 0}}
    asked = [row for tick in range(60) for row in fixture_store.round_rows(tick, now - (60 - tick) * 5_000)]
    fixture_store.append(tmp_path / "data", "rounds", [
        row | (silent.get(row["signal"], {}) if row["tick"] >= 30 or row["signal"] == "quorum" else {}) for row in asked
    ])  # fmt: skip

    signals = visit(settings, "health").dataframe[0].value.set_index("Signal")

    assert signals.loc["groups", "Last answer"].startswith("2 min 3")
    assert signals.loc["end offsets", "Last answer"].endswith(" s ago")
    assert signals.loc["quorum", "Last answer"] == "–"


@pytest.mark.parametrize(("asked", "said"), [(3, "none in the window"), (0, "–")])
def test_what_was_never_answered_in_the_window_is_said(asked, said):
    row = {"signal": "groups", "asked": asked, "answered": 0, "refused": 0, "failed": 0, "error": None,
           "observed_at_ms": END_MS, "answered_at_ms": None}  # fmt: skip

    assert health.coverage_row(row, VIEW, Verdict.OK)["Last answer"] == said


def test_where_nobody_may_be_asked_about_the_cluster_the_right_is_named(visit, believable):  # noqa: F811
    assert "Nobody told who the controllers are" in words(visit(believable, "health"))
    assert "that needs describe on the cluster" in words(visit(believable, "replication")).lower()


def test_an_offset_nobody_knows_leaves_it_open_how_far_a_controller_is_behind():
    row = {"replica": 2, "is_voter": True, "controller": 1, "log_end_offset": None, "last_caught_up_at_ms": None}

    shown = cluster_rows.quorum_row(row | {"controller_log_end_offset": 9}, VIEW)

    assert (shown["Role"], shown["Behind, records"], shown["Last caught up"]) == ("votes", None, "–")
