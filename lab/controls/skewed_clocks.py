"""C10, producers whose clocks are wrong: records stamped two days back and half an hour ahead."""

import time

from guarantees.findings import Kind
from lab.controls.stated import control, may_be_said
from lab.ground import SEEN_AFTER_S, Ground
from lab.injected import Injected
from lab.records import fresh_record, read_each
from lab.sink import Sink
from lab.topics import Flow
from lab.truth import now_ms

CODE = "C10"
TITLE = "clock-skewed timestamps"
BREAKS = "nothing"
SILENT = "everything but the timestamps themselves: no loss, no duplicate, no lag in time below zero"
ALONE = False
FLOW = Flow("sensors", "averaging", "averages")
_SKEWS_MS = (-2 * 86_400_000, 0, 30 * 60_000)
_ROUNDS = 6


def inject(ground: Ground) -> Injected:
    """Returns when the group has handed everything on and a monitor could have looked at it."""
    flow, injected_at_ms = ground.flow(FLOW), now_ms()
    for what in (FLOW.source, FLOW.sink):
        ground.create_topic(what)
    sink, producer = Sink(ground, flow.sink), ground.producer()
    for _ in range(_ROUNDS):
        count = ground.some(20, 60)
        for number in range(count):
            stamp = now_ms() + _SKEWS_MS[number % len(_SKEWS_MS)]
            producer.produce(flow.source, partition=0, timestamp=stamp, **fresh_record())
        producer.flush(30)
        with ground.reading_on(flow.group_id, flow.source) as consumer:
            for message in read_each(consumer, count):
                sink.put(message)
            sink.flush()
            consumer.commit(message=message, asynchronous=False)
        time.sleep(2)
    time.sleep(2 * SEEN_AFTER_S)
    return control(CODE, injected_at_ms, may_be_said(Kind.ODD_TIMESTAMPS, flow.source, partition=0))
