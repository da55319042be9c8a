"""S15, a transaction left open until the coordinator aborts it at its timeout, with a group that waits behind it."""

from dataclasses import replace

from guarantees.findings import Grade, Kind
from lab.frozen import stable_offset_frozen
from lab.ground import Ground
from lab.injected import Injected
from lab.records import send
from lab.truth import now_ms

CODE = "S15"
TITLE = "a transaction left open, then timed out"
BREAKS = "progress: read_committed readers wait; what was written is aborted"
SILENT = "no fencing, no hanging transaction"
ALONE = False
_TIMEOUT_MS = 30_000


def inject(ground: Ground) -> Injected:
    """Returns as soon as the records are written that nobody may read."""
    kept, count = ground.some(50, 200), ground.some(20, 90)
    topic, name, group_id = ground.create_topic("parcels"), ground.name("parcels"), ground.name("delivery")
    ground.produce(topic, kept)
    ground.read_to(group_id, topic, kept)
    injected_at_ms = now_ms()
    producer, ids = ground.producer_with_id(transactional_id=name, transaction_timeout_ms=_TIMEOUT_MS)
    producer.init_transactions(30)
    producer.begin_transaction()
    send(producer, topic, 0, count)
    written_at_ms = now_ms()
    ground.await_that(lambda: producer.poll(0.1) >= 0 and bool(ids), f"{name} has no producer id")
    ground.hold(producer)
    known = {"producer_id": ids[0], "transactional_id": name, "transaction_timeout_ms": _TIMEOUT_MS}
    frozen = stable_offset_frozen(topic, kept, count, written_at_ms, group_id, **known)
    return Injected(
        fault=CODE,
        injected_at_ms=injected_at_ms,
        evidence_at_ms=written_at_ms,
        expected=(frozen,),
        details={"topic": topic, "first_offset": kept, "records": count, "producer_id": ids[0]},
    )


def recover(ground: Ground, injected: Injected) -> Injected:
    """Wait for the coordinator, which looks every ten seconds, and add what is true from then on."""
    (frozen,) = injected.expected
    kept, count = int(str(injected.details["first_offset"])), int(str(injected.details["records"]))
    aborted_at_ms = ground.await_that(
        lambda: ground.stable_end_of(frozen.topic) > kept, f"the transaction on {frozen.topic} was not aborted"
    )
    timed_out = replace(
        frozen,
        kind=Kind.TRANSACTION_TIMED_OUT,
        last_offset=kept + count - 1,
        evidence_at_ms=aborted_at_ms,
        grade=Grade.PROBABLE,
        facts={"first_offset": kept, "producer_id": injected.details["producer_id"], "marker_offset": kept + count},
    )
    end = ground.produce(frozen.topic, 10)[-1] + 1
    ground.read_to(ground.name("delivery"), frozen.topic, end)
    return replace(injected, recovered_at_ms=now_ms(), evidence_at_ms=aborted_at_ms, expected=(frozen, timed_out))
