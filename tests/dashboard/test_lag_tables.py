"""The tables of the page of lag: how far behind in time, which groups stay where there are too many."""

import numpy as np
import pytest

from dashboard import answers, groups_shown, lag_answers, left_topics, partitions
from guarantees.lifecycle import Change, FindingEvent
from store.findings import append_events
from store.log import SegmentLog
from store.segments import producer_name
from tests.dashboard import fixture_store
from tests.dashboard.story_window import left
from tests.dashboard.test_pages import visit, words  # noqa: F401
from tests.dashboard.test_shared import look, store  # noqa: F401

GROUPS, PARTITIONS = "Trend", "High watermark"  # the columns that tell the tables apart


def table(app, column):
    (found,) = (one.value for one in app.dataframe if column in one.value.columns)
    return found


def test_both_tables_say_how_long_at_least_what_is_unread_has_been_there_and_leave_the_unknown_open(visit, believable):  # noqa: F811
    app = visit(believable, "lag", group="order-service")

    groups = table(app, GROUPS).set_index("Group")
    assert groups.loc["order-service", "Behind"] in (15, 20)
    assert groups["Behind"].isna()["reporting"]
    assert groups.loc["audit-archiver", "Behind"] == 0
    partitions = table(app, PARTITIONS)
    assert partitions["Behind"].between(10, 25).all()
    assert max(partitions["Behind"]) == groups.loc["order-service", "Behind"]
    assert list(partitions.columns).index("Behind") < list(partitions.columns).index("Committed")

    assert table(visit(believable, "lag", group="reporting"), PARTITIONS)["Behind"].isna().all()


def leave(store, group_id, topic):  # noqa: F811
    """A finding that the group reads the topic no more."""
    data_dir, end_ms = store
    log = SegmentLog(data_dir, producer_name("host-1", "findings"))
    append_events(log, [FindingEvent(Change.OPENED, end_ms - 60_000, left(group_id, topic, fixture_store.CLUSTER_ID))])
    log.close()


def test_what_a_group_has_left_is_not_behind(store):  # noqa: F811
    _, end_ms = store
    leave(store, "order-service", "orders")

    known = groups_shown.unread_for(look(end_ms))

    assert ("order-service", "orders") not in known
    assert known["invoice-writer", "invoices"] > 0


def test_what_a_group_has_left_is_in_no_total_of_its_chart_and_no_lag_of_its_partitions(visit, store):  # noqa: F811
    data_dir, end_ms = store
    settings = data_dir.parent / "tidemark.toml"
    leave(store, "reporting", "orders")
    before = lag_answers.lag_history(look(end_ms), "order-service")
    leave(store, "order-service", "orders")

    history, app = lag_answers.lag_history(look(end_ms), "order-service"), visit(settings, "lag", group="order-service")

    assert (before.partitions, history.partitions) == (6, 0)
    assert np.nanmax(before.total) > 700
    assert np.isnan(history.total).all()
    assert "Not in the chart: orders, which no member reads any more; that is a leftover." in words(app)
    rows = table(app, PARTITIONS)
    assert rows[["Lag", "Readable", "Behind"]].isna().all(axis=None)
    assert set(rows["Unknown because"]) == {"no member reads the topic any more: a leftover, not lag"}
    assert (rows["Committed"] != "–").all()


@pytest.mark.parametrize(
    ("topics", "said"),
    [
        ([], []),
        (["a"], ["Not in the chart: a, which no member reads any more; that is a leftover."]),
        (["a", "b", "c", "d", "e"],
         ["Not in the chart: a, b, c and 2 more, which no member reads any more; that is a leftover."]),
    ],
)  # fmt: skip
def test_the_chart_names_what_it_leaves_out(topics, said):
    assert left_topics.notes(topics) == said


def test_who_owns_what_in_a_group_that_cannot_be_read_is_unknown_with_the_reason(visit, believable):  # noqa: F811
    rows = table(visit(believable, "lag", group="reporting"), PARTITIONS)

    assert set(rows["Owner"]) == {f"unknown: {fixture_store.REFUSED}"}


def test_while_the_coordinator_does_not_answer_an_owner_is_who_was_last_seen(visit, store):  # noqa: F811
    data_dir, end_ms = store
    silent = {"cluster_id": fixture_store.CLUSTER_ID, "group_id": "order-service", "coordinator": 1,
              "state_unknown": "no answer", "started_at": end_ms - 15_000, "last_seen_at": end_ms}  # fmt: skip
    fixture_store.append(data_dir, "group_state", [silent])

    rows = table(visit(data_dir.parent / "tidemark.toml", "lag", group="order-service"), PARTITIONS)

    assert rows["Owner"].str.fullmatch(r".+, last seen \d\d:\d\d:\d\d").all()


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({"state": "Empty", "state_unknown": None}, "nobody seen"),
        ({"state": None, "state_unknown": "broker 1 did not answer"}, "unknown: broker 1 did not answer"),
        ({"state": None, "state_unknown": None}, "unknown: the state is not told"),
        (None, "unknown: the newest rounds tell nothing of the group"),
    ],
)
def test_that_nobody_owns_a_partition_is_said_only_of_a_group_whose_state_is_known(state, said):
    assert partitions.without_owner(state) == said


def test_while_a_round_is_under_way_the_one_before_it_says_how_far_behind_a_group_is(store):  # noqa: F811
    data_dir, end_ms = store
    log = SegmentLog(data_dir, producer_name("host-1", "collect"))
    log.append("committed_offsets", [
        {"cluster_id": fixture_store.CLUSTER_ID, "tick": 10_000, "group_id": group.group_id, "topic": group.topic.name,
         "topic_id": group.topic.topic_id, "partition": 0, "committed_offset": 1, "is_pending": False,
         "observed_at": end_ms - 100}
        for group in fixture_store.GROUPS
    ])  # fmt: skip
    log.close()

    assert groups_shown.unread_for(look(end_ms))["order-service", "orders"] in (15_000, 20_000)
    by_partition = answers.unread_by_partition(look(end_ms), "order-service")
    assert {number for _, number in by_partition} == {*range(6)}


def row(number, unknown=0, is_left=False):
    return {"group_id": f"g-{number}", "unknown": unknown, "is_left": is_left}


@pytest.mark.parametrize(
    ("rows", "kept"),
    [
        ([row(1), row(2), row(3), row(4, unknown=6)], ["g-1", "g-4"]),
        ([row(1), row(2, unknown=1), row(3), row(4, unknown=6)], ["g-2", "g-4"]),
        ([row(1, unknown=2, is_left=True), row(2), row(3)], ["g-2", "g-3"]),
        ([row(1)], ["g-1"]),
    ],
    ids=["one that cannot be read", "in their own order", "what is left", "few"],
)
def test_of_too_many_groups_those_that_cannot_be_read_stay_and_what_nobody_reads_goes(rows, kept):
    assert [one["group_id"] for one in groups_shown.worst(rows, 2)] == kept


def test_more_groups_than_the_table_shows_are_counted(visit, believable, monkeypatch):  # noqa: F811
    monkeypatch.setattr(groups_shown, "SHOWN", 2)

    app = visit(believable, "lag")

    assert list(table(app, GROUPS)["Group"])[-1] == "reporting"
    said = "2 of 6 groups and topics are shown, those of unknown lag, then those with most."
    assert said in words(app)
