"""What the controls share: a fact that a monitor may state, and a control in which nothing is to be said."""

from guarantees.findings import Kind
from lab.injected import Demand, Expected, Injected
from lab.truth import now_ms


def may_be_said(
    kind: Kind, topic: str, *, partition: int | None = None, group_id: str | None = None, count: int | None = None
) -> Expected:
    """True, or possible for all that can be seen from outside, and no complaint about a promise.

    A finding that counts must be right about `count`, where one is given.
    """
    return Expected(
        kind=kind,
        topic=topic,
        partition=partition,
        group_id=group_id,
        count=count,
        first_offset=None,
        last_offset=None,
        evidence_at_ms=now_ms(),
        demand=Demand.NONE,
    )


def control(code: str, injected_at_ms: int, *facts: Expected) -> Injected:
    """What happened, with all that may be said of it."""
    return Injected(fault=code, injected_at_ms=injected_at_ms, evidence_at_ms=now_ms(), expected=facts)
