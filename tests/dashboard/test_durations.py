"""How long something lasted: seconds up to two minutes, beyond them in two units, and never less than the interval."""

from dataclasses import replace

import pytest

from dashboard import durations, finding_rows, incident_lanes, wording
from dashboard.concerns import concerns
from dashboard.finding_groups import Event
from dashboard.rebalance_words import gained
from dashboard.view import View
from guarantees.findings import Bounds, Unit
from guarantees.lifecycle import FindingHistory
from tests.dashboard import fixture_store

AT_MS = 1_764_000_000_000
VIEW = View("production", AT_MS - 900_000, AT_MS, False, 10, "")
LONG = Bounds(344, None, 350, Unit.SECONDS)


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ((70, 70, 70), "70 seconds"),
        ((20, None, 30), "20 to 30 seconds"),
        ((115, None, 120), "115 to 120 seconds"),
        ((115, None, 121), "1 min 55 s to 2 min 1 s"),
        ((344, None, 350), "5 min 44 s to 5 min 50 s"),
        ((0, None, 350), "at most 5 min 50 s"),
        ((344, None, None), "at least 5 min 44 s"),
        ((0, 344, None), "unknown how long"),
        ((344, 344, 344), "5 min 44 s"),
        ((344, 347, 350), "5 min 47 s (5 min 44 s to 5 min 50 s)"),
        ((3_600, None, 3_601), "1 h to 1 h 1 min"),
        ((3_750, None, 3_750), "1 h 2 min to 1 h 3 min"),
        ((90_001, None, 90_001), "1 d 1 h to 1 d 2 h"),
    ],
)
def test_a_time_of_more_than_two_minutes_is_told_in_two_units_whose_ends_hold_the_interval(bounds, said):
    assert durations.how_much(Bounds(*bounds, Unit.SECONDS)) == said


@pytest.mark.parametrize("bounds", [None, Bounds(344, None, 350, Unit.OFFSETS), Bounds(3, None, 5, Unit.SECONDS)])
def test_all_else_is_told_as_every_amount_is(bounds):
    assert durations.how_much(bounds) == wording.bounds(bounds)


@pytest.mark.parametrize(
    ("offsets", "said"), [(-2_055, "−2,055"), (0, "0"), (1_203, "1,203"), (None, "–")]
)  # fmt: skip
def test_lag_that_a_rebalance_cost_has_the_minus_sign_of_the_tiles(offsets, said):
    assert gained(offsets) == f"lag gained {said} offsets"


def test_lists_of_findings_tell_long_times_so():
    (alone,) = concerns([FindingHistory(replace(fixture_store.frozen(AT_MS), bounds=LONG), AT_MS, AT_MS)], [])

    row = finding_rows.event_row(Event((alone,)), VIEW)

    assert row["How much"] == "5 min 44 s to 5 min 50 s"


def test_a_bar_below_min_isr_tells_a_long_time_so():
    state = {"topic": "t", "topic_id": "id", "partition": 0, "leader": 1, "leader_epoch": 3, "replicas": [1, 2, 3],
             "in_sync_replicas": [1], "min_insync_replicas": 2, "eligible_leader_replicas": None,
             "last_known_eligible_leader_replicas": None, "offline_replicas": [], "started_after_ms": AT_MS - 353_000,
             "started_at_ms": AT_MS - 350_000, "last_seen_at_ms": AT_MS - 6_000, "ended_before_ms": AT_MS - 3_000,
             "ended_reason": "changed"}  # fmt: skip

    found = incident_lanes.lanes([state], [], [], [], [], (), VIEW, gap_ms=15_000)

    assert [one.text for one in found.at_most] == ["5 min 44 s to 5 min 50 s"]
