"""What is drawn and counted: gaps stay gaps, intervals stay intervals, and old evidence is stale."""

import json
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import pytest

from dashboard import (
    chart_rows,
    concerns,
    memberships,
    names,
    partitions,
    promise_questions,
    proposals,
    shapes,
    standing,
    tiles,
)
from dashboard.audit_coverage import Lane, Piece, Stretch
from dashboard.charts.coverage import coverage_lanes
from dashboard.charts.findings import strip
from dashboard.charts.frame import framed
from dashboard.charts.lag import lag_over_time
from dashboard.charts.members import member_lanes
from dashboard.components import clicked_moment
from dashboard.freshness import Freshness, freshness
from dashboard.promise_facts import Seen
from dashboard.shapes import Mark
from dashboard.view import View
from guarantees.cadence import FEW_PARTITIONS
from guarantees.completeness import RoundsSeen
from guarantees.findings import Kind
from guarantees.lifecycle import FindingHistory
from guarantees.promises import Guarantee, Pipeline, Verdict
from guarantees.unknown import Unknown
from guarantees.verdicts import ESSENTIAL, OF_NO_PIPELINE, PipelineVerdict, Sight
from tests.dashboard import fixture_store
from tests.dashboard.fixture_store import HOSTILE

END_MS = 1_764_000_000_000
VIEW = View("production", END_MS - 900_000, END_MS, False, 10, "")
ROUNDS = RoundsSeen(END_MS - 900_000, END_MS, 5_000, 180, END_MS - 900_000, END_MS, 5_000, END_MS - 900_000)
SIGHT = Sight(END_MS, 5.0, (), frozenset(), ROUNDS)
ORDERS = Pipeline("orders", "orders", "order-service", "payments", Guarantee.AT_LEAST_ONCE)


def cell(partition, at_ms, lag, unknown_reason=None, last=None):
    return {"topic": "orders", "partition": partition, "at_ms": at_ms, "lag": lag,
            "last": lag if last is None else last, "unknown_reason": unknown_reason}  # fmt: skip


def verdict(value, name="p", unknowns=()):
    pipeline = Pipeline(name, "t", "g", None, Guarantee.AT_LEAST_ONCE)
    judged = PipelineVerdict(pipeline, value, (), unknowns, value is Verdict.STALE, SIGHT)
    return standing.standing(judged, [], {})


def known(*findings):
    return concerns.concerns([FindingHistory(finding, END_MS, END_MS) for finding in findings], [ORDERS])


def test_an_unobserved_bucket_is_a_gap_in_cells_and_in_the_total():
    history = shapes.lag_history([cell(0, 0, 5), cell(1, 0, 7), cell(0, 10_000, 6)], 0, 20_000, 10_000)

    assert history.total[0] == 12
    assert np.isnan(history.total[1]), "partition 1 was not observed: the sum is withheld"
    assert np.isnan(history.cells[1][1])


def test_an_unknown_partition_withholds_the_total_and_its_reason_is_kept():
    history = shapes.lag_history([cell(0, 0, 5), cell(1, 0, None, "broker 2 did not answer")], 0, 10_000, 10_000)

    assert np.isnan(history.total[0])
    assert history.cells[0][0] == 5
    assert history.unknown_reasons == ("broker 2 did not answer",)


def test_a_bucket_in_which_a_sample_was_unknown_withholds_the_total():
    history = shapes.lag_history([cell(0, 0, 5, "broker 2 did not answer")], 0, 10_000, 10_000)

    assert history.cells[0][0] == 5
    assert np.isnan(history.total[0])


def test_the_highest_lag_of_a_bucket_is_drawn_and_the_last_is_summed():
    history = shapes.lag_history([cell(0, 0, 90, last=3), cell(0, 0, 50, last=4)], 0, 10_000, 10_000)

    assert history.cells[0][0] == 90
    assert history.total[0] == 4


def test_a_sparkline_of_a_table_begins_after_the_last_gap():
    assert shapes.newest_run((9, 9, None, 1, 2, None), 86_400_000) == [1, 2]
    assert shapes.newest_run((None, 4, None), 86_400_000) == []


@pytest.mark.parametrize(
    ("points", "unknown", "is_drawn"), [(6, 2, True), (6, 3, False), (60, 11, True), (60, 12, False)]
)
def test_a_sparkline_that_ended_before_now_is_not_drawn_as_if_it_went_on(points, unknown, is_drawn):
    series = (*range(points - unknown), *[None] * unknown)
    assert bool(shapes.newest_run(series, 900_000)) is is_drawn


def test_of_many_partitions_those_with_most_lag_are_drawn_and_the_rest_is_counted():
    rows = [cell(number, 0, number) for number in range(shapes.LANES + 5)]

    history = shapes.lag_history(rows, 0, 10_000, 10_000)

    assert history.partitions == shapes.LANES + 5
    assert history.labels[0] == "orders-5"
    assert history.total[0] == sum(range(shapes.LANES + 5)), "the total counts what is not drawn too"


def test_the_lag_chart_never_joins_over_a_gap_and_keeps_unknown_cells_empty():
    history = shapes.lag_history([cell(0, 0, 5), cell(0, 20_000, 5)], 0, 30_000, 10_000)

    figure = lag_over_time(history, [Mark("rebalances", END_MS, "<b>x</b>")], VIEW)

    line, heat, marks = figure.data
    assert line.connectgaps is False
    assert np.isnan(heat.z[0][1])
    assert marks.text[0] == "&lt;b&gt;x&lt;/b&gt;"
    assert all(trace.type != "scattergl" for trace in figure.data)


@pytest.mark.parametrize("topic", ["payments.settlements.v1.events", "t" * 249, HOSTILE * 5])
def test_partitions_of_a_topic_with_a_long_name_have_rows_of_their_own(topic):
    rows = [cell(number, 0, number) | {"topic": topic} for number in range(12)]
    lag = lag_over_time(shapes.lag_history(rows, 0, 10_000, 10_000), [], VIEW).data[1]

    lanes = [Lane(f"{topic}-{number}", (Piece(Stretch.READ, 0, 9),), 1, 9, None) for number in range(12)]
    coverage = coverage_lanes(lanes, VIEW).data[0]

    for figure in (lag, coverage):
        assert len(set(figure.y)) == 12
        assert [label.rpartition("-")[2] for label in figure.y] == [str(number) for number in range(12)]
        assert max(map(len, figure.y)) < 60, "cut all the same"


def test_rows_whose_names_differ_only_where_they_are_cut_keep_as_much_as_tells_them_apart():
    topics = [f"payments.settlements.v{number}.events.of.the.northern.region-0" for number in (1, 2)]

    assert len(set(names.told_apart(topics, 24))) == 2
    assert names.told_apart(["orders-1", "orders-1"], 4) == ["or…1", "or…1"]


def test_a_partition_that_lost_its_leader_has_none_and_not_a_broker_of_that_name():
    changes = [{"topic": "orders", "partition": 0, "leader": leader, "at_ms": END_MS} for leader in (2, None)]

    texts = [mark.text for mark in shapes.event_marks([], changes, [])]

    assert texts == ["orders-0: leader is broker 2", "orders-0: no leader"]


def test_in_a_still_window_the_total_and_the_events_carry_their_moments_and_in_a_live_one_nothing_can_be_clicked():
    rows = [cell(0, END_MS - 900_000, 5), cell(0, END_MS - 450_000, 6)]
    history, marks = shapes.lag_history(rows, VIEW.from_ms, END_MS, 450_000), [Mark("rebalances", END_MS - 1, "x")]

    still = lag_over_time(history, marks, replace(VIEW, is_frozen=True))
    total, _, events = still.data
    live = lag_over_time(history, marks, VIEW)

    assert list(total.customdata) == ["2025-11-24T15:45:00.000Z", "2025-11-24T15:52:30.000Z"]
    assert list(events.customdata) == ["2025-11-24T15:59:59.999Z"]
    assert (total.mode, total.marker.opacity) == ("lines+markers", 0), "Plotly selects nothing that has no marker"
    assert live.data[0].mode == "lines"


@pytest.mark.parametrize("distance_ms", [0.5, 1_000, 30_000, 60_000, 12 * 3_600_000, 86_400_000, 7 * 86_400_000])
def test_ticks_at_every_distance_have_iso_days_and_say_utc_in_no_more_than_two_lines(distance_ms):
    figure = framed(go.Figure(), VIEW.from_ms, END_MS, 100)

    formats = [
        stop.value
        for stop in figure.layout.xaxis.tickformatstops
        if (stop.dtickrange[0] or 0) <= distance_ms <= (stop.dtickrange[1] or distance_ms)
    ]
    assert formats
    for one in formats:
        assert one.endswith("UTC")
        assert "%Y-%m-%d" in one
        assert one.count("\n") == 1


def test_a_bucket_that_begins_before_the_window_is_clicked_at_its_edge():
    history = shapes.lag_history([cell(0, END_MS - 900_000, 5)], VIEW.from_ms + 1, END_MS, 450_000)

    total = lag_over_time(history, [], replace(VIEW, from_ms=VIEW.from_ms + 1, is_frozen=True)).data[0]

    assert total.customdata[0] == "2025-11-24T15:45:00.001Z"


@pytest.mark.parametrize(
    ("carried", "moment"),
    [
        ("2025-11-24T16:00:00.000Z", "2025-11-24T16:00:00.000Z"),
        (["2025-11-24T16:00:00.000Z"], "2025-11-24T16:00:00.000Z"),
        ([], None),
        (41.0, None),
        ("<b>", None),
        (None, None),
    ],
)
def test_a_click_chooses_a_moment_or_nothing(carried, moment):
    assert clicked_moment.moment_of([{"customdata": carried}]) == moment
    assert clicked_moment.moment_of([]) is None


@pytest.mark.parametrize("at_ms", [END_MS, VIEW.from_ms - 1])
def test_each_verdict_has_its_own_shape_in_the_strip(at_ms):
    marks = [Mark("kind", at_ms, "text", one) for one in (Verdict.VIOLATED, Verdict.DEGRADED, None)]

    figure = strip(marks, VIEW)

    assert len({trace.marker.symbol for trace in figure.data}) == 3


def test_what_was_before_the_window_points_out_of_it_and_says_its_own_time():
    early = Mark("kind", VIEW.from_ms - 98_000, HOSTILE, Verdict.VIOLATED, 41, "f1")
    marks = [early, replace(early, at_ms=VIEW.from_ms, finding_id="f2")]

    for figure in (strip(marks, VIEW), lag_over_time(shapes.lag_history([], VIEW.from_ms, END_MS, 5_000), marks, VIEW)):
        before, inside = [trace for trace in figure.data if trace.type == "scatter" and trace.mode == "markers"]
        assert (before.marker.symbol, inside.marker.symbol) == ("triangle-left", "x")
        assert before.marker.color == inside.marker.color
        assert list(before.x) == list(inside.x) == ["2025-11-24T15:45:00.000"]
        assert before.text[0].endswith("<br>2025-11-24 15:43:22")
        assert before.hovertemplate == "%{text} UTC, before the window<extra></extra>"
        assert "%{x" not in before.hovertemplate
        assert "%{x" in inside.hovertemplate
        assert not before.cliponaxis, "half of it would be cut away"
    assert [list(trace.customdata) for trace in strip(marks, VIEW).data] == [["f1"], ["f2"]]
    assert shapes.before_note(marks, VIEW.from_ms)
    assert not shapes.before_note(marks[1:], VIEW.from_ms)
    assert [row["From (UTC)"] for row in chart_rows.lane_rows((), [early])] == ["2025-11-24 15:43:22.000"]


def test_member_lanes_show_a_rebalance_above_the_members_and_escape_their_names():
    member = {"client_id": None, "member_id": HOSTILE, "group_instance_id": None, "assignment": '[["orders", 1]]',
              "started_at_ms": END_MS - 60_000, "last_seen_at_ms": END_MS, "ended_before_ms": None}  # fmt: skip
    state = {"state": "PreparingRebalance", "started_at_ms": END_MS - 60_000, "last_seen_at_ms": END_MS - 55_000,
             "ended_before_ms": END_MS - 50_000, "ended_reason": "changed"}  # fmt: skip

    spans = memberships.lanes([member], [state])
    figure = member_lanes(spans, VIEW)

    assert [span.lane for span in spans][0] == "rebalancing"
    assert {trace.name for trace in figure.data} == {"assignment", "rebalancing"}
    assert not any("<img" in str(label) for trace in figure.data for label in trace.y)


def member(member_id, client_id="app", instance=None):
    return {"client_id": client_id, "member_id": member_id, "group_instance_id": instance,
            "assignment": '[["orders", 1]]', "started_at_ms": END_MS - 60_000, "last_seen_at_ms": END_MS,
            "ended_before_ms": None}  # fmt: skip


STATIC = [member(f"payments-{number}-2f6c11d8-{number}", "payments-app", f"payments-{number}") for number in range(3)]
LONG_INSTANCES = [member(f"{at}-9a1b", "app", at) for at in (f"payments-in-the-northern-region-pod-{n}" for n in "01")]
ALIKE = [member(f"{'0' * 60}{number}{'0' * 60}", None) for number in range(3)]


@pytest.mark.parametrize(
    "members",
    [STATIC, LONG_INSTANCES, ALIKE, [member("app-11aa", "app"), member("app-77f0", "app")]],
    ids=["static", "long instances", "alike", "dynamic"],
)
def test_different_members_have_different_names_and_lanes_of_their_own(members):
    spans = memberships.lanes(members, [])

    assert len({span.lane for span in spans}) == len(members)
    (bars,) = member_lanes(spans, VIEW).data
    assert len(set(bars.y)) == len(members)
    held = [row | {"assignment": f'[["orders", {n}]]'} for n, row in enumerate(members)]
    owners = partitions.owners(held, {"state": "Stable"})
    assert len(set(owners.values())) == len(members)


def test_a_static_member_is_called_by_its_instance_before_and_after_a_restart():
    before, after = member("payments-0-11aa", "app", "payments-0"), member("payments-0-77f0", "app", "payments-0")

    assert memberships.member_name(before) == "payments-0"
    assert memberships.member_names([before, after, STATIC[1]]) == {
        "payments-0-11aa": "payments-0", "payments-0-77f0": "payments-0", "payments-1-2f6c11d8-1": "payments-1",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("numbers", "told"),
    [([], "nothing"), ([4], "t 4"), ([2, 1], "t 1, 2"), ([0, 2, 1, 7, 9, 10, 11, 12], "t 0–2, 7, 9–12")],
)
def test_partitions_that_follow_one_another_are_told_by_the_first_and_the_last(numbers, told):
    assert memberships.owned(json.dumps([["t", number] for number in numbers])) == told


def signal(name, at_ms, refused=0, asked=4, **columns):
    return {"signal": name, "observed_at_ms": at_ms, "answered_at_ms": at_ms, "asked": asked,
            "answered": asked - refused, "refused": refused, "failed": 0,
            "error": "not permitted" if refused else None} | columns  # fmt: skip


def test_what_a_large_cluster_is_asked_less_often_makes_no_panel_old():
    rows = [signal("end_offsets", 100), signal("log_start", 80), signal("partition_states", 85)]

    assert freshness(rows, ("end_offsets", "log_start", "partition_states"), 5).observed_at_ms == 100
    assert freshness(rows, ("log_start", "partition_states"), 5).observed_at_ms == 80


@pytest.mark.parametrize(
    ("name", "asked", "rounds"),
    [
        ("partition_states", FEW_PARTITIONS + 1, 2),
        ("log_start", FEW_PARTITIONS + 1, 3),
        ("end_offsets", FEW_PARTITIONS + 1, 1),
        ("partition_states", FEW_PARTITIONS, 1),
    ],
)
def test_what_is_asked_less_often_is_stale_an_interval_after_it_was_to_be_asked_again(name, asked, rounds):
    age = freshness([signal(name, 100, asked=asked)], (name,), 10)

    assert age.expected_every_ms == 10 * rounds
    assert age.verdict(100 + 10 * (rounds + 1)) is Verdict.OK
    assert age.verdict(101 + 10 * (rounds + 1)) is Verdict.STALE


def test_of_signals_with_paces_of_their_own_the_one_that_is_due_first_counts():
    large = FEW_PARTITIONS + 1
    rows = [signal("log_start", 100, asked=large), signal("partition_states", 105, asked=large)]

    assert freshness(rows, ("log_start", "partition_states"), 10).rounds_apart == 2


@pytest.mark.parametrize(
    ("errors", "said"),
    [
        (["not permitted: GROUP_AUTHORIZATION_FAILED (6)"], "GROUP_AUTHORIZATION_FAILED (6)"),
        (["broker 3 did not answer in time (3); not permitted: X (2); a (1)", "not permitted: Y (1)"], "X (2); Y (1)"),
        (["not permitted: X (2)", "not permitted: X (2)"], "X (2)"),
        (["orders-0: Fetch: not permitted: X"], "orders-0: Fetch: X"),
        (["broker 3 did not answer in time (3)"], ""),
        ([], ""),
    ],
)
def test_the_head_of_a_panel_names_what_was_not_permitted_once_and_no_other_reason(errors, said):
    assert Freshness(1, 1, reasons=tuple(errors)).refused_because == said


def test_a_panel_is_as_old_as_its_oldest_part():
    age = freshness([signal("a", 100), signal("b", 50, refused=1), signal("c", 1)], ("a", "b"), 10)

    assert (age.observed_at_ms, age.refused, age.asked) == (50, 1, 8)


def test_a_question_nobody_answered_makes_nothing_younger():
    silent = signal("a", 900, answered=0, failed=4, answered_at_ms=100)
    age = freshness([silent, signal("b", 900)], ("a", "b"), 10)

    assert (age.observed_at_ms, age.failed, age.verdict(900)) == (100, 4, Verdict.STALE)
    assert not age.is_older
    assert freshness([silent | {"is_older": True}], ("a",), 10).is_older


def test_a_signal_that_was_never_seen_makes_the_panel_unknown():
    assert freshness([signal("a", 100, answered_at_ms=None)], ("a",), 10).verdict(100) is Verdict.UNKNOWN
    assert freshness([signal("a", 100)], ("a", "b"), 10).verdict(100) is Verdict.UNKNOWN


def test_without_named_signals_a_panel_rests_on_those_nothing_can_be_said_without():
    rows = [signal(name, 100) for name in ESSENTIAL]

    assert freshness([*rows, signal("configs", 1)], (), 10).observed_at_ms == 100
    assert freshness(rows[1:], (), 10).observed_at_ms is None


def test_evidence_is_stale_after_two_intervals_and_not_before():
    assert Freshness(1_000, 5_000).verdict(11_000) is Verdict.OK
    assert Freshness(1_000, 5_000).verdict(11_001) is Verdict.STALE


def lag_row(group_id, lag, unknown=0, is_left=False):
    return {"group_id": group_id, "topic": "t", "lag": lag, "unknown": unknown, "partitions": 3, "is_left": is_left}


def test_the_lag_tile_is_at_least_all_that_is_known_and_counts_what_is_not():
    tile = tiles.lag([lag_row("a", 5), lag_row("b", 10_000_000, unknown=2)], {"a": (3, 5), "b": (1, 1)}, {})

    assert tile.value == "≥ 10 M"
    assert tile.note == "+2 in the window as far as known · 2 partitions unknown"
    assert tile.series == (4, 6), "one pending commit does not take the past of its group"


def test_the_lag_tile_says_how_many_groups_its_trend_cannot_hold():
    tile = tiles.lag([lag_row("a", 5), lag_row("b", 7, unknown=6)], {"a": (3, 5), "b": (None, None)}, {})

    assert tile.value == "≥ 12"
    assert tile.note == "+2 in the window as far as known · 6 partitions unknown · 1 group not in the trend"


def test_what_cannot_be_read_of_a_topic_that_was_left_leaves_no_lag_open():
    tile = tiles.lag([lag_row("a", 5), lag_row("b", None, unknown=3, is_left=True)], {"a": (3, 5)}, {})

    assert (tile.value, tile.note) == ("5", "+2 in the window · 1 topic no longer read")


def test_the_lag_tile_counts_topics_a_group_has_left_apart():
    tile = tiles.lag([lag_row("a", 5), lag_row("a", None, is_left=True), lag_row("b", None)], {}, {})

    assert tile.value == "5"
    assert tile.note.endswith(" · 1 topic no longer read")


def left(group_id, topic, closed_reason=None):
    finding = fixture_store.findings(END_MS)[0]
    place = replace(finding.place, group_id=group_id, topic=topic)
    return replace(finding, kind=Kind.STALE_SUBSCRIPTION, place=place, closed_reason=closed_reason)


def test_a_topic_is_left_while_the_finding_that_says_so_is_open():
    found = [left("g", "t"), left("g", "u", closed_reason="read again"), replace(left("h", "t"), kind=Kind.REWIND)]

    assert concerns.left_topics(found) == {("g", "t")}


def test_a_lag_of_which_nothing_is_known_is_unknown():
    assert tiles.lag([lag_row("b", None, unknown=3)], {}, {}).verdict is Verdict.UNKNOWN
    assert tiles.lag([lag_row("b", None, unknown=3)], {}, {}).note == "3 partitions cannot be read"
    assert tiles.lag([lag_row("b", None, is_left=True)], {}, {}).note == tiles.NO_COMMIT_READ
    assert tiles.lag([], {}, {}).value == "Unknown"


WHOLE = tiles.Reach(1, 1, "pipeline", "")
PART = replace(WHOLE, of=50)
NOTHING = tiles.Reach(0, 1, "pipeline", "the record jobs last wrote 20 h ago")


def test_no_loss_seen_in_a_sample_has_an_upper_bound():
    tile = tiles.lost([], [{"upper": 236}, {"upper": 5}], WHOLE, END_MS)

    assert (tile.value, tile.note, tile.verdict) == ("0", "at most 236", Verdict.OK)


def test_where_one_pipeline_of_fifty_is_compared_no_loss_is_no_green_light():
    tile = tiles.lost([], [{"upper": 0}], PART, END_MS)

    assert (tile.value, tile.verdict) == ("0", Verdict.UNKNOWN)
    assert tile.note == "all ids compared · 1 of 50 pipelines"


def test_losses_are_unknown_where_nothing_is_compared_and_the_reason_is_said():
    tile = tiles.lost([], [], NOTHING, END_MS)

    assert (tile.value, tile.note) == ("Unknown", "the record jobs last wrote 20 h ago")


def test_no_duplicate_in_a_sample_of_one_in_64_leaves_up_to_237_possible():
    assert tiles.duplicates([], [{"rate": 1 / 64}, {"rate": 1.0}], WHOLE, END_MS).note == "at most 237"
    assert tiles.duplicates([], [{"rate": 1.0}], WHOLE, END_MS).note == "all ids compared"


def test_counts_of_several_findings_add_their_intervals():
    one = fixture_store.lost(END_MS)

    tile = tiles.lost(known(one), [{"upper": 0}], WHOLE, END_MS)

    assert (tile.value, tile.note, tile.verdict) == ("41", "38 to 44 · 1 finding", Verdict.VIOLATED)


def test_a_loss_of_before_is_none_of_the_last_day_because_an_id_of_it_came_late_today():
    one = fixture_store.lost(END_MS)
    before = replace(one, evidence={"decided_at_ms": END_MS - tiles.DAY_MS})

    tile = tiles.lost(known(one, replace(before, anchor="before")), [{"upper": 0}], WHOLE, END_MS)

    assert (tile.value, tile.note) == ("41", "38 to 44 · 1 finding")


def test_what_was_found_stays_on_the_tile_when_the_jobs_stop_and_it_says_so():
    tile = tiles.lost(known(fixture_store.lost(END_MS)), [], NOTHING, END_MS)

    assert (tile.value, tile.verdict) == ("41", Verdict.VIOLATED)
    assert tile.note.endswith(" · the record jobs last wrote 20 h ago")


def test_replication_is_unknown_without_partitions_and_never_green_over_a_shrunk_isr():
    row = {"partitions": 18, "under_replicated": 1, "below_min_isr": 0, "min_isr_unknown": 0, "offline": 0}

    assert tiles.replication([]).verdict is Verdict.UNKNOWN
    assert tiles.replication([row]).verdict is Verdict.DEGRADED
    assert tiles.replication([row | {"under_replicated": 0}]).verdict is Verdict.OK
    assert "min ISR unknown for 18" in tiles.replication([row | {"min_isr_unknown": 18}]).note


@pytest.mark.parametrize(
    ("verdicts", "worst", "sentence"),
    [
        ([], Verdict.UNKNOWN, "Nothing can be judged: no pipeline is known."),
        ([Verdict.OK], Verdict.OK, "Delivery is safe as far as it was observed: 1 pipeline kept the promise."),
        ([Verdict.OK, Verdict.UNKNOWN], Verdict.UNKNOWN,
         "Nothing bad was seen, but 1 pipeline cannot be judged in full. 1 of 2 pipelines kept the promise."),
        ([Verdict.UNKNOWN, Verdict.VIOLATED], Verdict.VIOLATED,
         "Delivery is not safe: 1 of 2 pipelines broke the promise. 1 pipeline cannot be judged in full."),
        ([Verdict.DEGRADED, Verdict.OK], Verdict.DEGRADED, "Delivery is at risk: 1 of 2 pipelines lost its margin."),
        ([Verdict.STALE, Verdict.OK], Verdict.STALE,
         "No fresh answer for 1 of 2 pipelines: nothing was observed lately."),
    ],
)  # fmt: skip
def test_the_headline_is_the_worst_that_is_known_and_never_green_over_gaps(verdicts, worst, sentence):
    assert standing.headline([verdict(one) for one in verdicts]) == (worst, sentence)


def test_pipelines_are_sorted_worst_first():
    sorted_ones = standing.worst_first([verdict(one, str(one)) for one in reversed(list(Verdict))])

    assert [one.judged.verdict for one in sorted_ones] == list(Verdict)


def test_an_unknown_pipeline_says_what_is_missing():
    assert verdict(Verdict.UNKNOWN, unknowns=(Unknown("no answer"),)).reason == "no answer"


def test_what_a_group_has_left_is_no_lag_of_its_pipeline_and_says_why():
    pipeline = Pipeline("p", "t", "g", None, Guarantee.AT_LEAST_ONCE)
    judged = PipelineVerdict(pipeline, Verdict.OK, (), (), False, SIGHT)
    left = lag_row("g", None, is_left=True) | {"unknown_reason": "a leftover"}

    assert (standing.standing(judged, [left], {}).lag, standing.standing(judged, [left], {}).lag_unknown) == (
        None,
        "a leftover",
    )
    assert standing.standing(judged, [], {}).lag_unknown == "no commit was seen"
    gone = replace(judged, sight=replace(SIGHT, not_kept=Unknown("no samples are kept")))
    assert standing.standing(gone, [], {}).lag_unknown == "no samples are kept"


@pytest.mark.parametrize(
    ("signal_name", "asked", "expected"), [("end_offsets", 5_000, 12), ("log_start", 5_000, 4), ("log_start", 9, 12)]
)
def test_rounds_are_expected_as_often_as_their_signal_is_asked_for(signal_name, asked, expected):
    row = standing.NO_ROUND | {"present": 1, "first_ms": 0, "last_ms": 0, "asked": asked}
    assert standing.rounds_seen([row], 0, 60_000, 5_000, signal_name).expected == expected


def coverage_row(signal_name, answered=4, error=None):
    return {"signal": signal_name, "observed_at_ms": END_MS, "asked": 4, "answered": answered, "refused": 0,
            "failed": 4 - answered, "error": error}  # fmt: skip


def test_what_fails_for_another_group_does_not_dim_a_pipeline():
    rows = [coverage_row(name) for name in ESSENTIAL - {"committed_offsets"}]
    rows.insert(0, coverage_row("committed_offsets", answered=3, error="refused"))
    own = [{"group_id": "order-service", "topic": "orders", "partitions": 6, "unknown": 0, "unknown_reason": None}]

    newest = standing.newest(rows, END_MS)
    seen = standing.sight(ORDERS, newest, own, [], frozenset(), ROUNDS)
    unseen = standing.sight(
        ORDERS, newest, [own[0] | {"unknown": 2, "unknown_reason": "not permitted: x"}], [], frozenset(), ROUNDS
    )

    assert seen.coverage[0].is_complete
    assert (unseen.coverage[0].answered, unseen.coverage[0].refused) == (4, 2)


def test_what_the_cluster_hides_of_itself_does_not_dim_a_pipeline():
    rows = [coverage_row(name) for name in ESSENTIAL]
    refused = [coverage_row(name, answered=0, error="not permitted") for name in OF_NO_PIPELINE]

    assert standing.newest([*rows, *refused], END_MS) == standing.newest(rows, END_MS)


def test_a_group_without_any_commit_gives_no_evidence():
    newest = standing.newest([coverage_row(name) for name in ESSENTIAL], END_MS)
    seen = standing.sight(ORDERS, newest, [], [], frozenset(), ROUNDS)

    assert seen.newest_evidence_at_ms is None


def test_open_findings_that_break_a_promise_come_first():
    found = known(*fixture_store.findings(END_MS))

    assert found[0].finding.kind is Kind.LOST_WRITE
    assert found[0].verdict is Verdict.VIOLATED
    assert {one.finding.kind: one.verdict for one in found}[Kind.DUPLICATE_WRITE] is None, "legal under at least once"


def test_a_closed_finding_stands_below_every_open_one_however_bad_it_was():
    closed = replace(fixture_store.lost(END_MS), closed_reason="explained as late")

    found = known(closed, fixture_store.duplicates(END_MS))

    assert [one.finding.kind for one in found] == [Kind.DUPLICATE_WRITE, Kind.LOST_WRITE]


def test_a_proposed_pipeline_escapes_its_names_in_the_snippet():
    row = {"group_id": 'a"b\nc', "topic": "orders"}
    pending = {promise_questions.PENDING_COMMITS: [row | {"observed_at_ms": END_MS}]}

    (pipeline,) = proposals.proposed([row], Seen(pending))

    assert pipeline.is_inferred
    assert pipeline.promise is Guarantee.EXACTLY_ONCE
    assert 'group = "a\\"b\\nc"' in proposals.snippet([pipeline], "production")
