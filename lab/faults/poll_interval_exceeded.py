"""S10, processing that takes longer than max.poll.interval.ms: the member is out, and its records come again.

The sink does not recognise what it has: every record that came again is there twice.
"""

from dataclasses import replace

from guarantees.findings import Kind
from lab.ground import Ground
from lab.injected import Injected, expected_by_partition
from lab.sink import Sink
from lab.slow_member import shared_work
from lab.topics import Flow
from lab.truth import now_ms

CODE = "S10"
TITLE = "processing longer than max.poll.interval.ms"
BREAKS = "at least once keeps its word: records are delivered again; exactly once: the sink holds them twice"
SILENT = "the partition of the member that stayed; no loss"
ALONE = False
FLOW = Flow("claims", "handling", "handled")
REPLICAS = ((2, 1, 3), (2, 3, 1))


def inject(ground: Ground) -> Injected:
    """Returns some seconds after the partition has moved, with work left on it."""
    flow = ground.flow(FLOW)
    for what in (FLOW.source, FLOW.sink):
        ground.create_topic(what, REPLICAS)
    work = shared_work(ground, flow.source, flow.group_id, Sink(ground, flow.sink))
    work.both_work()
    injected_at_ms = now_ms()
    again = work.one_works_too_long()
    ground.hold(work)
    return Injected(fault=CODE, injected_at_ms=injected_at_ms, evidence_at_ms=again.evidence_at_ms, expected=(again,))


def recover(ground: Ground, injected: Injected) -> Injected:
    """The member that stayed works to the end: by then the sink has got again what came again."""
    (work,) = ground.held
    work.the_other_ends_it()
    sink, stored_at_ms = work.target, work.target.last_copy_at_ms
    twice = expected_by_partition(Kind.DUPLICATE_WRITE, sink.topic, None, sink.copies(), stored_at_ms)
    return replace(
        injected,
        recovered_at_ms=now_ms(),
        evidence_at_ms=stored_at_ms,
        expected=(*injected.expected, *twice),
    )
