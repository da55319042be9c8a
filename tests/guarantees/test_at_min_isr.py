import pytest

from guarantees.findings import Grade, Kind
from guarantees.isr import is_at, is_single_copy
from tests.guarantees.builders import PARTITION, finding, findings, seen, state, steps

AT = Kind.AT_MIN_ISR


def at_second(second, in_sync, minimum=2, **given):
    return seen(second, isr=state(in_sync, second=second, **given), min_isr=minimum)


@pytest.mark.parametrize(
    ("in_sync", "replicas", "minimum", "at", "single"),
    [
        ([1, 2], [1, 2, 3], 2, True, False),
        ([1, 2, 3], [1, 2, 3], 2, False, False),
        ([1], [1, 2, 3], 2, False, False),
        ([1, 2], [1, 2], 2, False, False),
        ([1], [1, 2, 3], 1, True, True),
        ([1], [1, 2], 1, True, True),
        ([1], [1], 1, False, False),
        ([1], [1], 2, False, False),
        ([1, 2], [1, 2, 3], 1, False, False),
        ([1, 2], [1, 2, 3], None, False, False),
    ],
)
def test_at_the_minimum_with_replicas_missing(in_sync, replicas, minimum, at, single):
    given = state(in_sync, replicas=replicas)

    assert (is_at(given, minimum), is_single_copy(given, minimum)) == (at, single)


def test_a_partition_without_a_leader_is_not_at_its_minimum():
    assert not is_at(state([1, 2], leader=None), 2)


def test_it_is_information_once_it_lasts_longer_than_a_restart():
    rounds = [at_second(0, [1, 2, 3]), *(at_second(s, [1, 2]) for s in steps(5, 120))]

    assert not findings(*rounds, kind=AT)
    found = finding(*rounds, at_second(125, [1, 2]), kind=AT)
    assert (found.severity, found.grade, found.evidence["effective_minimum"]) == (1, Grade.PROVEN, 2)
    assert (found.bounds.lower, found.bounds.upper) == (120, 125)


def test_a_gap_in_the_samples_does_not_count_as_lasting():
    assert not findings(at_second(0, [1, 2, 3]), at_second(5, [1, 2]), at_second(300, [1, 2]), kind=AT)


def test_a_single_copy_that_is_acknowledged_is_graver_and_told_at_the_second_sample():
    rounds = (at_second(0, [1, 2], 1), at_second(5, [1], 1))

    assert not findings(*rounds, kind=AT)
    found = finding(*rounds, at_second(10, [1], 1), kind=AT)
    assert (found.severity, found.bounds.lower, found.bounds.upper) == (3, 5, 10)
    assert "leader alone" in found.statements[0].text


def test_it_becomes_graver_when_the_minimum_is_lowered_to_the_single_copy_left():
    rounds = [at_second(0, [1, 2, 3]), *(at_second(s, [1, 2]) for s in steps(5, 125)), at_second(130, [1], 1)]

    found = finding(*rounds, kind=AT)
    assert (found.severity, found.title) == (3, "orders-0 acknowledges a single copy")
    assert "leader alone" in found.statements[0].text
    assert (found.evidence["min_insync_replicas"], found.evidence["effective_minimum"]) == (1, 1)


def test_it_closes_with_its_seconds_when_the_replicas_are_back_and_when_too_few_are_left():
    rounds = [at_second(0, [1, 2], 1), at_second(5, [1], 1), at_second(10, [1], 1)]

    back = finding(*rounds, at_second(15, [1, 2], 1), kind=AT)
    assert (back.bounds.lower, back.bounds.upper, bool(back.closed_reason)) == (5, 15, True)
    assert finding(*rounds, at_second(15, [1], 2), kind=AT).closed_reason


def test_brokers_restarted_one_after_the_other_are_no_single_long_time_at_the_minimum():
    first = [at_second(s, [1, 2]) for s in steps(5, 100)]
    second = [at_second(s, [1, 3]) for s in steps(105, 200)]

    assert not findings(at_second(0, [1, 2, 3]), *first, *second, kind=AT)


def test_a_single_copy_on_another_broker_is_another_finding():
    rounds = [
        at_second(0, [1, 2], 1),
        *(at_second(s, [1], 1) for s in (5, 10)),
        *(at_second(s, [2], 1) for s in (15, 20)),
    ]

    first, second = sorted(findings(*rounds, at_second(25, [2], 1), kind=AT), key=lambda one: one.happened_at_ms)
    assert (first.bounds.lower, first.bounds.upper, bool(first.closed_reason)) == (5, 15, True)
    assert (second.bounds.lower, second.bounds.upper, second.closed_reason) == (10, 15, None)


def test_old_metadata_of_another_broker_does_not_break_it():
    rounds = [at_second(0, [1, 2], 1, epoch=3), at_second(5, [1], 1, epoch=3), at_second(10, [2], 1, epoch=2)]

    assert finding(*rounds, at_second(15, [1], 1, epoch=3), kind=AT).bounds.lower == 10


def test_old_metadata_neither_opens_nor_closes_it():
    rounds = (at_second(0, [1], 1, epoch=3), at_second(5, [1], 1, epoch=3))

    assert finding(*rounds, at_second(10, [1, 2], 1, epoch=2), kind=AT).closed_reason is None


def test_old_metadata_does_not_make_it_graver():
    rounds = [at_second(0, [1, 2, 3], epoch=3), *(at_second(s, [1, 2], epoch=3) for s in steps(5, 125))]

    for stale in (at_second(130, [1], 1, epoch=2), at_second(130, [1], 1, epoch=3)):
        found = finding(*rounds, stale, kind=AT)
        assert found.severity == (1 if stale.states[PARTITION].leader_epoch == 2 else 3)
