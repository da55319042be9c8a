"""S20, S10 with consumers that recognise what they have processed: records come again, the sink holds each once.

How they recognise it differs between seeds: by an id store, a unique key, or a version check.
"""

from dataclasses import replace

from lab.errors import LabError
from lab.faults.poll_interval_exceeded import REPLICAS
from lab.ground import Ground
from lab.injected import Injected
from lab.knowing_sink import KnowingSink
from lab.sink import Sink
from lab.slow_member import shared_work
from lab.stores import STORES
from lab.topics import Flow
from lab.truth import now_ms

CODE = "S20"
TITLE = "S10 with an idempotent consumer: id store, unique key or version check"
BREAKS = "nothing: records are delivered again and processed once"
SILENT = "no duplicate at the sink, no loss"
ALONE = False
FLOW = Flow("refunds", "paying", "paid")


def inject(ground: Ground) -> Injected:
    """Returns some seconds after the partition has moved, with work left on it."""
    flow = ground.flow(FLOW)
    for what in (FLOW.source, FLOW.sink):
        ground.create_topic(what, REPLICAS)
    how = list(STORES)[ground.seed % len(STORES)]
    ground.paths.create()
    store = STORES[how](ground.paths.directory / f"{ground.name('store')}.sqlite")
    work = shared_work(ground, flow.source, flow.group_id, KnowingSink(Sink(ground, flow.sink), store))
    work.both_work()
    injected_at_ms = now_ms()
    again = work.one_works_too_long()
    ground.hold(work)
    return Injected(
        fault=CODE,
        injected_at_ms=injected_at_ms,
        evidence_at_ms=again.evidence_at_ms,
        expected=(again,),
        details={"recognised by": how},
    )


def recover(ground: Ground, injected: Injected) -> Injected:
    """The member that stayed works to the end, and recognises everything that came again."""
    (work,) = ground.held
    work.the_other_ends_it()
    (again,) = injected.expected
    if work.target.recognised != again.count:
        raise LabError(f"{again.count} records came again, and {work.target.recognised} were recognised")
    return replace(injected, recovered_at_ms=now_ms())
