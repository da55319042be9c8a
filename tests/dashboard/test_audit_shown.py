"""Examples by id, downloads, lanes of what was read, and figures: full digits, differences, and nothing executed."""

import json

import pytest

from dashboard import audit_causes, audit_coverage, audit_examples, spreadsheets
from dashboard.audit_coverage import Stretch
from dashboard.charts.coverage import PIECES, coverage_lanes
from dashboard.charts.interval_bars import interval_bars
from dashboard.view import View
from guarantees.findings import Bounds, Unit
from tests.dashboard.fixture_store import BASE_OFFSET, HOSTILE
from tests.dashboard.test_audit import compared

END_MS = 1_764_000_000_000
VIEW = View("production", END_MS - 900_000, END_MS, False, 10, "")


def copy(**columns):
    return {"partition": 4, "offset": BASE_OFFSET, "producer_id": 1, "producer_epoch": 0, "sequence": 9,
            "timestamp_ms": END_MS} | columns  # fmt: skip


def example(message_id, first, last):
    text = json.dumps({"message_id": message_id, "first": first, "last": last})
    return audit_examples.copy_row({"cause": "sent_twice", "example": text}, "orders")


def test_both_copies_stand_side_by_side_in_full_digits():
    row = example("m", copy(), copy(offset=BASE_OFFSET + 412, timestamp_ms=END_MS + 20_000, producer_id=None))

    assert (row["First copy"], row["Later copy"]) == ("orders-4:9007199254740993", "orders-4:9007199254741405")
    assert (row["Offsets apart"], row["Time apart"]) == ("412", "20 s")
    assert (row["First producer"], row["Later producer"]) == ("id 1 · epoch 0 · sequence 9", "none: not idempotent")


def test_copies_on_two_partitions_have_no_distance_and_a_clock_may_run_backwards():
    row = example(None, copy(), copy(partition=5, timestamp_ms=END_MS - 7))

    assert (row["Offsets apart"], row["Time apart"]) == ("other partition", "7 ms earlier")
    assert row["Message id"] == "only a hash is stored"


def test_a_lost_id_is_nowhere_and_a_late_one_is_where_it_was_found():
    row = {"topic": "orders", "partition": 2, "offset": BASE_OFFSET, "message_id": "m", "state": "lost",
           "observed_at_ms": END_MS, "passed_at_ms": END_MS, "decided_at_ms": END_MS, "found_at": None}  # fmt: skip

    late = audit_examples.lost_row(row | {"state": "late", "found_at": "payments-1:7"})

    assert (audit_examples.lost_row(row)["State"], audit_examples.lost_row(row)["Found in the sink at"]) == (
        "✕ Lost", "nowhere")  # fmt: skip
    assert (late["State"], late["Found in the sink at"]) == ("◷ Late", "payments-1:7")
    assert late["Source"] == "orders-2:9007199254740993"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_a_cell_that_a_spreadsheet_would_execute_is_text(start):
    assert spreadsheets.cell(f"{start}1+1").startswith("'")
    assert spreadsheets.csv_text([{f"{start}name": f"{start}1"}]).count("'") == 2


def test_a_cell_hides_nothing_and_keeps_every_digit():
    assert spreadsheets.cell("a\u202eb") == "a\\u202eb"
    assert spreadsheets.cell(None) == ""
    assert spreadsheets.csv_text([{"a": BASE_OFFSET, "b": 'x,"y"'}]) == 'a,b\r\n9007199254740993,"x,""y"""\r\n'
    assert spreadsheets.csv_text([]) == "\r\n"


def piece_row(first, following, state="complete", partition=0, topic_id="id"):
    return {"topic_id": topic_id, "partition": partition, "state": state, "first_offset": BASE_OFFSET + first,
            "next_offset": BASE_OFFSET + following, "records": following - first, "ranges": 1}  # fmt: skip


def stored(partition=0, stable=100, **columns):
    return {"topic_id": "id", "partition": partition, "log_start_offset": BASE_OFFSET - 5,
            "log_start_offset_unknown": None, "last_stable_offset": None if stable is None else BASE_OFFSET + stable,
            "last_stable_offset_unknown": "refused" if stable is None else None} | columns  # fmt: skip


def test_a_lane_shows_what_was_read_purged_missing_and_left():
    rows = [piece_row(0, 50), piece_row(50, 60, "purged"), piece_row(70, 90)]

    (lane,) = audit_coverage.lanes("orders", rows, [stored()])

    assert [(piece.stretch, piece.offsets) for piece in lane.pieces] == [
        (Stretch.READ, 50), (Stretch.PURGED, 10), (Stretch.GAP, 10), (Stretch.READ, 20), (Stretch.LEFT, 10),
    ]  # fmt: skip
    row = audit_coverage.lane_row(lane)
    assert (row["Read from"], row["Read to"]) == (str(BASE_OFFSET), str(BASE_OFFSET + 90))
    assert (row["Offsets read"], row["Purged"], row["Gaps"], row["Not read yet"]) == (70, 10, 10, 10)
    assert row["Older offsets kept"] == 5
    assert audit_coverage.summary([lane]) == (
        "70 of 100 offsets were read, 10 purged before it was read, 10 in no range, 10 not read yet."
    )


def test_what_is_left_is_unknown_where_the_stable_offset_is():
    refused, unsampled = (
        audit_coverage.lane_row(audit_coverage.lanes("orders", [piece_row(0, 5)], logs)[0])
        for logs in ([stored(stable=None)], [])
    )

    assert (refused["Not read yet"], refused["Last stable"]) == (None, "unknown: refused")
    assert (unsampled["Not read yet"], unsampled["Log start"]) == (None, "unknown: not sampled")
    assert unsampled["Older offsets kept"] is None


def test_lanes_that_miss_most_come_first():
    rows = [piece_row(0, 100, partition=number) for number in range(60)] + [piece_row(0, 9, partition=99)]

    found = audit_coverage.lanes("orders", rows, [stored(99)])

    assert found[0].label == "orders-99"
    assert len(found) == 61


def test_two_histories_of_a_topic_have_lanes_of_their_own():
    found = audit_coverage.lanes("orders", [piece_row(0, 9), piece_row(0, 9, topic_id="anew")], [])

    assert {lane.label for lane in found} == {"orders-0 (id)", "orders-0 (anew)"}


def test_lanes_are_drawn_as_differences_each_kind_with_its_own_hatching():
    rows = [piece_row(0, 50), piece_row(50, 60, "purged"), piece_row(70, 90)]

    figure = coverage_lanes(audit_coverage.lanes("orders", rows, [stored()]), VIEW)

    by_name = {trace.name: trace for trace in figure.data}
    assert list(by_name["read"].base) == [0, 70]
    assert list(by_name["read"].x) == [50, 20]
    assert len({trace.marker.pattern.shape for trace in figure.data}) == len(by_name) == len(Stretch)
    assert str(BASE_OFFSET + 50) in by_name["purged before it was read"].text[0]
    assert figure.layout.xaxis.title.text.startswith("offsets")


def test_no_more_pieces_are_drawn_than_a_browser_draws_well_and_the_longest_are_kept():
    rows = [piece_row(10 * n, 10 * n + (5 if n else 9)) for n in range(PIECES + 50)]

    figure = coverage_lanes(audit_coverage.lanes("orders", rows, []), VIEW)

    assert {len(trace.x) for trace in figure.data} == {PIECES}
    assert max(figure.data[0].x) == 9


def test_hostile_names_are_text_in_both_figures():
    lanes = audit_coverage.lanes(HOSTILE, [piece_row(0, 9)], [])
    figures = [coverage_lanes(lanes, VIEW), interval_bars([(HOSTILE, Bounds(1, 2, 3, Unit.RECORDS))], "records", VIEW)]

    for figure in figures:
        assert "<img" not in figure.to_json()
        assert "&lt;img" in figure.to_json().replace("\\u0026", "&").replace("\\u003c", "<")


def test_a_bar_has_the_whiskers_of_its_interval():
    amounts = [("a", Bounds(15, 128, 463, Unit.RECORDS)), ("b", Bounds(2, None, None, Unit.RECORDS))]

    (bars,) = interval_bars(amounts, "records", VIEW).data

    assert list(bars.x) == [128, 2]
    assert (list(bars.error_x.arrayminus), list(bars.error_x.array)) == ([113, 0], [335, 0])
    assert list(bars.text) == ["128 (15 to 463)", "at least 2"]


def test_lost_ids_are_scaled_and_late_ones_are_counted_in_the_sample():
    amounts = audit_causes.of_comparison(compared(lost=41, lower=38, estimate=41, upper=44, late=3, unseen=12))

    assert [(name, bounds.lower, bounds.upper) for name, bounds in amounts] == [
        ("Lost", 38, 44), ("Late, in the sample", 3, 3), ("Waiting, in the sample", 12, 12)]  # fmt: skip
