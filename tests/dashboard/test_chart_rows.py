"""What a chart draws stands in its tables: every moment, the newest first, and no gap filled."""

import numpy as np

from dashboard import chart_rows, rebalance_costs
from dashboard.low_isr import LowStretch
from dashboard.replica_offsets import ReplicaHistory
from dashboard.replication_lanes import ELECTIONS, LEADER, ReplicationLanes
from dashboard.shapes import LagHistory, Mark, Span
from tests.dashboard.fixture_store import HOSTILE

AT_MS = 1_764_000_000_000


def test_of_a_partition_every_distance_has_a_row_and_a_missing_round_is_a_gap():
    history = ReplicaHistory(
        np.array([AT_MS, AT_MS + 5_000], dtype=np.float64),
        np.array([3, np.nan], dtype=np.float32),
        np.array([0, np.nan], dtype=np.float32),
        {1: np.array([0, np.nan]), 2: np.array([7, np.nan])},
    )

    distances, _ = chart_rows.of_replication(history, {1}, ReplicationLanes((), (), ()))

    known = {"Time (UTC)": "2025-11-24 16:00:00.000", "Not replicated": 3, "Held by a transaction": 0}
    gap = {"Time (UTC)": "2025-11-24 16:00:05.000", "Not replicated": None, "Held by a transaction": None}
    assert distances.rows == [gap | {"Broker 2 behind": None}, known | {"Broker 2 behind": 7}]


def test_leaders_elections_and_the_time_below_min_isr_stand_in_one_order():
    low = LowStretch(AT_MS + 1_000, AT_MS + 2_000, AT_MS + 8_000, AT_MS + 11_000, observed_ms=6_000)
    lanes = ReplicationLanes(
        [Span(LEADER, AT_MS, AT_MS + 9_000, 0, "broker 1, epoch 3")], [low],
        [Mark(ELECTIONS, AT_MS + 9_000, "clean: 1 → 2")],
    )  # fmt: skip
    nothing = ReplicaHistory(np.array([]), np.array([]), np.array([]), {})

    _, told = chart_rows.of_replication(nothing, set(), lanes)

    assert [(row["Lane"], row["What"], row["Last seen (UTC)"][11:19]) for row in told.rows] == [
        ("elections", "clean: 1 → 2", ""),
        ("below min ISR", "for at least 6 s, at most 10 s", "16:00:08"),
        ("leader", "broker 1, epoch 3", "16:00:09"),
    ]


def test_rebalances_that_are_counted_have_a_row_for_every_bar():
    (counted,) = chart_rows.of_storm(rebalance_costs.Counts(AT_MS, 60_000, np.array([2, 0, np.nan])))

    assert [(row["From (UTC)"][11:19], row["Rebalances"]) for row in counted.rows] == [
        ("16:02:00", None), ("16:01:00", 0), ("16:00:00", 2),
    ]  # fmt: skip


def test_names_that_hide_characters_are_written_out():
    history = LagHistory(AT_MS, 5_000, (f"{HOSTILE}-0",), np.array([[1.0]]), np.array([1.0]), 1, ())

    over_time, events = chart_rows.of_lag(history, [Mark("findings", AT_MS, HOSTILE)])

    assert not [
        name for row in (*over_time.rows, *events.rows) for name in (*row, *row.values()) if "\u202e" in str(name)
    ]
