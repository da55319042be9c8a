"""One partition of a group: its history in the window, how old what is unread is, and who owned it when."""

import json

import numpy as np
import pytest

from dashboard import (
    incident_questions,
    partition_history,
    partition_questions,
    partitions,
    queries,
    rebalance_questions,
    shapes,
)
from dashboard.charts.partition import partition_over_time
from dashboard.interval_ends import drawn_to_ms, is_seen_over
from dashboard.names import in_markdown
from dashboard.partition_history import OWNER, REBALANCING
from dashboard.view import View, format_time, parse_time
from dashboard.wording import clock
from store.log import SegmentLog
from store.log_end_minute import LOG_ENDS_BY_MINUTE
from store.minutes import roll_up
from store.segments import producer_name
from store.tables.intervals import NOT_OBSERVED
from tests.dashboard import fixture_store
from tests.dashboard.conftest import now_ms
from tests.dashboard.fixture_store import HOSTILE
from tests.dashboard.story_window import AT_MS, STEP_MS, owner, sample, state
from tests.dashboard.test_pages import cells, visit, words  # noqa: F401
from tests.dashboard.test_transactions_page import table

VIEW = View("production", AT_MS, AT_MS + 60_000, False, 10, "")


def moment(rounds):
    return round(AT_MS + rounds * STEP_MS)


def unread(samples):
    return partition_history.unread_for(samples)


def test_what_is_unread_is_at_least_as_old_as_the_first_end_seen_above_the_commit():
    assert unread([sample(0, 10, 10), sample(1, 10, 12), sample(2, 10, 15), sample(3, 12, 15)]) == [0, 0, 5_000, 5_000]


def test_a_group_that_has_read_everything_has_nothing_unread():
    assert unread([sample(0, 10, 12), sample(1, 12, 12)]) == [0, 0]


def test_where_the_lag_is_unknown_the_age_of_what_is_unread_is_unknown_too():
    assert unread([sample(0, 10, 12), sample(1, None, 12), sample(2, 10, None), sample(3, 10, 12)]) == [
        0, None, None, 15_000,
    ]  # fmt: skip


def test_what_was_seen_of_a_log_before_it_was_truncated_does_not_count():
    assert unread([sample(0, 10, 100), sample(1, 10, 20), sample(2, 10, 30)]) == [0, 0, 5_000]


def test_a_point_tells_what_is_blocked_from_what_is_readable():
    (point,) = partition_history.points([sample(0, 10, 40, last_stable_offset=25)], [])

    assert (point.lag, point.readable, point.blocked) == (30, 15, 15)


def test_an_unknown_sample_is_a_gap_with_its_reason_and_never_zero():
    known = partition_history.points([sample(0, 10, 40), sample(1, None, 40), sample(2, 10, 40)], [])
    history = partition_history.series(known, AT_MS, AT_MS + 15_000, STEP_MS)

    assert known[1].lag is None
    assert known[1].unknown == "broker 2 did not answer"
    assert partition_history.table_rows(known)[1]["Unknown because"] == "broker 2 did not answer"
    # The commit is read just before the round's end, so each sample falls into the bucket before.
    assert np.isnan(history.lag[0])
    assert history.lag[1] == 30


def test_roll_ups_stand_before_the_first_sample_and_know_the_high_watermark_alone():
    minutes = [
        {"at_ms": AT_MS + at_ms, "lag_max": 7, "samples": 12, "unknown": 0, "unknown_reason": None}
        for at_ms in (-120_000, -60_010, -30_000)
    ]
    known = partition_history.points([sample(0, 10, 40)], minutes)

    assert [(point.lag, point.readable, point.unread_for_ms) for point in known] == [
        (7, None, None), (7, None, None), (30, 30, 0),
    ]  # fmt: skip


def test_a_minute_with_unknown_samples_says_why():
    minute = {"at_ms": AT_MS, "lag_max": None, "samples": 12, "unknown": 12, "unknown_reason": "broker 2 is gone"}

    assert partition_history.points([], [minute])[0].unknown == "broker 2 is gone"


def test_the_owner_at_a_moment_is_the_member_seen_before_and_after_it():
    said, rows = partition_history.owner_at([owner("m-1", 0, 4, 5), owner("m-2", 5, 9)], [], moment(2), STEP_MS)

    assert said == "Owned by app ·m-1."
    assert rows[0]["Host"] == "/10.0.0.1"
    assert rows[0]["First seen (UTC)"] == "2025-11-24 16:00:00.000"
    assert rows[0]["Gone at (UTC)"] == "2025-11-24 16:00:25.000"


def test_between_two_samples_the_change_is_not_dated():
    said, rows = partition_history.owner_at([owner("m-1", 0, 4, 5), owner("m-2", 5, 9)], [], moment(4.5), STEP_MS)

    assert said.startswith("Between two samples: the owner changed, when exactly is not observable. Seen app ·m-1")
    assert len(rows) == 1


def test_over_a_time_nobody_looked_no_owner_is_known_and_none_is_said_to_have_changed():
    owners = [owner("m-1", 0, 4, 900, why=NOT_OBSERVED), owner("m-1", 900, 990)]
    states = [state("Stable", 0, 4, 900, why=NOT_OBSERVED), state("Stable", 900, 990)]

    assert partition_history.owner_at(owners, states, moment(5), STEP_MS) == (
        "Not observed: no sample of the group covers this moment.",
        [],
    )
    said, rows = partition_history.owner_at(owners, states, moment(4), STEP_MS)
    assert (said, rows[0]["Gone at (UTC)"]) == ("Owned by app ·m-1.", "nobody looked")


def test_what_still_runs_is_said_as_it_was_last_seen_until_two_rounds_are_missing():
    owners, states = [owner("m-1", 0, 4)], [state("Empty", 0, 4)]

    def said(rows, rounds):
        return partition_history.owner_at(rows, states, moment(rounds), STEP_MS)[0]

    assert said(owners, 6) == "Owned by app ·m-1, as last seen 16:00:20."
    assert said([], 5).endswith("none of its members owned the partition, as last seen 16:00:20.")
    assert said(owners, 6.1) == said([], 6.1) == "Not observed: no sample of the group covers this moment."


def test_an_owner_that_still_owns_it_is_called_so():
    _, rows = partition_history.owner_at([owner("m-1", 0, 4)], [], moment(4), STEP_MS)

    assert rows[0]["Gone at (UTC)"] == "still owns it"


@pytest.mark.parametrize(
    ("states", "said"),
    [
        ([], "Not observed: no sample of the group covers this moment."),
        ([state("Stable", 5, 9)], "Not observed: no sample of the group covers this moment."),
        ([state("Empty", 0, 9)], "Nobody seen: the group was Empty and none of its members owned the partition."),
        (
            [state("PreparingRebalance", 0, 9)],
            "Nobody seen: the group was rebalancing (PreparingRebalance), and then it lists no assignments.",
        ),
        ([state(None, 0, 9, unknown="not permitted")], "Not observed: not permitted."),
    ],
)
def test_without_an_owner_it_is_said_why(states, said):
    assert partition_history.owner_at([owner("m-1", 5, 9)], states, moment(2), STEP_MS) == (said, [])


def test_the_lane_of_owners_shows_each_as_far_as_it_was_seen_and_when_the_group_was_rebalancing():
    spans = partition_history.owner_spans(
        [owner("m-1", 0, 3, 5), owner("m-2", 5, 9)],
        [state("Stable", 0, 3, 4), state("CompletingRebalance", 4, 4, 5), state("Stable", 5, 9)],
    )

    assert [(span.lane, span.from_ms, span.to_ms, span.tone) for span in spans] == [
        (REBALANCING, moment(4), moment(4), None),
        (OWNER, moment(0), moment(3), 0),
        (OWNER, moment(5), moment(9), 1),
    ]


def test_the_figure_draws_differences_with_gaps_and_escapes_names():
    known = partition_history.points([sample(1, 10, 40, last_stable_offset=25), sample(3, 10, 50)], [])
    history = partition_history.series(known, AT_MS, AT_MS + 60_000, STEP_MS)
    spans = partition_history.owner_spans([{**owner("m", 0, 9), "client_id": HOSTILE}], [])

    figure = partition_over_time(history, spans, [shapes.Mark("findings", AT_MS, HOSTILE)], VIEW)

    by_name = {trace.name: trace for trace in figure.data}
    lag, readable = by_name["to high watermark"], by_name["to last stable"]
    assert lag.y.dtype == readable.y.dtype == np.float32
    assert [None if np.isnan(value) else value for value in lag.y[:3]] == [30, None, 40]
    assert [None if np.isnan(value) else value for value in readable.y[:3]] == [15, None, 40]
    assert not lag.connectgaps
    assert lag.line.dash != readable.line.dash, "told apart without colour"
    assert "<img" not in figure.to_json()


def test_of_many_partitions_the_unknown_and_the_worst_are_kept_in_their_own_order():
    rows = [{"partition": number, "lag": lag, "is_left": False} for number, lag in enumerate((5, None, 0, 90, 7))]

    assert [row["partition"] for row in partitions.worst(rows, 3)] == [1, 3, 4]
    assert partitions.worst(rows, 5) == rows
    left = [rows[0], {"partition": 1, "lag": None, "is_left": True}, *rows[2:]]
    assert [row["partition"] for row in partitions.worst(left, 3)] == [0, 3, 4], "a leftover is not unknown lag"


@pytest.fixture
def log(tmp_path):
    log = SegmentLog(tmp_path, producer_name("host", "collect"))
    yield log
    log.close()


def ask(data_dir, question, **about):
    return queries.ask(
        data_dir, AT_MS - 300_000, AT_MS + 120_000, question, {"cluster_id": "c", "group_id": "g"} | about
    )


def rounds(log, samples):
    """Rounds as (tick, committed offset, high watermark) of orders-0 and group g."""
    log.append("committed_offsets", [
        {"cluster_id": "c", "tick": tick, "group_id": "g", "topic": "orders", "topic_id": "id", "partition": 0,
         "committed_offset": committed, "is_pending": False, "observed_at": moment(tick) - 10,
         "committed_offset_unknown": None if committed is not None else "refused"}
        for tick, committed, _ in samples
    ])  # fmt: skip
    log.append("partition_offsets", [
        {"cluster_id": "c", "tick": tick, "topic": "orders", "topic_id": "id", "partition": 0, "log_start_offset": 0,
         "last_stable_offset": high_watermark, "high_watermark": high_watermark, "observed_at": moment(tick)}
        for tick, _, high_watermark in samples
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("samples", "unread_for_ms"),
    [
        ([(0, 5, 10), (1, 8, 12), (2, 11, 20)], 5_000),
        ([(0, 5, 10), (1, 5, 12), (2, 5, 20)], 10_000),
        ([(0, 5, 10), (1, 5, 12), (2, 20, 20)], 0),
        ([(0, 5, 100), (1, 5, 12), (2, 5, 20)], None),
        ([(0, 5, 10), (1, 5, 12), (2, 5, 20), (3, None, 20)], "no row"),
    ],
    ids=["since a sample", "since the first sample", "caught up", "a log that lost its end", "unknown now"],
)
def test_lag_in_time_of_every_group_is_a_lower_bound(log, tmp_path, samples, unread_for_ms):
    rounds(log, samples)

    rows = ask(tmp_path, partition_questions.UNREAD_FOR, groups=["g"], since_ms=0)

    assert [row["unread_for_ms"] for row in rows] == ([] if unread_for_ms == "no row" else [unread_for_ms])


def minutes_before(moment_ms, *ends):
    """Samples of the end of orders-0, one in each of the minutes before, the oldest first: (s of the minute, end)."""
    this_minute_ms = moment_ms // 60_000 * 60_000
    return [
        (this_minute_ms - (len(ends) - number) * 60_000 + second * 1_000, end)
        for number, (second, end) in enumerate(ends)
    ]


@pytest.mark.parametrize(
    ("ends", "since"),
    [
        ([(0, 5)], None),
        ([(0, 5), (3, 9)], 1),
        ([(0, 7), (0, 8), (0, 9)], 0),
        ([(0, 8), (0, None)], 0),
        ([(0, 30), (0, 8)], "nothing is said"),
    ],
    ids=["read by now", "since a minute", "since an older minute", "an unknown minute", "a log that lost its end"],
)
def test_minutes_say_how_far_behind_a_group_is_beyond_the_newest_rounds(log, tmp_path, ends, since):
    rounds(log, [(0, 6, 10), (1, 6, 12)])
    samples = minutes_before(moment(0), *ends)
    log.append("partition_offsets", [
        {"cluster_id": "c", "tick": -9 + number, "topic": "orders", "topic_id": "id", "partition": 0,
         "high_watermark": end, "observed_at": at_ms}
        for number, (at_ms, end) in enumerate(samples)
    ])  # fmt: skip
    roll_up(tmp_path, LOG_ENDS_BY_MINUTE, moment(1) // 60_000 * 60_000 + 30_000)

    (row,) = ask(tmp_path, partition_questions.UNREAD_FOR, groups=["g"], since_ms=moment(0) - 1_000)

    expected_ms = {None: 5_000, "nothing is said": None}
    since_ms = expected_ms[since] if since in expected_ms else moment(1) - samples[since][0]
    assert row["unread_for_ms"] == since_ms


def test_the_worst_partition_says_how_far_behind_a_group_is_in_time(log, tmp_path):
    rounds(log, [(0, 5, 10), (1, 5, 12)])
    log.append("committed_offsets", [
        {"cluster_id": "c", "tick": 1, "group_id": "g", "topic": "orders", "topic_id": "id", "partition": 1,
         "committed_offset": 3, "is_pending": False, "observed_at": moment(1)},
    ])  # fmt: skip
    log.append("partition_offsets", [
        {"cluster_id": "c", "tick": 1, "topic": "orders", "topic_id": "id", "partition": 1, "log_start_offset": 0,
         "last_stable_offset": 3, "high_watermark": 3, "observed_at": moment(1)},
    ])  # fmt: skip

    assert ask(tmp_path, partition_questions.UNREAD_FOR, groups=["g"], since_ms=0) == [
        {"group_id": "g", "topic": "orders", "unread_for_ms": 5_000}
    ]


def test_samples_of_one_partition_come_in_order(log, tmp_path):
    rounds(log, [(1, 5, 12), (0, 5, 10)])

    rows = ask(tmp_path, partition_questions.SAMPLES, topic="orders", partition=0)

    assert [row["lag"] for row in rows] == [5, 7]
    assert not ask(tmp_path, partition_questions.SAMPLES, topic="orders", partition=1)


def test_owners_are_those_whose_assignment_holds_the_partition(log, tmp_path):
    assignments = ([["orders", 1], ["orders", 2]], [["orders", 12]], [["orders-1", 2]], [[HOSTILE, 1]], [])
    log.append("group_members", [
        {"cluster_id": "c", "group_id": "g", "member_id": f"m-{number}", "assignment": json.dumps(owned),
         "started_at": AT_MS, "last_seen_at": AT_MS + 5_000}
        for number, owned in enumerate(assignments)
    ])  # fmt: skip

    def members(topic, partition):
        rows = ask(tmp_path, partition_questions.OWNERS, place=json.dumps([topic, partition]))
        return [row["member_id"] for row in rows]

    assert members("orders", 1) == ["m-0"]
    assert members("orders", 12) == ["m-1"]
    assert members(HOSTILE, 1) == ["m-3"]
    assert members("orders", 3) == []


def test_a_selected_partition_shows_its_history_and_owner(visit, believable):  # noqa: F811
    app = visit(believable, "lag", group="order-service", partition="orders-2")

    assert "**orders\\-2** of group **order\\-service**" in words(app)
    assert "Owned by order\\-service ·3\\-c0de" in words(app)
    assert "could not be drawn" not in words(app)
    assert "/10.0.3.17" in cells(app)
    twin = app.dataframe[-1].value
    assert twin["Lag"].notna().all()
    assert (twin["Lag"] == twin["Readable"] + twin["Blocked"]).all()


def test_the_owner_at_the_end_of_a_window_two_seconds_after_the_newest_round_is_the_one_last_seen(visit, tmp_path):  # noqa: F811
    end_ms = now_ms()
    settings = fixture_store.write_settings(tmp_path)
    fixture_store.build(tmp_path / "data", end_ms)
    window = {"from": format_time(end_ms - 900_000), "to": format_time(end_ms + 2_000)}

    app = visit(settings, "lag", group="order-service", partition="orders-2", **window)

    assert f"Owned by order\\-service ·3\\-c0de, as last seen {clock(end_ms - 1_000)}".replace(":", "\\:") in words(app)


@pytest.mark.parametrize(
    ("question", "about"),
    [
        (partition_questions.OWNERS, {"place": '["orders", 0]'}),
        (rebalance_questions.STATES, {}),
        (rebalance_questions.REBALANCING, {}),
        (incident_questions.GROUP_STATES, {"groups": ["g"]}),
        (
            incident_questions.STATES,
            {"topics": ["orders"], "topic_ids": ["id"], "partitions": [0], "lines": ["orders-0"]},
        ),
    ],
)
def test_an_interval_says_that_nobody_looked_after_it(log, tmp_path, question, about):
    of_group = {"cluster_id": "c", "group_id": "g"}
    over = {"started_at": AT_MS, "last_seen_at": AT_MS + 5_000, "ended_before": AT_MS + 90_000,
            "ended_reason": NOT_OBSERVED}  # fmt: skip
    log.append("group_members", [of_group | over | {"member_id": "m-1", "assignment": '[["orders",0]]'}])
    log.append("group_state", [of_group | over | {"state": "PreparingRebalance"}])
    log.append("rebalances", [of_group | {"tick": 0, "observed_at": AT_MS}])
    log.append("partition_state", [{"cluster_id": "c", "topic": "orders", "topic_id": "id", "partition": 0} | over])

    (row,) = ask(tmp_path, question, **about)

    assert not is_seen_over(row)
    assert drawn_to_ms(row) == AT_MS + 5_000


def test_the_owner_of_a_linked_moment_is_the_one_of_then(visit, believable):  # noqa: F811
    app = visit(believable, "lag", group="order-service", partition="orders-2")
    left_ms = _first_seen(app) - 4 * 60_000  # the last owner came three minutes after the first one had gone

    before = visit(believable, "lag", group="order-service", partition="orders-2", at=format_time(left_ms - 60_000))
    outside = visit(believable, "lag", group="order-service", partition="orders-2", at="2020-01-01T00:00:00Z")
    no_time = visit(believable, "lag", group="order-service", partition="orders-2", at="yesterday")

    assert "Owned by order\\-service ·1\\-9a1b" in words(before)
    assert in_markdown("Not asked: the moment lies outside the window.") in words(outside)
    assert "This is no time." in words(no_time)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"group": "order-service"}, "Select a partition in the table above"),
        ({"group": "order-service", "partition": "orders-99"}, "The group has no such partition."),
        ({"group": "order-service", "partition": "orders"}, "The group has no such partition."),
        ({"group": "invoice-writer", "partition": "orders-2"}, "The group has no such partition."),
    ],
)
def test_a_partition_that_is_not_there_is_not_drawn(visit, believable, query, said):  # noqa: F811
    assert said in words(visit(believable, "lag", **query))


def test_a_partition_that_may_not_be_read_says_so_at_every_moment(visit, believable):  # noqa: F811
    app = visit(believable, "lag", group="reporting", partition="orders-1")

    assert in_markdown("Not observed: not permitted: GROUP_AUTHORIZATION_FAILED (30).") in words(app)
    assert app.dataframe[-1].value["Lag"].isna().all()


def test_a_partition_over_an_hour_is_drawn_from_roll_ups_and_the_newest_samples(visit, believable):  # noqa: F811
    app = visit(believable, "lag", group="order-service", partition="orders-2", range="1h")

    assert "could not be drawn" not in words(app)
    twin = app.dataframe[-1].value
    assert twin["Readable"].notna().any()


def test_a_partition_with_a_hostile_name_is_text(visit, believable):  # noqa: F811
    app = visit(believable, "lag", group=HOSTILE, partition=f"{HOSTILE}-0")

    assert "could not be drawn" not in words(app)
    assert "Owned by" in words(app)
    assert "\u202e" not in words(app) + cells(app)


def _first_seen(app):
    return parse_time(table(app, "Who owned the partition at this moment")["First seen (UTC)"][0])
