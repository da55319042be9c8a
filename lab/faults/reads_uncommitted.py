"""S13, a group reads with isolation.level=read_uncommitted what a transaction wrote, and the transaction is aborted.

What it was given it writes to its sink: there stand ids of records that never were.
"""

import time
from dataclasses import replace

from guarantees.findings import Grade, Kind
from lab.ground import SEEN_AFTER_S, Ground
from lab.injected import Expected, Injected
from lab.records import send
from lab.sink import Sink
from lab.topics import Flow
from lab.truth import now_ms

CODE = "S13"
TITLE = "aborted records consumed with read_uncommitted"
BREAKS = "exactly once: records that were never committed are processed"
SILENT = "the group that reads with read_committed; no loss, no duplicate"
ALONE = False
FLOW = Flow("quotes", "trading", "trades")
_MORE = 10


def inject(ground: Ground) -> Injected:
    """Returns when the group has committed past the last stable offset, the transaction still open."""
    kept, count, flow = ground.some(100, 400), ground.some(20, 90), ground.flow(FLOW)
    for what in (FLOW.source, FLOW.sink):
        ground.create_topic(what)
    ground.produce(flow.source, kept)
    ground.read_to(ground.name("booking"), flow.source, kept)
    sink, member = Sink(ground, flow.sink), ground.consumer(flow.group_id, isolation_level="read_uncommitted")
    member.subscribe([flow.source])
    sink.take(member, kept)
    time.sleep(SEEN_AFTER_S)
    injected_at_ms = now_ms()
    producer = ground.producer(transactional_id=ground.name("quotes"))
    producer.init_transactions(30)
    producer.begin_transaction()
    send(producer, flow.source, 0, count)
    sink.take(member, count)
    committed_at_ms = now_ms()
    ground.hold(producer, member, sink)
    return Injected(
        fault=CODE,
        injected_at_ms=injected_at_ms,
        evidence_at_ms=committed_at_ms,
        expected=(
            Expected(
                kind=Kind.READ_PAST_STABLE_OFFSET,
                topic=flow.source,
                partition=0,
                group_id=flow.group_id,
                count=count,
                first_offset=kept,
                last_offset=kept + count - 1,
                evidence_at_ms=committed_at_ms,
                grade=Grade.PROVEN,
                facts={
                    "committed_offset": kept + count,
                    "committed_offset_before": kept,
                    "last_stable_offset": kept,
                },
            ),
        ),
    )


def recover(ground: Ground, injected: Injected) -> Injected:
    """The transaction is aborted: what the group has processed, and its sink holds, never was."""
    producer, member, sink = ground.held
    producer.abort_transaction(30)
    aborted_at_ms = now_ms()
    flow, (past,) = ground.flow(FLOW), injected.expected
    ground.produce(flow.source, _MORE)
    sink.take(member, _MORE)
    ground.leave(flow.group_id, member)
    at_sink = replace(
        past, kind=Kind.ABORTED_AT_SINK, evidence_at_ms=aborted_at_ms, grade=Grade.PROVEN, facts={"sink": flow.sink}
    )
    return replace(
        injected, recovered_at_ms=now_ms(), evidence_at_ms=aborted_at_ms, expected=(*injected.expected, at_sink)
    )
