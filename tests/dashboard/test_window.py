"""The window: dragged, moved, widened; the strip under the toolbar; what the page says of its refresh."""

import math

import pandas as pd
import pytest

from dashboard import lag_answers, overall, shapes, total_lag, view
from dashboard.components import brush
from dashboard.total_lag import TotalLag
from dashboard.view import View
from guarantees.lifecycle import Change, FindingEvent
from store.findings import append_events
from store.log import SegmentLog
from store.segments import producer_name
from tests.dashboard import fixture_store
from tests.dashboard.conftest import now_ms
from tests.dashboard.story_window import AT_MS, left
from tests.dashboard.test_pages import empty, visit, words  # noqa: F401

MINUTE_MS = 60_000
LIVE = View("production", AT_MS, AT_MS + 900_000, False, 10, "")


@pytest.mark.parametrize(
    ("ends", "window"),
    [
        ([AT_MS + 0.4, AT_MS + 5_000.6], (AT_MS, AT_MS + 5_001)),
        ([AT_MS, AT_MS + 999], None),
        ([AT_MS + 5_000, AT_MS], None),
        ([AT_MS, AT_MS + view.LONGEST_MS], (AT_MS, AT_MS + view.LONGEST_MS)),
        ([AT_MS, AT_MS + view.LONGEST_MS + 1], None),
        ([-5_000, 5_000], None),
        ([view.LATEST_MS - 5_000, view.LATEST_MS], None),
        ([math.nan, AT_MS], None),
        ([AT_MS, math.inf], None),
        (["now", AT_MS], None),
        ([AT_MS], None),
        ({"from": AT_MS, "to": AT_MS + 5_000}, None),
        (None, None),
    ],
)
def test_a_drag_chooses_a_window_or_nothing(ends, window):
    assert view.dragged_window(ends) == window


def test_every_window_a_drag_can_choose_can_be_named_by_a_link():
    for start in (0, view.LATEST_MS - 10_000):
        chosen = view.dragged_window([start, start + 5_000])
        assert view.parse_window(*(view.format_time(end) for end in chosen)) == chosen


def test_a_window_moves_by_half_its_length_and_never_beyond_now():
    now = AT_MS + 900_000
    assert view.shifted(AT_MS, now, -1, now) == (AT_MS - 450_000, AT_MS + 450_000)
    assert view.shifted(AT_MS - 450_000, AT_MS + 450_000, 1, now) == (AT_MS, now)
    assert view.shifted(AT_MS - 60_000, now - 60_000, 1, now) == (AT_MS, now)
    assert view.shifted(AT_MS, now, 1, now) == (AT_MS, now)
    assert view.shifted(AT_MS + 5_000, now + 5_000, 1, now) == (AT_MS + 5_000, now + 5_000), "a link may lie ahead"


def test_a_wider_window_keeps_its_middle_unless_that_would_lie_ahead():
    now = AT_MS + 900_000
    assert view.widened(AT_MS, AT_MS + 100_000, now) == (AT_MS - 50_000, AT_MS + 150_000)
    assert view.widened(AT_MS, now, now) == (AT_MS - 900_000, now)


def test_no_window_is_wider_than_the_longest_range():
    start, end = view.widened(AT_MS - view.LONGEST_MS, AT_MS, AT_MS)

    assert end - start == view.LONGEST_MS


def lag(*series, left_out=0, known_from=0):
    return TotalLag(series, left_out, known_from)


def test_the_strip_keeps_gaps_and_says_how_high_it_is():
    drawn = overall.strip(lag(1_200, None, 3), 30_000, [], LIVE)

    assert drawn["lag"] == [1_200, None, 3]
    assert drawn["first_ms"] == LIVE.from_ms - LIVE.from_ms % 30_000


@pytest.mark.parametrize(
    ("known", "said"),
    [
        (lag(1_200, 3), "total lag up to 1,200 offsets"),
        (lag(None, 1_200, 3, None, known_from=1), "total lag up to 1,200 offsets"),
        (lag(1_200, None, 3), "total lag up to at least 1,200 offsets, unknown in the gaps"),
        (lag(None, 1_200, 3, known_from=0), "total lag up to at least 1,200 offsets, unknown in the gaps"),
        (lag(1_200, *[None] * 3), "total lag up to at least 1,200 offsets, unknown in the gaps"),
        (lag(1_200, 3, left_out=2), "total lag up to at least 1,200 offsets, 2 groups left out"),
        (lag(5, None, 3, left_out=1), "total lag up to at least 5 offsets, 1 group left out, unknown in the gaps"),
        (lag(None, None), "total lag is unknown"),
    ],
    ids=["whole", "before anybody looked, and not over yet", "a gap", "a gap while others are known",
         "a gap to the end", "without groups", "both", "nothing"],
)  # fmt: skip
def test_the_strip_says_whether_its_height_is_all_that_there_was(known, said):
    assert overall.caption(known, 900_000) == said


def test_ticks_are_the_findings_that_began_in_the_window_and_the_worst_is_drawn_last():
    end_ms = LIVE.to_ms
    found = [fixture_store.lost(end_ms), fixture_store.frozen(end_ms), fixture_store.lost(LIVE.from_ms)]

    assert overall.ticks(found, LIVE) == [(end_ms - 70_000, 2), (end_ms - 9 * MINUTE_MS, 4)]


def test_of_many_findings_the_worst_are_ticks(monkeypatch):
    monkeypatch.setattr(overall, "TICKS", 1)
    found = [fixture_store.lost(LIVE.to_ms), fixture_store.frozen(LIVE.to_ms)]

    assert [severity for _, severity in overall.ticks(found, LIVE)] == [4]


def of_groups(**unknown):
    """Groups with lag now, and how many partitions of each are unknown; of those of six nothing is known."""
    return [{"group_id": name, "lag": None if many == 6 else 1, "unknown": many} for name, many in unknown.items()]


def test_the_total_is_withheld_where_a_group_is_unknown_and_leaves_out_groups_that_mostly_are():
    rows = of_groups(a=0, b=0, refused=6, half=1)
    trends = {"a": (1, 2, 3), "b": (4, None, 4), "refused": (None, None, None), "half": (9, 9, None)}

    known = total_lag.total(rows, trends, {})

    assert known.series == (14, None, None), "what is unknown of a group now does not take its past"
    assert known.left_out == 1


def test_a_group_that_is_unknown_at_most_points_does_not_withhold_the_total_of_the_others():
    rows, trends = of_groups(a=0, rare=1), {"a": (1, 2, 3), "rare": (9, None, None)}

    assert total_lag.total(rows, trends, {}) == TotalLag((1, 2, 3), left_out=1, known_from=0)


def test_a_time_in_which_nobody_looked_leaves_no_group_out():
    rows, trends = of_groups(a=0, b=0), {"a": (None, None, None, 3), "b": (None, None, None, 4)}

    assert total_lag.total(rows, trends, {}) == TotalLag((None, None, None, 7), left_out=0, known_from=3)


def test_a_group_without_lag_now_is_in_no_total():
    rows = [*of_groups(a=0), {"group_id": "gone", "lag": None, "unknown": 0}]

    assert total_lag.total(rows, {"a": (1, 2), "gone": (5, 5)}, {}) == TotalLag((1, 2), left_out=0, known_from=0)


def test_a_group_counts_in_the_total_from_where_it_was_seen_first():
    rows = of_groups(old=0, new=0)
    trends = {"old": (None, 2, 3, 4), "new": (None, None, None, 5)}

    def series(**begins):
        return total_lag.total(rows, trends, begins).series

    assert series(old=0, new=3) == (None, 2, 3, 9)
    assert series(old=0, new=2) == (None, 2, None, 9), "seen, and unknown"
    assert series(old=3, new=3) == (None, None, None, 9)
    assert total_lag.total(rows, trends, {"old": 0, "new": 3}).left_out == 0


def test_who_is_seen_from_the_second_point_on_may_have_been_there_before():
    rows = [
        {"group_id": name, "at_ms": at_ms, "lag": lag}
        for name, at_ms, lag in (("a", 20, 1), ("a", 12, None), ("b", 31, 1), ("c", 9, 1))
    ]

    assert shapes.trend_begins(rows, from_ms=7, step_ms=10) == {"a": 0, "b": 3, "c": 0}


def test_the_points_of_a_trend_are_as_far_apart_as_the_strip_draws_them(visit, believable, monkeypatch):  # noqa: F811
    monkeypatch.setenv("TIDEMARK_SETTINGS", str(believable))
    end_ms = now_ms() // 5_000 * 5_000
    for length_ms in (15 * MINUTE_MS, 60 * MINUTE_MS):
        look = View("production", end_ms - length_ms, end_ms, False, 10, "")
        step_ms = lag_answers.trend_step_ms(look, 60)
        size = len(lag_answers.lag_trend(look, 60)["order-service"])
        assert size == -(-(look.to_ms - (look.from_ms - look.from_ms % step_ms)) // step_ms)
        assert step_ms == shapes.bucket_ms(length_ms, MINUTE_MS if look.needs_rollups else 10_000, 60)


def test_a_topic_that_a_group_has_left_is_in_no_sum_of_the_overview(visit, tmp_path):  # noqa: F811
    end_ms = now_ms()

    def total(name, *events):
        folder = tmp_path / name
        folder.mkdir()
        settings = fixture_store.write_settings(folder)
        fixture_store.build(folder / "data", end_ms, quiet_minutes=5)
        log = SegmentLog(folder / "data", producer_name("host-2", "collect"))
        append_events(log, events)
        log.close()
        app = visit(settings, "overview")
        lags[name] = app.dataframe[0].value.set_index("Pipeline").loc["orders-to-payments", "Lag"]
        return next(metric for metric in app.metric if metric.label == "Lag, offsets")

    def number(tile):
        return int(tile.value.removeprefix("≥ ").replace(",", ""))

    def peak(tile):
        return max(float(value) for value in tile.proto.chart_data)

    lags = {}
    gone = left("order-service", "orders", fixture_store.CLUSTER_ID)
    before, after = total("before"), total("after", FindingEvent(Change.OPENED, end_ms - 5_000, gone))

    assert number(before) - number(after) > 700
    assert peak(before) - peak(after) > 700, "the sparkline still holds the topic that was left"
    assert lags["before"] > 700
    assert pd.isna(lags["after"]), "a leftover is no lag of the pipeline either"


@pytest.mark.parametrize(
    ("look", "is_paused", "said"),
    [
        (LIVE, False, "Live: every 10 s, asked at 16:15:00 UTC."),
        (View("c", 0, 1, False, None, ""), True, "Paused at 16:15:00 UTC: P goes on."),
        (View("c", 0, 1, False, None, ""), False, "Refresh is off, asked at 16:15:00 UTC: R asks again."),
        (View("c", 0, 1, True, None, ""), True, "Frozen: shows the window above and does not refresh."),
    ],
)
def test_the_page_says_whether_it_moves_by_itself(look, is_paused, said):
    assert overall.refresh_state(look, is_paused, LIVE.to_ms) == said


def button(app, key):
    return next(one for one in app.button if one.key == key)


def test_the_buttons_move_and_widen_a_live_window_by_freezing_it(visit, believable):  # noqa: F811
    app = visit(believable, "violations")
    assert "Live: every 10 s" in words(app)

    button(app, "window-earlier").click().run()
    once = window(app)
    assert once[1] - once[0] == 15 * MINUTE_MS
    assert "Frozen window" in words(app)
    assert "Frozen: shows the window above" in words(app)

    button(app, "window-earlier").click().run()
    assert window(app) == (once[0] - 450_000, once[1] - 450_000)
    button(app, "window-later").click().run()
    assert window(app) == once
    button(app, "window-wider").click().run()
    assert window(app)[1] - window(app)[0] == 30 * MINUTE_MS


def test_later_on_a_live_window_leaves_it_live(visit, believable):  # noqa: F811
    app = visit(believable, "violations")

    button(app, "window-later").click().run()

    assert "from" not in app.query_params


def test_every_page_has_the_strip_and_an_empty_store_says_that_lag_is_unknown(visit, believable, empty):  # noqa: F811
    for page in ("overview", "lag", "rebalances", "violations", "health"):
        assert visit(believable, page).get("bidi_component"), page
    app = visit(empty, "violations")
    assert app.get("bidi_component")
    assert "The strip could not be drawn" not in words(app)


def test_a_strip_that_fails_says_why_and_leaves_the_page_alive(visit, believable, monkeypatch):  # noqa: F811
    def broken(*_):
        raise OSError("no **such** file")

    monkeypatch.setattr(brush.overall, "strip", broken)
    app = visit(believable, "violations")

    assert "The strip could not be drawn: no \\*\\*such\\*\\* file" in words(app)
    assert "Findings, worst first" in words(app)


def window(app):
    def text(name):
        value = app.query_params[name]
        return value[0] if isinstance(value, list) else value

    return view.parse_window(text("from"), text("to"))
