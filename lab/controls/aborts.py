"""C5, a transactional producer that aborts every other transaction and sends its records again in the next one.

A group that reads only what is committed writes it to its sink: there stand ids of records that were aborted first.
"""

import time

from lab.controls.stated import control
from lab.ground import Ground
from lab.injected import Injected
from lab.records import fresh_record
from lab.sink import Sink
from lab.topics import Flow
from lab.truth import now_ms

CODE = "C5"
TITLE = "transactional topic with aborts and retries"
BREAKS = "nothing"
SILENT = "everything: aborted records and markers are neither lag nor loss, and what was sent again is no duplicate"
ALONE = False
FLOW = Flow("refunds", "booking", "booked")
_PAIRS = 10


def inject(ground: Ground) -> Injected:
    """Returns when the group has read the last committed record and written it on."""
    flow, injected_at_ms = ground.flow(FLOW), now_ms()
    for what in (FLOW.source, FLOW.sink):
        ground.create_topic(what)
    sink, producer = Sink(ground, flow.sink), ground.producer(transactional_id=ground.name("refunds"))
    producer.init_transactions(30)
    for _ in range(_PAIRS):
        records = [fresh_record() for _ in range(ground.some(5, 30))]
        for end in (producer.abort_transaction, producer.commit_transaction):
            producer.begin_transaction()
            for record in records:
                producer.produce(flow.source, partition=0, **record)
            producer.flush(30)
            end(30)
            time.sleep(1)
        with ground.reading_on(flow.group_id, flow.source) as consumer:
            sink.take(consumer, len(records))
    return control(CODE, injected_at_ms)
