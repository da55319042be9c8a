"""What the definitions say and no case of the oracle decides."""

from lab.checker.history import Operation, Outcome, Poll, Record, Send
from lab.checker.log_anomalies import lost_writes
from lab.checker.order_anomalies import backwards, poll_steps, send_steps
from lab.checker.version_order import committed


def sent(value, offset, outcome=Outcome.OK):
    return Operation(0, outcome, (Send("x", Record(offset, value)),))


def polled(*records, outcome=Outcome.OK):
    return Operation(1, outcome, (Poll({"x": [Record(offset, value) for offset, value in records]}),))


def test_a_value_overwritten_at_the_furthest_offset_that_was_read_is_lost():
    assert [each.value for each in lost_writes([sent("a", 0), sent("b", 0), polled((0, "b"))])] == ["a"]


def test_while_nobody_has_read_nothing_is_lost():
    assert list(lost_writes([sent("a", 0), sent("b", 1)])) == []


def test_a_read_that_failed_does_not_prove_a_send_nobody_knows_of():
    assert committed([sent("a", 0, Outcome.INFO), polled((0, "a"), outcome=Outcome.FAIL)])[0] is False
    assert committed([sent("a", 0, Outcome.INFO), polled((0, "a"))])[0]


def test_an_assign_that_failed_changes_no_position():
    history = [sent("a", 0), sent("b", 1), polled((1, "b"))]
    failed = Operation(1, Outcome.FAIL, keys=frozenset())
    assert [step.delta for step in backwards(poll_steps([*history, failed, polled((0, "a"))]))] == [-1]


def test_a_send_nobody_knows_of_is_a_position_once_it_is_proven():
    history = [sent("b", 1, Outcome.INFO), sent("a", 0), polled((0, "a"), (1, "b"))]
    assert [step.values for step in backwards(send_steps(history))] == [("b", "a")]
