"""S5, a broker dies after it has appended a batch and before it has acknowledged it.

Two producers send a batch each, one with idempotence and one without; the followers have them, and both answers are
held back by the proxies, which is when the leader is killed. The new leader gets both batches again: it stores the one
and recognises the other.
"""

from dataclasses import replace

from lab.errors import LabError
from lab.faults.answer_lost import stored_twice_expected
from lab.ground import Ground
from lab.injected import Injected
from lab.records import fresh_record, send
from lab.truth import now_ms

CODE = "S5"
TITLE = "broker dies after the append, before the acknowledgement"
BREAKS = "without idempotence records are stored twice"
SILENT = "the topic of the idempotent producer; no loss, the election is clean"
ALONE = True


def inject(ground: Ground) -> Injected:
    """Returns when both producers have their acknowledgements from the new leader."""
    killed, other = ground.two_to_hurt()
    count = ground.some(20, 90)
    topics = [ground.create_topic(what, [[killed, other]], min_insync_replicas="1") for what in ("plain", "idempotent")]
    clients = [ground.name(what) for what in ("plain-sender", "idempotent-sender")]
    producers = [
        ground.producer_that_may_lose_answers(client, enable_idempotence=is_idempotent)
        for client, is_idempotent in zip(clients, ("false", "true"), strict=True)
    ]
    for producer, topic in zip(producers, topics, strict=True):
        send(producer, topic, 0, 1)
    injected_at_ms = now_ms()
    ground.cluster.lost_answers.lose(*clients, then=lambda: ground.cluster.kill(killed))
    for producer, topic in zip(producers, topics, strict=True):
        for _ in range(count):
            producer.produce(topic, partition=0, **fresh_record())
    for client, producer in zip(clients, producers, strict=True):
        if producer.flush(60):
            raise LabError(f"{client} did not get its records acknowledged after the election")
    stored_at_ms = now_ms()
    ends = [ground.end_of(topic).offset for topic in topics]
    if ends != [1 + 2 * count, 1 + count]:
        raise LabError(f"the topics should end at {1 + 2 * count} and {1 + count}, and they end at {ends}")
    return Injected(
        fault=CODE,
        injected_at_ms=injected_at_ms,
        evidence_at_ms=stored_at_ms,
        expected=(stored_twice_expected(topics[0], count, stored_at_ms),),
        details={"killed": killed, "topics": topics},
    )


def recover(ground: Ground, injected: Injected) -> Injected:
    """Start the killed broker again."""
    ground.cluster.restart(int(str(injected.details["killed"])))
    for topic in ("plain", "idempotent"):
        ground.await_state(ground.name(topic), 0, lambda seen: len(seen.in_sync) == 2)
    return replace(injected, recovered_at_ms=now_ms())
