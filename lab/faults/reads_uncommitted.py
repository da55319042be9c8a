"""S13, a group reads with isolation.level=read_uncommitted what a transaction wrote, and the transaction is aborted."""

import time
from dataclasses import replace

from guarantees.findings import Grade, Kind
from lab.ground import SEEN_AFTER_S, Ground
from lab.injected import Expected, Injected
from lab.records import read_until, send
from lab.truth import now_ms

CODE = "S13"
TITLE = "aborted records consumed with read_uncommitted"
BREAKS = "exactly once: records that were never committed are processed"
SILENT = "the group that reads with read_committed"
ALONE = False


def inject(ground: Ground) -> Injected:
    """Returns when the group has committed past the last stable offset, the transaction still open."""
    kept, count = ground.some(100, 400), ground.some(20, 90)
    topic, group_id = ground.create_topic("quotes"), ground.name("trading")
    ground.produce(topic, kept)
    ground.read_to(ground.name("booking"), topic, kept)
    member = ground.consumer(group_id, isolation_level="read_uncommitted")
    member.subscribe([topic])
    member.commit(message=read_until(member, kept - 1), asynchronous=False)
    time.sleep(SEEN_AFTER_S)
    injected_at_ms = now_ms()
    producer = ground.producer(transactional_id=ground.name("quotes"))
    producer.init_transactions(30)
    producer.begin_transaction()
    send(producer, topic, 0, count)
    member.commit(message=read_until(member, kept + count - 1), asynchronous=False)
    committed_at_ms = now_ms()
    ground.hold(producer, member)
    return Injected(
        fault=CODE,
        injected_at_ms=injected_at_ms,
        evidence_at_ms=committed_at_ms,
        expected=(
            Expected(
                kind=Kind.READ_PAST_STABLE_OFFSET,
                topic=topic,
                partition=0,
                group_id=group_id,
                count=count,
                first_offset=kept,
                last_offset=kept + count - 1,
                evidence_at_ms=committed_at_ms,
                grade=Grade.PROVEN,
                facts={
                    "committed_offset": kept + count,
                    "committed_offset_before": kept,
                    "last_stable_offset": kept,
                },
            ),
        ),
        details={"topic": topic},
    )


def recover(ground: Ground, injected: Injected) -> Injected:
    """The transaction is aborted: what the group has processed never was."""
    producer, member = ground.held
    producer.abort_transaction(30)
    end = ground.produce(str(injected.details["topic"]), 10)[-1]
    member.commit(message=read_until(member, end), asynchronous=False)
    ground.leave(ground.name("trading"), member)
    return replace(injected, recovered_at_ms=now_ms())
