"""S11, offsets reset by hand: one group is set back, another forward, while neither has members."""

import time
from dataclasses import replace

from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition

from guarantees.findings import Grade, Kind
from lab.ground import SEEN_AFTER_S, Ground
from lab.injected import Expected, Injected
from lab.truth import now_ms

CODE = "S11"
TITLE = "offsets reset by hand, back and forward"
BREAKS = "back: records are delivered again; forward: records are never read"
SILENT = "a group on the same topic that nobody touched"
ALONE = False


def inject(ground: Ground) -> Injected:
    """Returns when both offsets are set."""
    written = ground.some(500, 1500)
    back_to, read = written - ground.some(50, 400), ground.some(100, 400)
    topic = ground.create_topic("invoices")
    back, forward, other = (ground.name(what) for what in ("billing", "search", "archive"))
    ground.produce(topic, written)
    ground.read_as_members(topic, {back: written, forward: read, other: written})
    time.sleep(SEEN_AFTER_S)
    injected_at_ms = now_ms()
    for group_id, offset in ((back, back_to), (forward, written)):
        wanted = ConsumerGroupTopicPartitions(group_id, [TopicPartition(topic, 0, offset)])
        ground.admin.alter_consumer_group_offsets([wanted])[group_id].result(timeout=30)
    set_at_ms = now_ms()

    def expected(kind: Kind, group_id: str, old: int, new: int, grade: Grade, facts: dict[str, object]) -> Expected:
        return Expected(
            kind=kind,
            topic=topic,
            partition=0,
            group_id=group_id,
            count=abs(old - new),
            first_offset=min(old, new),
            last_offset=max(old, new) - 1,
            evidence_at_ms=set_at_ms,
            grade=grade,
            facts={"committed_offset_before": old, "committed_offset": new, **facts},
            happened_between_ms=(injected_at_ms, set_at_ms),
        )

    return Injected(
        fault=CODE,
        injected_at_ms=injected_at_ms,
        evidence_at_ms=set_at_ms,
        expected=(
            expected(Kind.REWIND, back, written, back_to, Grade.PROVEN, {"is_operator_reset": True}),
            expected(Kind.SKIPPED_FORWARD, forward, read, written, Grade.POSSIBLE, {"trigger": "operator_reset"}),
        ),
        details={"topic": topic},
    )


def recover(ground: Ground, injected: Injected) -> Injected:
    """Both groups go on from where they were set."""
    topic = str(injected.details["topic"])
    end = ground.produce(topic, 10)[-1] + 1
    ground.read_as_members(topic, {ground.name(what): end for what in ("billing", "search")})
    return replace(injected, recovered_at_ms=now_ms())
