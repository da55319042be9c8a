"""S15h, a transaction that no coordinator knows: it hangs, and nothing will ever end it by itself (KAFKA-14402).

Brokers verify since 4.0 that a transaction is known before they append to it; the leader's check is switched off for a
moment, as a bug or an old broker leaves it, and a batch with a real producer id is written without a transaction.
"""

import time
from dataclasses import replace

from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from lab.frozen import stable_offset_frozen
from lab.ground import STAYS, Ground
from lab.injected import Injected
from lab.truth import now_ms
from lab.wire import end_transaction, write_transactional_batch

CODE = "S15h"
TITLE = "a hanging transaction that no coordinator knows"
BREAKS = "progress: read_committed readers wait for ever"
SILENT = "no timeout, no fencing"
ALONE = False
_VERIFICATION = "transaction.partition.verification.enable"
_TAKES_EFFECT_S = 1.5


def inject(ground: Ground) -> Injected:
    """Returns as soon as the batch is written; its producer is gone by then."""
    kept, count = ground.some(50, 200), ground.some(10, 60)
    topic, name, group_id = ground.create_topic("meters"), ground.name("meters"), ground.name("billing")
    ground.produce(topic, kept)
    ground.read_to(group_id, topic, kept)
    producer, ids = ground.producer_with_id(transactional_id=name)
    producer.init_transactions(30)
    ground.await_that(lambda: producer.poll(0.1) >= 0 and bool(ids), f"{name} has no producer id")
    injected_at_ms = now_ms()
    _verify(ground, "false")
    write_transactional_batch(ground.cluster.address(STAYS), name, ids[0], topic, count)
    written_at_ms = now_ms()
    _verify(ground, "true")
    frozen = stable_offset_frozen(
        topic, kept, count, written_at_ms, group_id, producer_id=ids[0], is_listed_by_coordinator=False
    )
    return Injected(
        fault=CODE,
        injected_at_ms=injected_at_ms,
        evidence_at_ms=written_at_ms,
        expected=(frozen,),
        details={"topic": topic, "producer_id": ids[0], "first_offset": kept, "records": count},
    )


def recover(ground: Ground, injected: Injected) -> Injected:
    """An abort marker written by hand, as `kafka-transactions.sh abort` does."""
    details = injected.details
    end_transaction(ground.cluster.address(STAYS), int(str(details["producer_id"])), str(details["topic"]))
    kept = int(str(details["first_offset"]))
    ground.await_that(lambda: ground.stable_end_of(str(details["topic"])) > kept, "the transaction was not ended")
    return replace(injected, recovered_at_ms=now_ms())


def _verify(ground: Ground, value: str) -> None:
    resource = ConfigResource(ResourceType.BROKER, str(STAYS))
    resource.add_incremental_config(ConfigEntry(_VERIFICATION, value, incremental_operation=AlterConfigOpType.SET))
    ground.admin.incremental_alter_configs([resource])[resource].result(timeout=30)
    time.sleep(_TAKES_EFFECT_S)
