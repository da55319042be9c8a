import pytest

from collectors.intervals import CHANGED, NO_DETAIL, Interval, Seen, advance, columns, interval, rows
from store.log import arrow_table
from store.rows import python_rows
from store.tables.intervals import NOT_OBSERVED

GAP_MS = 100
KEY = ("subject",)


def seen(value: int, at_ms: int, **detail: object) -> dict[tuple[str], Seen]:
    return {KEY: Seen({"value": value}, at_ms, detail)}


def steps(*observations: dict[tuple[str], Seen], gone=lambda _: None):
    running, written = {}, []
    for number, observation in enumerate(observations):
        step = advance(running, observation, gap_ms=GAP_MS, now_ms=1_000 + number, gone=gone)
        running, written = step.running, [*written, list(step.written)]
    return running, written


def test_the_first_sight_begins_an_interval_of_which_nothing_before_is_known():
    running, written = steps(seen(1, 10))

    assert written == [[Interval(KEY, {"value": 1}, {}, 10, None, 10)]]
    assert running[KEY].ended_before_ms is None


def test_the_same_value_is_stated_again_in_each_round():
    _, written = steps(seen(1, 10), seen(1, 60), seen(1, 110))

    assert [[(each.started_at_ms, each.last_seen_at_ms) for each in round_] for round_ in written] == [
        [(10, 10)],
        [(10, 60)],
        [(10, 110)],
    ]


def test_another_value_ends_the_interval_and_bounds_both_ends():
    _, written = steps(seen(1, 10), seen(2, 60))

    ended, begun = written[1]
    assert (ended.last_seen_at_ms, ended.ended_before_ms, ended.ended_reason) == (10, 60, CHANGED)
    assert (begun.started_after_ms, begun.started_at_ms, begun.ended_before_ms) == (10, 60, None)


def test_a_detail_is_kept_up_to_date_and_ends_nothing():
    running, written = steps(seen(1, 10, sequence=4), seen(1, 60, sequence=9))

    assert [each.ended_before_ms for each in written[1]] == [None]
    assert running[KEY].detail == {"sequence": 9}


def test_a_value_that_was_not_observed_neither_ends_nor_extends_an_interval():
    running, written = steps(seen(1, 10), {}, seen(1, 60))

    assert written[1] == []
    assert (running[KEY].started_at_ms, running[KEY].last_seen_at_ms) == (10, 60)


@pytest.mark.parametrize(("at_ms", "is_gap"), [(10 + GAP_MS, False), (10 + GAP_MS + 1, True)])
def test_after_a_gap_the_same_value_begins_anew_because_nobody_looked(at_ms, is_gap):
    running, written = steps(seen(1, 10), seen(1, at_ms))

    assert running[KEY].started_at_ms == (at_ms if is_gap else 10)
    if is_gap:
        assert running[KEY].started_after_ms == 10
        assert (written[1][0].ended_before_ms, written[1][0].ended_reason) == (at_ms, NOT_OBSERVED)


def test_a_subject_that_is_surely_gone_ends():
    running, written = steps(seen(1, 10), {}, gone=lambda _: "deleted")

    assert running == {}
    assert [(each.ended_before_ms, each.ended_reason, each.last_seen_at_ms) for each in written[1]] == [
        (1_001, "deleted", 10)
    ]


def test_a_subject_that_was_seen_is_never_gone():
    running, _ = steps(seen(1, 10), seen(1, 20), gone=lambda _: "deleted")

    assert running[KEY].ended_before_ms is None


@pytest.mark.parametrize("is_ended", [False, True])
def test_an_interval_comes_back_from_the_store_as_it_was(is_ended):
    kept = Interval(
        key=("00000000-0000-4000-8000-000000000001", 3, 7, 1, 12),
        value={"topic": "orders"},
        detail={"last_sequence": 4, "last_timestamp": 5, "coordinator_epoch": -1},
        started_at_ms=10,
        started_after_ms=5,
        last_seen_at_ms=20,
        ended_before_ms=30 if is_ended else None,
        ended_reason=CHANGED if is_ended else None,
    )

    (row,) = python_rows("open_producers", arrow_table("open_producers", rows("open_producers", "c", [kept])))

    assert interval("open_producers", row, ("last_sequence", "last_timestamp", "coordinator_epoch")) == kept


def test_intervals_as_columns_are_the_same_rows():
    value = {
        "topic": "orders",
        "leader": None,
        "leader_epoch": 4,
        "replicas": [1, 2],
        "in_sync_replicas": [2],
        "eligible_leader_replicas": None,
        "last_known_eligible_leader_replicas": [1],
        "offline_replicas": [],
        "min_insync_replicas": 2,
    }
    kept = [
        Interval(("id", 0), value, {}, 10, None, 20),
        Interval(("id", 1), {**value, "leader": 1}, {}, 10, 5, 20, 30, CHANGED),
    ]

    assert columns("partition_state", "c", kept).equals(
        arrow_table("partition_state", rows("partition_state", "c", kept))
    )


def test_subjects_without_details_share_the_one_that_says_so():
    before = advance({}, {("a",): Seen({"x": 1}, 0), ("b",): Seen({"x": 1}, 0)}, gap_ms=10, now_ms=0).running

    assert before["a",].detail is before["b",].detail is NO_DETAIL
