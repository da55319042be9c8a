"""S20d, S8 with an idempotent consumer: it dies after processing and before the commit, and its successor knows that.

Results lie in a database together with what makes them recognised; they are published from there, each once.
"""

import time
from dataclasses import replace

from guarantees.findings import Kind
from lab.commands import Command, Fault
from lab.controls.stated import may_be_said
from lab.errors import LabError
from lab.ground import SEEN_AFTER_S, Ground
from lab.injected import Injected
from lab.knowing_sink import KnowingSink
from lab.relays import RelayProcess
from lab.sink import Sink
from lab.stores import STORES
from lab.topics import Flow
from lab.truth import now_ms

CODE = "S20d"
TITLE = "S8 with an idempotent consumer: id store, unique key or version check"
BREAKS = "nothing: records are delivered again and processed once"
SILENT = "no duplicate at the sink, no loss"
ALONE = False
FLOW = Flow("deposits", "booking", "booked")


def inject(ground: Ground) -> Injected:
    """Returns when the consumer is dead."""
    flow, processed, again = ground.flow(FLOW), ground.some(100, 300), ground.some(20, 60)
    how = list(STORES)[ground.seed % len(STORES)]
    for what in (FLOW.source, FLOW.sink):
        ground.create_topic(what)
    database = ground.paths.directory / f"{ground.name('store')}.sqlite"
    published = KnowingSink(Sink(ground, flow.sink), STORES[how](database))
    ground.produce(flow.source, processed)
    first = RelayProcess(ground, flow, 1, how, database)
    ground.await_that(lambda: published.count() == processed, f"{first.name} did not process everything")
    time.sleep(2 * SEEN_AFTER_S)
    injected_at_ms = now_ms()
    first.fail_with(Command(Fault.DIE_BEFORE_COMMIT, again))
    ground.produce(flow.source, again)
    died_at_ms = first.await_death()[-1].at_ms
    ground.hold(published)
    group = {"partition": 0, "group_id": flow.group_id, "count": again}
    return Injected(
        fault=CODE,
        injected_at_ms=injected_at_ms,
        evidence_at_ms=died_at_ms,
        expected=(may_be_said(Kind.POSSIBLE_REDELIVERY, flow.source, **group),),
        details={"recognised by": how, "again": again, "results": processed + again, "database": str(database)},
    )


def recover(ground: Ground, injected: Injected) -> Injected:
    """Its successor is given the same records, and recognises them."""
    (published,), flow, more = ground.held, ground.flow(FLOW), 50
    again, results = int(str(injected.details["again"])), int(str(injected.details["results"])) + more
    how, database = str(injected.details["recognised by"]), str(injected.details["database"])
    second = RelayProcess(ground, flow, 2, how, database)
    time.sleep(SEEN_AFTER_S)
    ground.produce(flow.source, more)
    ground.await_that(lambda: published.count() == results, f"{second.name} did not process everything")
    recognised = second.stop()
    if recognised != again:
        raise LabError(f"{again} records came again, and {recognised} were recognised")
    return replace(injected, recovered_at_ms=now_ms())
