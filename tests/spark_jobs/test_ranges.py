from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guarantees.unknown import Unknown
from spark_jobs.ranges import ASSUMED_BYTES_PER_OFFSET, OffsetRange, Part, PartNow, plan, within_budget

PART = Part("c", "orders", "topic-1", 0)
NO_LEADER = Unknown("the partition has no leader")


def now(part=PART, *, leader=1, log_start=0, stable=100, high=100, start=0):
    return PartNow(part, leader, log_start, stable, high, start, observed_at_ms=1_000)


def planned(*parts, covered=None, budget=10**9):
    return plan(parts, covered or {}, budget_bytes=budget, bytes_per_offset={})


def offsets(ranges):
    return [(r.part.partition, r.first_offset, r.next_offset) for r in ranges]


def test_reading_goes_on_where_the_ledger_ends():
    assert offsets(planned(now(), covered={PART: 40}).ranges) == [(0, 40, 100)]


@pytest.mark.parametrize(("stable", "high"), [(60, 100), (100, 60)])
def test_range_ends_at_the_lower_of_stable_offset_and_high_watermark(stable, high):
    assert offsets(planned(now(stable=stable, high=high)).ranges) == [(0, 0, 60)]


def test_history_seen_first_begins_at_its_start():
    assert offsets(planned(now(start=70)).ranges) == [(0, 70, 100)]


def test_start_below_the_log_start_is_no_purge():
    found = planned(now(start=3, log_start=10))

    assert offsets(found.ranges) == [(0, 10, 100)]
    assert found.purged == ()


def test_nothing_new_plans_nothing():
    found = planned(now(), covered={PART: 100})

    assert (found.ranges, found.anchors, found.purged, found.waiting) == ((), (), (), {})


def test_empty_history_is_anchored_so_that_a_restart_knows_it():
    assert offsets(planned(now(start=100)).anchors) == [(0, 100, 100)]


def test_log_start_past_the_ledger_is_purged_and_reading_goes_on_behind():
    found = planned(now(log_start=50), covered={PART: 20})

    assert offsets(found.purged) == [(0, 20, 50)]
    assert offsets(found.ranges) == [(0, 50, 100)]


def test_log_start_at_the_ledgers_end_is_no_purge():
    assert planned(now(log_start=20), covered={PART: 20}).purged == ()


def test_everything_purged_leaves_nothing_to_read():
    found = planned(now(log_start=100), covered={PART: 20})

    assert (offsets(found.purged), found.ranges) == ([(0, 20, 100)], ())


def test_new_topic_id_is_a_history_of_its_own():
    created_again = replace(PART, topic_id="topic-2")

    assert offsets(planned(now(created_again), covered={PART: 100}).ranges) == [(0, 0, 100)]


def test_truncated_log_waits_and_says_so():
    found = planned(now(stable=30, high=30), covered={PART: 40})

    assert found.ranges == ()
    assert "truncated" in found.waiting[PART]


@pytest.mark.parametrize("field", ["leader", "log_start_offset", "last_stable_offset", "high_watermark"])
def test_unknown_offset_or_leader_lets_only_its_partition_wait(field):
    other = replace(PART, partition=1)

    found = planned(replace(now(), **{field: NO_LEADER}), now(other))

    assert found.waiting == {PART: NO_LEADER.reason}
    assert offsets(found.ranges) == [(1, 0, 100)]


def test_unknown_start_matters_only_to_a_history_seen_first():
    unknown = now(start=Unknown("no answer"))

    assert planned(unknown).waiting == {PART: "no answer"}
    assert offsets(planned(unknown, covered={PART: 5}).ranges) == [(0, 5, 100)]


def test_budget_cuts_and_the_rest_is_backlog():
    found = planned(now(), budget=int(30 * ASSUMED_BYTES_PER_OFFSET))

    assert offsets(found.ranges) == [(0, 0, 30)]
    assert found.backlog == 70


def test_small_partitions_leave_their_share_to_large_ones():
    small, large = OffsetRange(PART, 1, 0, 10), OffsetRange(replace(PART, partition=1), 1, 0, 1000)

    assert offsets(within_budget([large, small], 100, {"topic-1": 1.0})) == [(0, 0, 10), (1, 0, 90)]


@given(st.lists(st.integers(1, 500), min_size=1, max_size=8), st.integers(1, 2000), st.floats(0.5, 50))
def test_budget_is_kept_but_for_one_offset_each(sizes, budget, cost):
    unread = [OffsetRange(replace(PART, partition=n), 1, 0, size) for n, size in enumerate(sizes)]

    cut = within_budget(unread, budget, {"topic-1": cost})

    assert [r.part for r in cut] == [r.part for r in unread]
    assert all(1 <= after.offsets <= before.offsets for after, before in zip(cut, unread, strict=True))
    assert sum(r.offsets for r in cut) * cost <= budget + len(sizes) * cost + 1e-6
