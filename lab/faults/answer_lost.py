"""S3, an acknowledgement lost on the wire: a producer without idempotence sends again, and its batch is stored twice.

A proxy in front of the leader passes the batch on and closes the connection instead of passing the answer back. The
broker's own log says whether the same batch came again: a client that could not keep up sends other ones, and then it
is tried once more.
"""

from dataclasses import replace

from guarantees.findings import Kind
from lab.controls.stated import may_be_said
from lab.errors import LabError
from lab.ground import STAYS, Ground
from lab.injected import Expected, Injected
from lab.records import send
from lab.stored_batches import is_stored_twice, stored_batches
from lab.truth import now_ms

CODE = "S3"
TITLE = "acknowledgement lost, idempotence off"
BREAKS = "records are stored twice, byte for byte"
SILENT = "no loss; no restart of the producer"
ALONE = False
_ATTEMPTS = 3
# A batch over several milliseconds, as applications write it, and still one batch.
_PAUSE_S = 0.0005


def inject(ground: Ground) -> Injected:
    """Returns when both copies are stored."""
    count, injected_at_ms = ground.some(20, 90), now_ms()
    others: list[Expected] = []
    for attempt in range(1, _ATTEMPTS + 1):
        topic = ground.create_topic(f"payments-{attempt}")
        stored_twice = send_once_and_lose_the_answer(ground, topic, count, enable_idempotence="false")
        stored_at_ms = now_ms()
        if stored_twice == count and _is_the_same_batch(ground, topic, count):
            expected = stored_twice_expected(topic, count, stored_at_ms)
            details = {"topic": topic, "attempts": attempt}
            return Injected(
                fault=CODE,
                injected_at_ms=injected_at_ms,
                evidence_at_ms=stored_at_ms,
                expected=(expected, *others),
                details=details,
            )
        others.append(replace(may_be_said(Kind.RESENT_BATCH, topic, partition=0), count=stored_twice))
    raise LabError(f"in {_ATTEMPTS} attempts no batch of {count} records came again as it was")


def _is_the_same_batch(ground: Ground, topic: str, count: int) -> bool:
    """As the broker that nobody hurts has it on its disk."""
    return is_stored_twice(stored_batches(ground.cluster.partition_log(STAYS, topic, 0)), count)


def stored_twice_expected(topic: str, count: int, at_ms: int) -> Expected:
    """After a first record, `count` records and their copies."""
    return Expected(
        kind=Kind.RESENT_BATCH,
        topic=topic,
        partition=0,
        group_id=None,
        count=count,
        first_offset=1 + count,
        last_offset=2 * count,
        evidence_at_ms=at_ms,
    )


def send_once_and_lose_the_answer(ground: Ground, topic: str, count: int, **settings: object) -> int:
    """One batch, of which the first acknowledgement is lost; how many records are stored a second time."""
    client = ground.name(f"{topic}-sender")
    producer = ground.producer_that_may_lose_answers(client, **settings)
    send(producer, topic, 0, 1)  # from here on it knows the leader
    ground.cluster.lost_answers.lose(client)
    stored, refused = send(producer, topic, 0, count, pause_s=_PAUSE_S)
    if refused or len(stored) != count:
        raise LabError(f"{client} should have got {count} acknowledgements, and got {len(stored)}: {refused[:1]}")
    return ground.end_of(topic).offset - 1 - count
