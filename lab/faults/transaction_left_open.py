"""A transactional producer hangs with its transaction open: the stable offset freezes until the coordinator aborts it.

Readers with isolation level read_committed wait; nothing is lost. Broken is progress, not delivery.
"""

import time
from dataclasses import replace

from confluent_kafka import IsolationLevel, TopicPartition
from confluent_kafka.admin import OffsetSpec

from guarantees.findings import Kind
from lab.clients import admin_client
from lab.deeds import of_event
from lab.errors import LabError
from lab.injected import Expected, Injected
from lab.pipelines import Lab
from lab.topics import SHIPMENTS, SHIPPING_LEDGER
from lab.truth import Tail, now_ms
from lab.workload.stuck_shipment import MESSAGE_ID, TIMEOUT_MS, TRANSACTIONAL_ID

NAME = "transaction_left_open"
BREAKS = "progress: read_committed readers wait"
# The coordinator looks for overdue transactions every 10 s.
_ABORTED_WITHIN_S = TIMEOUT_MS / 1000 + 30


def inject(lab: Lab) -> Injected:
    """Start the producer that hangs; returns while the transaction is open."""
    injected_at_ms = now_ms()
    name = lab.spawn("stuck-shipment", "stuck_shipment")
    truth = lab.paths.truth(name)
    opened = lab.gather([Tail(truth, from_beginning=True)], of_event("open"), 1)[0]
    producer = lab.gather([Tail(truth, from_beginning=True)], of_event("producer"), 1)[0]
    offset = opened.facts["offset"]
    return Injected(
        fault=NAME,
        injected_at_ms=injected_at_ms,
        evidence_at_ms=opened.at_ms,
        expected=(
            Expected(
                kind=Kind.STABLE_OFFSET_FROZEN,
                topic=SHIPMENTS,
                partition=opened.facts["partition"],
                group_id=None,
                count=None,
                first_offset=offset,
                last_offset=offset,
                evidence_at_ms=opened.at_ms,
                message_ids=(MESSAGE_ID,),
            ),
        ),
        details={
            "process": name,
            "transactional_id": TRANSACTIONAL_ID,
            "producer_id": producer.facts["producer_id"],
            "producer_epoch": producer.facts["producer_epoch"],
            "partition": opened.facts["partition"],
            "first_offset": offset,
            "begun_at_ms": opened.facts["begun_at_ms"],
            "timeout_ms": TIMEOUT_MS,
            "waiting_group": SHIPPING_LEDGER,
        },
    )


def recover(lab: Lab, injected: Injected) -> Injected:
    """Wait until the coordinator has aborted the transaction, then end the process that left it open."""
    frozen = injected.expected[0]
    deadline = time.monotonic() + _ABORTED_WITHIN_S
    while last_stable_offset(lab.bootstrap, frozen.topic, frozen.partition) <= int(str(frozen.first_offset)):
        if time.monotonic() > deadline:
            raise LabError(f"The coordinator did not abort {TRANSACTIONAL_ID} within {_ABORTED_WITHIN_S:.0f} s.")
        time.sleep(0.5)
    aborted_at_ms = now_ms()
    lab.end(str(injected.details["process"]))
    return replace(injected, recovered_at_ms=now_ms(), details={**injected.details, "aborted_at_ms": aborted_at_ms})


def last_stable_offset(bootstrap: str, topic: str, partition: int) -> int:
    """Up to where a read_committed reader sees the partition."""
    asked = TopicPartition(topic, partition)
    admin = admin_client(bootstrap)
    answers = admin.list_offsets(
        {asked: OffsetSpec.latest()}, isolation_level=IsolationLevel.READ_COMMITTED, request_timeout=10
    )
    return int(answers[asked].result(timeout=15).offset)
