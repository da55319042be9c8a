"""Ranges are dealt out so that no task works much longer than the others."""

from hypothesis import given
from hypothesis import strategies as st

from spark_jobs.sources.kafka_ranges import REQUEST_OFFSETS, shares


def work(numbers, offsets):
    return sum(offsets[number] + REQUEST_OFFSETS for number in numbers)


@given(st.lists(st.integers(0, 50_000)), st.integers(1, 9))
def test_every_range_is_read_by_exactly_one_task_and_no_task_has_none(offsets, tasks):
    shared = shares(offsets, tasks)

    assert sorted(number for numbers in shared for number in numbers) == list(range(len(offsets)))
    assert len(shared) == min(tasks, len(offsets))
    assert all(shared)


@given(st.lists(st.integers(0, 50_000), min_size=1), st.integers(1, 9))
def test_no_task_has_more_than_a_fair_share_and_one_range(offsets, tasks):
    """What Graham showed in 1966 of dealing out work to whoever has least."""
    fair = work(range(len(offsets)), offsets) / tasks
    longest = max(offsets) + REQUEST_OFFSETS

    assert max(work(numbers, offsets) for numbers in shares(offsets, tasks)) <= fair + longest


def test_five_thousand_partitions_become_as_many_even_tasks_as_run_side_by_side():
    offsets = [number * 7919 % 1_000 for number in range(5_000)]

    works = [work(numbers, offsets) for numbers in shares(offsets, 16)]

    assert len(works) == 16
    assert max(works) - min(works) <= REQUEST_OFFSETS + 1_000


def test_a_hot_partition_has_a_task_of_its_own():
    (alone,) = [numbers for numbers in shares([500] * 20 + [400_000], 4) if 20 in numbers]

    assert alone == [20]
