"""Small truths and findings: only what a test is about is said."""

from guarantees.findings import Kind
from lab.found import Found
from lab.injected import Demand, Expected, Injected
from lab.truth import TruthLine

EVIDENCE_MS = 1_000_000


def expected(
    kind=Kind.DUPLICATE_WRITE,
    *,
    topic="payments",
    partition=0,
    group=None,
    count=3,
    offsets=(10, 12),
    demand=Demand.EACH,
    evidence_after_ms=0,
):
    first, last = offsets or (None, None)
    return Expected(
        kind=kind,
        topic=topic,
        partition=partition,
        group_id=group,
        count=count,
        first_offset=first,
        last_offset=last,
        evidence_at_ms=EVIDENCE_MS + evidence_after_ms,
        message_ids=tuple(f"order-{number:06}" for number in range(count or 0)),
        demand=demand,
    )


def injected(*expectations, fault="consumer_dies", injected_after_ms=-500):
    injected_at_ms = EVIDENCE_MS + injected_after_ms
    return Injected(fault=fault, injected_at_ms=injected_at_ms, evidence_at_ms=EVIDENCE_MS, expected=expectations)


def found(
    kind=Kind.DUPLICATE_WRITE,
    *,
    topic="payments",
    partition=0,
    group=None,
    count=3,
    bounds=None,
    offsets=(10, 12),
    seen_after_ms=4_000,
):
    lower, upper = bounds or (count, count)
    first, last = offsets or (None, None)
    return Found(
        kind=kind,
        topic=topic,
        partition=partition,
        group_id=group,
        lower=lower,
        estimate=count,
        upper=upper,
        first_offset=first,
        last_offset=last,
        first_seen_ms=EVIDENCE_MS + seen_after_ms,
        title=f"{kind} on {topic}-{partition}",
    )


def line(event, **facts):
    return TruthLine(1, event, facts)
