"""S1, a producer dies before it sends records that its source already has.

A service reads an outbox and sends what it finds there. It notes that it has come so far, and dies before it sends: its
successor goes on behind that. The log of the target lacks nothing by itself; only the outbox knows better.
"""

import time
from dataclasses import replace

from guarantees.findings import Grade, Kind
from lab.commands import Command, Fault
from lab.deeds import polled
from lab.ground import SEEN_AFTER_S, Ground
from lab.injected import Injected, expected_by_partition
from lab.relays import RelayProcess
from lab.topics import Flow
from lab.truth import now_ms

CODE = "S1"
TITLE = "producer dies before it sends a record its source already has"
BREAKS = "at least once: records are never sent; without a source to reconcile with that is not observable"
SILENT = "no duplicate; nothing of the target alone, which no pipeline names as its source"
ALONE = False
FLOW = Flow("outbox", "shop", "orders")


def inject(ground: Ground) -> Injected:
    """Returns when the producer is dead."""
    flow, sent, lost = ground.flow(FLOW), ground.some(100, 300), ground.some(20, 60)
    for what in (FLOW.source, FLOW.sink):
        ground.create_topic(what)
    ground.produce(flow.source, sent)
    first = RelayProcess(ground, flow, 1)
    first.await_sink(sent)
    ground.await_judged(flow)
    injected_at_ms = now_ms()
    first.fail_with(Command(Fault.COMMIT_FIRST, lost))
    ground.produce(flow.source, lost)
    lines = first.await_death()
    gone, at_ms = polled(lines)[-1], lines[-1].at_ms
    expected = expected_by_partition(Kind.LOST_WRITE, flow.source, flow.group_id, gone, at_ms)
    return Injected(
        fault=CODE,
        injected_at_ms=injected_at_ms,
        evidence_at_ms=at_ms,
        expected=tuple(replace(each, grade=Grade.PROVEN) for each in expected),
        details={"sent": sent, "killed": first.name},
    )


def recover(ground: Ground, injected: Injected) -> Injected:
    """Its successor sends what comes after that; it is a member for two rounds of a monitor before there is any."""
    flow, sent, more = ground.flow(FLOW), int(str(injected.details["sent"])), 50
    second = RelayProcess(ground, flow, 2)
    time.sleep(SEEN_AFTER_S)
    ground.produce(flow.source, more)
    second.await_sink(sent + more)
    second.stop()
    return replace(injected, recovered_at_ms=now_ms())
