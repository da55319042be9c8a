import pytest

from guarantees.findings import Kind
from guarantees.places import TopicPartition
from lab.beside import beside
from lab.injected import Demand
from lab.partition_log import Seen, is_at, is_below, spans
from tests.lab.builders import EVIDENCE_MS, expected, injected

ORDERS = TopicPartition("orders", 0)


def seen(at_s, *in_sync, leader=1, replicas=(1, 2, 3)):
    return Seen(at_s * 1000, leader, replicas, in_sync)


@pytest.mark.parametrize(
    ("state", "minimum", "below", "at"),
    [
        (seen(0, 1, 2, 3), 2, False, False),
        (seen(0, 1, 2), 2, False, True),
        (seen(0, 1), 2, True, False),
        (seen(0, 1, 2, leader=-1), 2, True, False),
        (seen(0, 1, replicas=(1,)), 2, False, False),
        (seen(0, 1, 3, replicas=(1, 3)), 2, False, False),
        (seen(0, 1, replicas=(1, 3)), 1, False, True),
    ],
)
def test_a_minimum_never_counts_for_more_than_the_replicas(state, minimum, below, at):
    assert (is_below(state, minimum), is_at(state, minimum)) == (below, at)


def test_a_span_lasts_until_it_no_longer_holds_through_changes_that_leave_it_so():
    changes = [seen(0, 1, 2, 3), seen(10, 2), seen(14, 3), seen(20, 1, 2, 3), seen(30, 1)]

    assert spans(changes, lambda one: is_below(one, 2), 33_000) == [(10_000, 20_000), (30_000, 33_000)]


def test_nothing_seen_is_no_span():
    assert spans([], lambda one: True, 5) == []


def test_what_was_true_beside_a_fault_may_be_said_with_its_seconds():
    below, at = beside({ORDERS: [seen(0, 1, 2, 3), seen(10, 1), seen(22, 1, 2)]}, {"orders": 2}, [], 40_000)

    assert [(one.expected[0].kind, one.expected[0].count) for one in (below, at)] == [
        (Kind.BELOW_MIN_ISR, 12),
        (Kind.AT_MIN_ISR, 18),
    ]
    assert {one.expected[0].demand for one in (below, at)} == {Demand.NONE}
    assert (below.injected_at_ms, at.injected_at_ms) == (10_000, 22_000)


def test_what_a_fault_demands_is_not_said_beside_it():
    demanded = injected(expected(Kind.BELOW_MIN_ISR, topic="orders", count=12, offsets=None))
    first = EVIDENCE_MS // 1000
    changes = [seen(first, 1), seen(first + 12, 1, 2, 3), seen(first + 30, 1)]

    (other,) = beside({ORDERS: changes}, {"orders": 2}, [demanded], (first + 35) * 1000)
    assert (other.injected_at_ms, other.expected[0].count) == ((first + 30) * 1000, 5)
