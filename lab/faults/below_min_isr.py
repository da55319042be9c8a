"""S17, too few in-sync replicas for a while: writes with acks=all are refused, and nothing is lost by that.

A topic on two brokers with min.insync.replicas=2. One of them is paused until it is out of sync; a producer with
acks=all is refused meanwhile. It is resumed, and the same records are accepted.
"""

import time
from dataclasses import replace

from guarantees.findings import Grade, Kind
from guarantees.places import TopicPartition
from lab.beside import seconds
from lab.errors import LabError
from lab.ground import STAYS, Ground
from lab.injected import Expected, Injected
from lab.partition_log import is_below, spans
from lab.records import send
from lab.truth import now_ms

CODE = "S17"
TITLE = "in-sync replicas below min.insync.replicas for some seconds"
BREAKS = "availability: acks=all writes are refused"
SILENT = "no loss: what was refused was never acknowledged"
ALONE = True
_MINIMUM = 2


def inject(ground: Ground) -> Injected:
    """Returns when the topic is below its minimum."""
    paused, _ = ground.two_to_hurt()
    topic = ground.create_topic("ledger", [[STAYS, paused]], min_insync_replicas=str(_MINIMUM))
    ground.produce(topic, 100)
    ground.read_to(ground.name("booking"), topic, 100)
    injected_at_ms = now_ms()
    ground.cluster.pause(paused)
    below = ground.await_state(topic, 0, lambda seen: is_below(seen, _MINIMUM))
    return Injected(
        fault=CODE,
        injected_at_ms=injected_at_ms,
        evidence_at_ms=below.at_ms,
        expected=(
            Expected(
                kind=Kind.BELOW_MIN_ISR,
                topic=topic,
                partition=0,
                group_id=None,
                count=None,
                first_offset=None,
                last_offset=None,
                evidence_at_ms=below.at_ms,
                grade=Grade.PROVEN,
                facts={"effective_minimum": _MINIMUM, "leader": STAYS},
            ),
        ),
        details={"paused": paused, "topic": topic},
    )


def recover(ground: Ground, injected: Injected) -> Injected:
    """Let writes be refused for some seconds, resume the broker, and state how long it was."""
    topic, paused = str(injected.details["topic"]), int(str(injected.details["paused"]))
    time.sleep(ground.some(3, 12))
    stored, refused = send(ground.producer(acks="all", retries=0), topic, 0, 50)
    ground.cluster.resume(paused)
    if stored or len(refused) != 50:
        raise LabError(f"{topic} should have refused 50 writes and took {len(stored)}")
    ground.await_state(topic, 0, lambda seen: not is_below(seen, _MINIMUM))
    ground.produce(topic, 50)
    changes = ground.log.changes()[TopicPartition(topic, 0)]
    lasted = dict(spans(changes, lambda seen: is_below(seen, _MINIMUM), now_ms()))
    start_ms, end_ms = injected.evidence_at_ms, lasted[injected.evidence_at_ms]
    counted = replace(injected.expected[0], count=seconds(start_ms, end_ms))
    details = {**injected.details, "below_ms": end_ms - start_ms, "refused_writes": len(refused)}
    return replace(injected, recovered_at_ms=now_ms(), expected=(counted,), details=details)
