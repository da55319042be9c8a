"""What a rebalance cost: pause as an interval, lag gained, what moved; storms are counted."""

import json

import numpy as np
import pytest

from dashboard import queries, rebalance_answers, rebalance_costs, rebalance_questions
from dashboard.charts.storm import rebalances_per_bucket
from dashboard.rebalance_costs import Pause
from dashboard.view import View
from store.log import SegmentLog
from store.segments import producer_name
from store.tables.intervals import NOT_OBSERVED
from tests.dashboard import fixture_store
from tests.dashboard.conftest import now_ms
from tests.dashboard.fixture_store import HOSTILE
from tests.dashboard.story_window import AT_MS, STEP_MS, state
from tests.dashboard.test_pages import cells, visit, words  # noqa: F401

VIEW = View("production", AT_MS, AT_MS + 900_000, False, 10, "")


def change(after, observed, group_id="g", moved=()):
    """A rebalance between two rounds."""
    return {
        "group_id": group_id, "changed_after_ms": None if after is None else AT_MS + after * STEP_MS,
        "observed_at_ms": AT_MS + observed * STEP_MS, "joined": '["m-2"]', "left": "[]", "cause": "1 member joined",
        "moved": json.dumps(moved), "group_epoch": None,
    }  # fmt: skip


def unsettled(started, last_seen, ended):
    return state("PreparingRebalance", started, last_seen, ended)


@pytest.mark.parametrize(
    ("states", "known", "said"),
    [
        ([], Pause(0, 25_000), "at most 25 s"),
        ([unsettled(1, 3, 4), unsettled(4, 4, 5)], Pause(15_000, 25_000), "15 s to 25 s"),
        ([unsettled(2, 2, 3)], Pause(0, 25_000), "at most 25 s"),
        ([unsettled(1, 6, 8)], Pause(25_000, 40_000), "25 s to 40 s"),
        ([unsettled(1, 6, None)], Pause(25_000, None), "at least 25 s"),
        ([unsettled(1, 6, 2_000) | {"ended_reason": NOT_OBSERVED}], Pause(25_000, None), "at least 25 s"),
        ([unsettled(-9, -4, -3), unsettled(8, 9, 10)], Pause(0, 25_000), "at most 25 s"),
        ([{**unsettled(1, 3, 4), "group_id": "another"}], Pause(0, 25_000), "at most 25 s"),
    ],
    ids=[
        "unseen",
        "two states",
        "one sample",
        "longer than the change",
        "not over",
        "nobody looked",
        "before and after",
        "other group",
    ],
)
def test_a_pause_is_an_interval_between_samples(states, known, said):
    assert rebalance_costs.pause(change(0, 5), states) == known
    assert rebalance_costs.paused(known) == said


def test_a_change_without_a_sample_before_it_has_no_known_pause():
    assert rebalance_costs.paused(rebalance_costs.pause(change(None, 5), [])) == "not observed"


@pytest.mark.parametrize(
    ("before", "after", "gained"), [(10, 25, 15), (25, 10, -15), (0, 0, 0), (None, 10, None), (10, None, None)]
)
def test_lag_gained_is_unknown_where_a_round_around_the_change_is(before, after, gained):
    assert rebalance_costs.lag_gained({"lag_before": before, "lag_after": after}) == gained


def test_without_rounds_around_it_the_lag_gained_is_unknown():
    assert rebalance_costs.lag_gained(None) is None


def test_what_moved_names_old_and_new_owner_and_cuts_hostile_names():
    rows = rebalance_costs.moves(change(0, 5, moved=[["orders", 2, "m-1", "m-2"], ["orders", 3, None, HOSTILE]]))

    assert rows[0] == {"Partition": "orders-2", "Old owner": "m-1", "New owner": "m-2"}
    assert rows[1]["Old owner"] == "nobody"
    assert len(rows[1]["New owner"]) <= 80
    assert "\u202e" not in rows[1]["New owner"]


def test_a_storm_is_more_rebalances_than_lanes_can_show():
    many = [change(0, number) for number in range(rebalance_costs.STORM + 1)]
    few = [change(0, number, group_id="calm") for number in range(rebalance_costs.STORM)]

    assert rebalance_costs.storms(many + few) == {"g": rebalance_costs.STORM + 1}


def test_a_storm_is_one_row_of_the_table_where_its_newest_stands_and_selects_its_group():
    storm = [change(0, 900 - number) for number in range(rebalance_costs.STORM + 1)]
    calm = [change(0, 899, group_id="calm"), change(0, 3, group_id="calm")]
    found = [storm[0], calm[0], *storm[1:], calm[1]]

    rows = rebalance_costs.listed(found)

    assert rows == [(storm[0], rebalance_costs.STORM + 1), (calm[0], 1), (calm[1], 1)]
    assert [rebalance_answers.identity_of_row(*one).partition("@")[0] for one in rows] == ["g", "calm", "calm"]
    assert rebalance_answers.identity_of_row(*rows[0]) == "g@storm", "the same while it goes on"


def test_a_storm_is_counted_by_bucket_and_is_zero_only_where_groups_were_asked():
    asked = [{"at_ms": AT_MS + at} for at in (-10_000, 0, 10_000, 50_000)]
    rebalances = [change(0, 1), change(0, 1), change(0, 7)]

    known = rebalance_costs.per_bucket(rebalances, asked, (AT_MS, AT_MS + 60_000), 10_000)

    np.testing.assert_array_equal(known.counts, [2, 0, np.nan, 1, np.nan, 0])
    figure = rebalances_per_bucket(known, VIEW)
    np.testing.assert_array_equal(figure.data[0].y, known.counts)
    assert [(one.x0[17:19], one.x1[17:19]) for one in figure.layout.shapes] == [("20", "30"), ("40", "50")]


def test_groups_are_asked_about_the_time_since_the_round_before(log, tmp_path):
    log.append("rounds", [
        {"cluster_id": "c", "cluster": "x", "tick": tick, "signal": signal, "answered": answered, "asked": 1,
         "observed_at": AT_MS + at, "interval_ms": STEP_MS}
        for tick, (signal, answered, at) in enumerate((
            ("groups", 1, 12_000), ("groups", 1, 19_000), ("end_offsets", 1, 45_000), ("groups", 0, 65_000),
        ))
    ])  # fmt: skip

    rows = queries.ask(
        tmp_path, AT_MS, AT_MS + 100_000, rebalance_questions.BUCKETS_ASKED, {"cluster_id": "c", "step_ms": 10_000}
    )

    assert [row["at_ms"] - AT_MS for row in rows] == [0, 10_000]


@pytest.fixture
def log(tmp_path):
    log = SegmentLog(tmp_path, producer_name("host", "collect"))
    yield log
    log.close()


def rounds(log, lags):
    """Lag of group g on orders-0 by round; None: the commit could not be read."""
    log.append("committed_offsets", [
        {"cluster_id": "c", "tick": tick, "group_id": "g", "topic": "orders", "topic_id": "id", "partition": 0,
         "committed_offset": None if lag is None else 100 - lag, "is_pending": False,
         "committed_offset_unknown": None if lag is not None else "refused", "observed_at": AT_MS + tick * STEP_MS}
        for tick, lag in enumerate(lags)
    ])  # fmt: skip
    log.append("partition_offsets", [
        {"cluster_id": "c", "tick": tick, "topic": "orders", "topic_id": "id", "partition": 0, "log_start_offset": 0,
         "last_stable_offset": 100, "high_watermark": 100, "observed_at": AT_MS + tick * STEP_MS + 10}
        for tick in range(len(lags))
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("lags", "before", "after"),
    [
        ([5, 7, 30, 40, 90], 7, 40),
        ([5, None, 30, 40, 90], None, 40),
        ([5, 7, 30], 7, None),
    ],
    ids=["known", "unknown before", "no round after"],
)
def test_the_lag_around_a_change_is_that_of_the_rounds_before_and_after_it(log, tmp_path, lags, before, after):
    rounds(log, lags)
    log.append("rebalances", [
        {"cluster_id": "c", "group_id": "g", "tick": 3, "changed_after": AT_MS + STEP_MS, "cause": "1 member joined",
         "observed_at": AT_MS + 3 * STEP_MS},
    ])  # fmt: skip

    question = rebalance_questions.LAG_AROUND
    (row,) = queries.ask(tmp_path, AT_MS - 60_000, AT_MS + 60_000, question, {"cluster_id": "c"})

    assert (row["lag_before"], row["lag_after"]) == (before, after)


def test_only_the_states_of_a_classic_group_that_stop_its_members_are_a_pause(log, tmp_path):
    seen = {"cluster_id": "c", "last_seen_at": AT_MS + 5_000, "started_at": AT_MS}
    log.append("group_state", [
        seen | {"group_id": "g", "state": "CompletingRebalance"},
        seen | {"group_id": "kip-848", "state": "Reconciling"},
        seen | {"group_id": "calm", "state": "PreparingRebalance"},
    ])  # fmt: skip
    log.append("rebalances", [
        {"cluster_id": "c", "group_id": group_id, "tick": 1, "observed_at": AT_MS, "cause": "1 member joined"}
        for group_id in ("g", "kip-848")
    ])  # fmt: skip

    question = rebalance_questions.REBALANCING
    rows = queries.ask(tmp_path, AT_MS - 60_000, AT_MS + 60_000, question, {"cluster_id": "c"})

    assert [row["group_id"] for row in rows] == ["g"]


def test_the_table_shows_what_each_rebalance_cost(visit, believable):  # noqa: F811
    app = visit(believable, "rebalances")

    table = app.dataframe[0].value
    assert list(table["Pause"]) == ["at most 5 s", "15 s to 25 s"]
    assert table["Lag gained"].notna().all()
    assert table["Lag gained"][1] > 0, "it piled up when a member left"


def test_the_selected_rebalance_shows_what_moved_and_its_cost(visit, believable):  # noqa: F811
    chosen = _identities(visit(believable, "rebalances"), believable)[1]

    app = visit(believable, "rebalances", rebalance=chosen)

    assert "**Selected rebalance** seen" in words(app)
    assert "pause 15 s to 25 s" in words(app)
    moved = app.dataframe[1].value
    assert list(moved["Old owner"]) == ["order-service-1-9a1b"]
    assert list(moved["New owner"]) == ["order-service-2-77f0"]


def test_a_rebalance_long_ago_has_no_lag_in_the_table_and_its_own_when_selected(visit, tmp_path):  # noqa: F811
    settings = fixture_store.write_settings(tmp_path)
    fixture_store.build(tmp_path / "data", now_ms() - 25 * 60_000, quiet_minutes=30)

    app = visit(settings, "rebalances", range="1h")
    chosen = visit(settings, "rebalances", range="1h", rebalance=_identities(app, settings)[1])

    assert app.dataframe[0].value["Lag gained"].isna().all()
    assert "lag gained – offsets" not in words(chosen)
    assert "**Selected rebalance** seen" in words(chosen)


def test_a_storm_is_shown_as_a_count_and_not_as_lanes(visit, tmp_path):  # noqa: F811
    settings = fixture_store.write_settings(tmp_path)
    story_ms = now_ms()
    fixture_store.build(tmp_path / "data", story_ms, quiet_minutes=5)
    log = SegmentLog(tmp_path / "data", producer_name("host-2", "collect"))
    log.append("rebalances", [
        {"cluster_id": fixture_store.CLUSTER_ID, "group_id": HOSTILE, "tick": 0,
         "changed_after": story_ms - number * 5_000 - 5_000, "observed_at": story_ms - number * 5_000,
         "joined": "[]", "left": "[]", "moved": "[]", "cause": "1 member joined"}
        for number in range(1, 61)
    ])  # fmt: skip
    log.close()

    app = visit(settings, "rebalances")

    assert "Storm]" in words(app)
    assert "60 rebalances are too many to draw one by one" in words(app)
    assert "Each bar is one assignment" not in words(app)
    table = app.dataframe[0].value
    assert list(table["Rebalances"]) == [60, 1, 1], "what else was rebalanced that night is not pushed out"
    assert table["Cause (inferred)"][0] == "▲ Storm; the newest: 1 member joined"
    assert table.loc[0, ["Pause", "Lag gained", "Joined", "Left", "Partitions moved"]].isna().all()
    assert list(table["Group"])[1:] == ["order-service", "order-service"]
    chosen = visit(settings, "rebalances", rebalance=f"{HOSTILE}@storm")
    assert "60 rebalances are too many to draw one by one" in words(chosen)
    assert "\u202e" not in words(app) + cells(app)


def test_a_link_to_a_rebalance_that_is_not_in_the_window_shows_its_group(visit, believable):  # noqa: F811
    app = visit(believable, "rebalances", rebalance="order-service@1")

    assert "Group **order\\-service**" in words(app)
    assert "Selected rebalance" not in words(app)


def test_a_rebalance_is_named_by_group_and_time():
    assert rebalance_answers.identity(change(0, 5)) == f"g@{AT_MS + 5 * STEP_MS}"


def _identities(app, settings):
    """The links of the rows, from the store."""
    shown = app.dataframe[0].value
    rows = queries.ask(
        settings.parent / "data", now_ms() - 3_600_000, now_ms(), queries.REBALANCES,
        {"cluster_id": fixture_store.CLUSTER_ID},
    )  # fmt: skip
    assert len(rows) == len(shown)
    return [rebalance_answers.identity(row) for row in rows]
