"""The tables of the page of lag: how far behind in time, which groups stay where there are too many."""

import pytest

from dashboard import answers, groups_shown
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


def test_what_a_group_has_left_is_not_behind(store):  # noqa: F811
    data_dir, end_ms = store
    gone = left("order-service", "orders", fixture_store.CLUSTER_ID)
    log = SegmentLog(data_dir, producer_name("host-1", "findings"))
    append_events(log, [FindingEvent(Change.OPENED, end_ms - 60_000, gone)])
    log.close()

    known = groups_shown.unread_for(look(end_ms))

    assert ("order-service", "orders") not in known
    assert known["invoice-writer", "invoices"] > 0


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
