from dataclasses import replace

import pytest

from guarantees.findings import Kind
from guarantees.isr import is_below
from tests.guarantees.builders import finding, findings, seen, state

BELOW = Kind.BELOW_MIN_ISR


def at_second(second, in_sync, **given):
    return seen(second, isr=state(in_sync, second=second, **given))


@pytest.mark.parametrize(
    ("in_sync", "replicas", "minimum", "expected"),
    [
        ([1], [1, 2, 3], 2, True),
        ([1, 2], [1, 2, 3], 2, False),
        ([1], [1], 2, False),
        ([1], [1, 2], 3, True),
        ([1, 2], [1, 2], 3, False),
        ([1], [1, 2, 3], 1, False),
        ([], [1, 2, 3], 1, True),
        ([1], [1, 2, 3], None, False),
    ],
)
def test_the_effective_minimum_never_exceeds_the_replicas(in_sync, replicas, minimum, expected):
    assert is_below(state(in_sync, replicas=replicas), minimum) is expected


def test_a_partition_without_a_leader_is_below_whatever_the_minimum():
    assert is_below(state([1, 2, 3], leader=None), None)


def test_two_samples_in_a_row_open_it_with_seconds_from_the_neighbouring_samples():
    rounds = (at_second(0, [1, 2]), at_second(5, [1]), at_second(10, [1]), at_second(15, [1, 2]))
    found = finding(*rounds, kind=BELOW)

    assert (found.bounds.lower, found.bounds.upper) == (5, 15)
    assert found.closed_reason
    assert found.evidence["effective_minimum"] == 2


def test_one_sample_is_not_enough():
    assert not findings(at_second(0, [1, 2]), at_second(5, [1]), at_second(10, [1, 2]), at_second(15, [1]), kind=BELOW)


def test_without_an_earlier_good_sample_there_is_no_upper_bound():
    assert finding(at_second(0, [1]), at_second(5, [1]), kind=BELOW).bounds.upper is None


def test_a_sample_of_a_time_when_nobody_knew_the_minimum_is_no_good_sample():
    """It showed the same too few replicas, only not that they are too few."""
    known = (at_second(5, [1]), at_second(10, [1]), at_second(15, [1, 2]))
    unknown = replace(at_second(0, [1]), topic_settings={})

    assert finding(at_second(0, [1, 2]), *known, kind=BELOW).bounds.upper == 15
    found = finding(unknown, *known, kind=BELOW)
    assert (found.bounds.lower, found.bounds.upper) == (5, None)


def test_a_broker_with_old_metadata_neither_opens_nor_closes_it():
    below = (at_second(0, [1], epoch=3), at_second(5, [1], epoch=3))

    assert finding(*below, at_second(10, [1, 2], epoch=2), kind=BELOW).closed_reason is None
    assert not findings(
        at_second(0, [1, 2], epoch=3), at_second(5, [1], epoch=2), at_second(10, [1], epoch=2), kind=BELOW
    )


def test_a_gap_between_rounds_counts_for_the_upper_bound_only():
    rounds = (at_second(0, [1, 2]), at_second(5, [1]), at_second(10, [1]), at_second(610, [1]), at_second(615, [1]))
    found = finding(*rounds, kind=BELOW)

    assert (found.bounds.lower, found.bounds.upper) == (10, 615)


def test_while_it_lasts_it_says_what_is_missing_now():
    low = (at_second(0, [1, 2]), at_second(5, [1]), at_second(10, [1]))
    found = finding(*low, at_second(15, [1], leader=None), kind=BELOW)
    back = finding(*low, at_second(15, [1], leader=None), at_second(20, []), kind=BELOW)

    assert found.title == "orders-0 has no leader"
    assert "no leader now and is below its minimum since 2023-11-14 22:13:25.030" in found.statements[0].text
    assert back.title == "orders-0 has 0 in-sync replicas and needs 2"
    assert "the in-sync replicas [] of [1, 2, 3]" in back.statements[0].text


def test_its_words_stay_where_the_replicas_were_not_seen_or_are_told_by_old_metadata():
    below = (at_second(0, [1], epoch=3), at_second(5, [1], epoch=3))
    opened = finding(*below, kind=BELOW)

    for unseen in (seen(10), at_second(10, [], epoch=2, leader=None)):
        assert finding(*below, unseen, kind=BELOW) == opened
