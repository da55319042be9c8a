"""S19, a producer with acks=0 sends while the leader is away: it is told that everything was delivered.

The leader of the target is paused: what is written to its socket then is lost with it, when it is killed after another
replica has been elected. The producer hears nothing of that, and its service commits what it believes it has sent.
"""

from dataclasses import replace

from guarantees.findings import Grade, Kind
from lab.client_history import identity
from lab.deeds import Spot
from lab.ground import Ground
from lab.injected import Injected, expected_by_partition
from lab.records import read_each
from lab.sink import Sink
from lab.topics import Flow
from lab.truth import now_ms

CODE = "S19"
TITLE = "acks=0 while the leader is away"
BREAKS = "at least once: records that were reported as delivered are nowhere"
SILENT = "no truncation: the log never had them"
ALONE = True
FLOW = Flow("readings", "metering", "measured")


def inject(ground: Ground) -> Injected:
    """Returns when another replica leads."""
    away, other = ground.two_to_hurt()
    flow, kept, lost = ground.flow(FLOW), ground.some(100, 300), ground.some(20, 90)
    ground.create_topic(FLOW.source)
    ground.create_topic(FLOW.sink, [[away, other]], min_insync_replicas="1")
    sink = Sink(ground, flow.sink, acks="0", linger_ms=0)
    ground.produce(flow.source, kept)
    _hand_on(ground, flow, sink, kept)
    ground.await_end(flow.sink, kept)
    ground.await_judged(flow)
    ground.produce(flow.source, lost)
    injected_at_ms = now_ms()
    ground.cluster.pause(away)
    gone = _hand_on(ground, flow, sink, lost)
    led = ground.await_state(flow.sink, 0, lambda seen: seen.leader == other)
    ground.cluster.kill(away)
    expected = expected_by_partition(Kind.LOST_WRITE, flow.source, flow.group_id, gone, led.at_ms)
    return Injected(
        fault=CODE,
        injected_at_ms=injected_at_ms,
        evidence_at_ms=led.at_ms,
        expected=tuple(replace(each, grade=Grade.PROVEN) for each in expected),
        details={"away": away, "leads": other},
    )


def recover(ground: Ground, injected: Injected) -> Injected:
    """The broker comes back; what is sent from now on arrives."""
    flow = ground.flow(FLOW)
    ground.cluster.restart(int(str(injected.details["away"])))
    ground.await_state(flow.sink, 0, lambda seen: len(seen.in_sync) == 2)
    ground.produce(flow.source, 50)
    _hand_on(ground, flow, Sink(ground, flow.sink), 50)
    return replace(injected, recovered_at_ms=now_ms())


def _hand_on(ground: Ground, flow: Flow, sink: Sink, count: int) -> list[Spot]:
    """Read so many records, send them, commit when the producer says that all are delivered."""
    taken: list[Spot] = []
    with ground.reading_on(flow.group_id, flow.source) as consumer:
        for message in read_each(consumer, count):
            sink.put(message)
            taken.append(Spot(0, int(str(message.offset())), identity(message)))
        sink.flush()
        consumer.commit(message=message, asynchronous=False)
    return taken
