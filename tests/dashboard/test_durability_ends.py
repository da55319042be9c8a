"""The upper ends of a report of durability, of one partition whose states have a gap that the rounds do not have."""

from types import SimpleNamespace

from dashboard.reports import below_min_isr
from dashboard.reports.states import StatesSeen
from guarantees.findings import Bounds, Unit
from store.tables.intervals import NOT_OBSERVED
from tests.dashboard.test_replication import END_MS, FROM_MS, GAP_MS, s

SEEN = StatesSeen(1, 0, ("id-t-0",), ())


def below(*history):
    look = SimpleNamespace(from_ms=FROM_MS, to_ms=END_MS, gaps=())
    one = below_min_isr.below(history, look, GAP_MS)
    lines = [part.text for part in below_min_isr._below_sentences(look, SEEN, [one])]
    return one, lines[1]


def test_a_gap_between_good_states_leaves_neither_time_an_upper_end():
    one, line = below(
        s(0, 235, ended_s=240), s(240, 295, 1, after_s=235, ended_s=300),
        s(300, 540, after_s=295, ended_s=600, ended_reason=NOT_OBSERVED), s(600, 900, after_s=540),
    )  # fmt: skip

    assert (one.below, one.offline) == (Bounds(55, None, None, Unit.SECONDS), Bounds(0, None, None, Unit.SECONDS))
    assert one.unknown_because == "it was not observed all the time"
    assert line.endswith("65 s at most while it was observed.")


def test_a_gap_within_a_time_below_bounds_that_time_and_leaves_the_time_offline_open():
    one, line = below(
        s(0, 100, 1, ended_s=200, ended_reason=NOT_OBSERVED), s(200, 250, 1, after_s=100, ended_s=255),
        s(255, 900, after_s=250),
    )  # fmt: skip

    assert (one.below, one.offline) == (Bounds(150, None, 255, Unit.SECONDS), Bounds(0, None, None, Unit.SECONDS))
    assert one.unknown_because == "it was not observed all the time"
    assert line.endswith("255 s at most.")


def test_a_partition_that_was_watched_all_the_time_has_both_ends_and_no_reason():
    one, _ = below(s(0, 900, 1))

    assert (one.below.upper, one.offline.upper, one.unknown_because) == (900, 0, None)
