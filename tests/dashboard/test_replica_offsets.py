"""What is not replicated, what is held and who is behind: differences, their gaps, and their figure."""

from dataclasses import replace
from math import isnan

import numpy as np
import pytest

from dashboard import replica_offsets, replication_lanes
from dashboard.charts.replication import REPLICAS, replication_over_time
from dashboard.replica_offsets import OTHER_EPOCH, replica_history
from dashboard.replication_lanes import ReplicationLanes
from dashboard.shapes import Span
from guarantees.promises import Verdict
from guarantees.unknown import Unknown
from tests.dashboard.test_replication import FROM_MS, GAP_MS, VIEW, e, s

BASE = 2**53 + 1
STEP_MS = 5_000


def o(tick, high_watermark=BASE, at_s=None, broker=1, **columns):
    """The leader's answer of a round: everything below the high watermark is decided."""
    row = {"tick": tick, "topic": "t", "log_start_offset": BASE - 9, "last_stable_offset": high_watermark,
           "high_watermark": high_watermark, "leader_epoch": 3, "broker": broker,
           "observed_at_ms": FROM_MS + 1000 * (5 * tick if at_s is None else at_s), "log_start_observed_at_ms": FROM_MS,
           "log_start_offset_unknown": None, "last_stable_offset_unknown": None,
           "high_watermark_unknown": None}  # fmt: skip
    return row | columns


def end(tick, replica, log_end_offset, unknown=None, epoch=3):
    return {"tick": tick, "replica": replica, "log_end_offset": log_end_offset, "log_end_offset_unknown": unknown,
            "leader_epoch": None if unknown else epoch, "observed_at_ms": FROM_MS + 5000 * tick + replica}  # fmt: skip


def test_differences_are_exact_above_two_to_the_53():
    ends = {1: end(0, 1, BASE + 7), 2: end(0, 2, BASE + 5)}

    assert replica_offsets.not_replicated(o(0), ends) == 7
    assert replica_offsets.behind(o(0), ends, 2) == 2
    assert replica_offsets.held(o(0, last_stable_offset=BASE - 1)) == 1


def test_a_replica_that_does_not_answer_has_a_reason_and_no_number():
    ends = {1: end(0, 1, BASE), 2: end(0, 2, None, "no answer")}

    assert replica_offsets.behind(o(0), ends, 2) == Unknown("no answer")
    assert replica_offsets.behind(o(0), ends, 3) == Unknown("not sampled in this round")


def test_a_leader_that_does_not_answer_makes_every_difference_to_it_unknown():
    ends = {1: end(0, 1, None, "no answer"), 2: end(0, 2, BASE)}

    assert replica_offsets.behind(o(0), ends, 2) == Unknown("no answer")
    assert replica_offsets.not_replicated(o(0), ends) == Unknown("no answer")


def test_without_a_leader_the_reason_of_its_missing_answer_is_given():
    nobody = o(0, broker=None, high_watermark=None, high_watermark_unknown="no leader", last_stable_offset=None)

    assert replica_offsets.not_replicated(nobody, {1: end(0, 1, BASE)}) == Unknown("no leader")
    assert replica_offsets.held(nobody) == Unknown("no leader")


def test_answers_of_two_leader_epochs_are_not_subtracted():
    assert replica_offsets.not_replicated(o(0), {1: end(0, 1, BASE + 7, epoch=4)}) == OTHER_EPOCH


def test_a_replica_that_answered_later_may_be_ahead_and_is_not_made_zero():
    assert replica_offsets.behind(o(0), {1: end(0, 1, BASE), 2: end(0, 2, BASE + 3)}, 2) == -3


def test_a_missing_round_is_a_gap_in_every_series_and_a_late_one_is_not():
    offsets = [o(0), o(1, at_s=7), o(3)]
    ends = [end(tick, replica, BASE + replica) for tick in (0, 1, 3) for replica in (1, 2)]

    history = replica_history(offsets, ends, STEP_MS)

    assert list((history.at_ms - FROM_MS) / 1000) == [0, 7, 12, 15]
    for series in (history.not_replicated, history.held, *history.behind.values()):
        assert [isnan(value) for value in series] == [False, False, True, False]
    assert list(history.behind[2]) == pytest.approx([-1, -1, np.nan, -1], nan_ok=True)


def test_only_differences_become_float32_and_times_stay_exact():
    history = replica_history([o(0)], [end(0, 1, BASE + 2**20 + 1)], STEP_MS)

    assert history.at_ms.dtype == np.float64
    assert history.not_replicated.dtype == np.float32
    assert int(history.not_replicated[0]) == 2**20 + 1


def test_the_table_shows_every_offset_in_full_digits_with_its_reader_and_its_time():
    state = s(0, 1, 1, 2, offline_replicas=[3])
    ends = {1: end(0, 1, BASE + 7), 2: end(0, 2, BASE + 5), 3: end(0, 3, None, "no answer")}

    leader, follower, silent = replica_offsets.replica_rows(o(0), ends, state)

    assert leader["Log end offset"] == "9007199254741000"
    assert [row["Role"] for row in (leader, follower, silent)] == ["leader", "in sync", "offline"]
    assert [row["Behind the leader, offsets"] for row in (leader, follower, silent)] == ["0", "2", "–"]
    assert (silent["Log end offset"], silent["Unknown because"]) == ("–", "no answer")
    assert leader["Read (UTC)"].endswith(".001")


def test_a_replica_that_was_never_asked_is_in_the_table_too():
    rows = replica_offsets.replica_rows(o(0), {1: end(0, 1, BASE)}, s(0, 1, 1, 2))

    assert [row["Broker"] for row in rows] == ["1", "2", "3"]
    assert rows[2]["Unknown because"] == "not sampled in this round"
    assert rows[2]["Role"] == "not in sync"


def test_what_a_replica_is_is_unknown_where_no_state_was_read():
    rows = replica_offsets.replica_rows(o(0), {1: end(0, 1, BASE), 2: end(0, 2, BASE)}, None)

    assert [(row["Broker"], row["Role"]) for row in rows] == [
        ("1", "unknown: no state was read"), ("2", "unknown: no state was read"),
    ]  # fmt: skip
    moved_away = replica_offsets.replica_rows(o(0), {9: end(0, 9, BASE)}, s(0, 1, 1, 2))
    assert {row["Broker"]: row["Role"] for row in moved_away}["9"] == "no replica now"


def test_the_leaders_offsets_are_text_with_the_reason_of_each_gap():
    high, stable, start = replica_offsets.offset_rows(
        o(1, last_stable_offset=None, last_stable_offset_unknown="refused")
    )

    assert high["Value"] == "9007199254740993"
    assert (stable["Value"], stable["Unknown because"]) == ("–", "refused")
    assert (start["Value"], start["Answered by broker"]) == (str(BASE - 9), "1")
    assert [row["Read (UTC)"][-6:] for row in (high, start)] == ["05.000", "00.000"]


def lanes_of(*history, held=(), unclean=()):
    return replication_lanes.lanes(history, held, set(unclean), VIEW, GAP_MS)


def spans_of(lanes, lane):
    return [(span.text, span.tone) for span in lanes.spans if span.lane == lane]


def test_a_lane_joins_states_in_which_its_own_value_is_the_same():
    lanes = lanes_of(s(0, 100), s(105, 200, 1, 2), s(205, 300, 1, 2, leader=2, leader_epoch=4))

    assert spans_of(lanes, "leader") == [("broker 1, epoch 3", 0), ("broker 2, epoch 4", 1)]
    assert spans_of(lanes, "in sync") == [("3 of 3: 1, 2, 3", 0), ("2 of 3: 1, 2 (without 3)", 1)]
    assert lanes.spans[0] == Span("leader", FROM_MS, FROM_MS + 200_000, 0, "broker 1, epoch 3")


def test_a_lane_is_not_joined_over_time_that_nobody_observed():
    assert len(spans_of(lanes_of(s(0, 100), s(131, 200)), "leader")) == 2
    assert len(spans_of(lanes_of(s(0, 100), s(130, 200)), "leader")) == 1


def test_a_time_without_a_leader_has_the_colour_of_danger_and_its_own_words():
    assert spans_of(lanes_of(s(0, 100, leader=None)), "leader") == [("no leader, epoch 3", None)]


def test_eligible_replicas_have_a_bar_only_where_they_are_known():
    lanes = lanes_of(s(0, 100), s(105, 200, 1, eligible_leader_replicas=[3]), s(205, 300, eligible_leader_replicas=[]))

    assert [text for text, _ in spans_of(lanes, "ELR")] == ["3", "none"]


def test_elections_are_marked_by_what_is_known_of_them():
    held = [e(2, 2), e(3, 3), e(4, 4)]

    assert [mark.verdict for mark in lanes_of(held=held).marks] == [None, Verdict.DEGRADED, Verdict.UNKNOWN]
    caught_up = lanes_of(held=[e(3, 2, 3)], unclean=[4]).marks[0]
    assert caught_up.verdict is Verdict.DEGRADED
    assert caught_up.text.startswith("unclean: 1 → 3, epoch 4")


def drawn(history=None, lanes=None, leaders=frozenset(), view=VIEW):
    ends = [end(0, 1, BASE + 7), end(0, 2, BASE + 7), end(0, 3, None, "no answer")]
    history = history or replica_history([o(0), o(3)], ends, STEP_MS)
    return replication_over_time(history, set(leaders), lanes or ReplicationLanes((), (), ()), view)


def trace(figure, name):
    return next(one for one in figure.data if one.name == name)


def test_the_figure_draws_differences_and_leaves_out_who_always_led():
    figure = drawn(leaders={1})

    assert [one.name for one in figure.data if one.type == "scatter"] == [
        "not replicated yet", "held by a transaction", "broker 2", "broker 3",
    ]  # fmt: skip
    assert trace(figure, "not replicated yet").y[0] == 7
    assert max(np.nanmax(one.y) for one in figure.data if one.name != "broker 3" and one.type == "scatter") < 2**20


def test_no_line_of_the_figure_is_joined_over_a_gap():
    figure = drawn()

    assert all(one.connectgaps is False for one in figure.data if one.type == "scatter")
    assert np.isnan(trace(figure, "held by a transaction").y[1])
    assert np.isnan(trace(figure, "broker 3").y[0])


def test_each_replica_has_its_own_colour_and_its_own_dashes_on_both_themes():
    for is_dark in (False, True):
        figure = drawn(view=replace(VIEW, is_dark=is_dark))
        lines = [trace(figure, f"broker {replica}").line for replica in (1, 2, 3)]
        assert len({line.color for line in lines}) == len({line.dash for line in lines}) == 3
    assert len({dash for _, dash in REPLICAS}) == len(REPLICAS)


def test_low_isr_is_full_for_at_least_and_pale_for_at_most():
    low = lanes_of(s(0, 100, ended_s=105), s(105, 140, 1, after_s=100, ended_s=145), s(145, 900, after_s=140))

    figure = drawn(lanes=low)

    assert list(trace(figure, "at least").x) == [35_000]
    assert list(trace(figure, "at most").x) == [45_000]
    assert list(trace(figure, "at least").text) == ["35 s"]
    names = [one.name for one in figure.data]
    assert names.index("at most") < names.index("at least"), "the pale bar must not cover the full one"


def test_every_lane_has_its_place_even_without_a_bar():
    figure = drawn()

    assert list(figure.layout.yaxis3.categoryarray) == ["elections", "below min ISR", "ELR", "in sync", "leader"]
    assert tuple(figure.layout.yaxis3.range) == (-0.5, 4.5)


def test_a_thousand_points_of_a_series_stay_small():
    """15 minutes of rounds every second, three replicas."""
    offsets = [o(tick, at_s=tick) for tick in range(900)]
    ends = [end(tick, replica, BASE + tick % 7) for tick in range(900) for replica in (1, 2, 3)]

    figure = drawn(replica_history(offsets, ends, 1_000))

    assert all(len(one.x) <= 1_000 for one in figure.data if one.type == "scatter")
    assert len(figure.to_json()) < 150_000
