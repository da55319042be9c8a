"""S14, a zombie transactional producer: a second instance with its transactional id fences it.

The first instance has a transaction open when the second one starts; it writes the same records and commits them. The
first one's commit is refused, and its records are aborted: neither a loss nor a duplicate.
"""

from confluent_kafka import KafkaException

from guarantees.findings import Grade, Kind
from lab.errors import LabError
from lab.ground import Ground
from lab.injected import Expected, Injected
from lab.records import send
from lab.truth import now_ms

CODE = "S14"
TITLE = "a zombie transactional producer is fenced"
BREAKS = "nothing: the protocol at work"
SILENT = "no loss, no duplicate, no timed-out transaction"
ALONE = False


def inject(ground: Ground) -> Injected:
    """Returns when the second instance has committed: until then the log cannot tell it from an ordinary abort."""
    count = ground.some(50, 200)
    topic, name = ground.create_topic("transfers"), ground.name("transfers")
    zombie, fresh = (ground.producer(transactional_id=name, transaction_timeout_ms=60_000) for _ in range(2))
    zombie.init_transactions(30)
    zombie.begin_transaction()
    send(zombie, topic, 0, count)
    injected_at_ms = now_ms()
    fresh.init_transactions(30)
    if not _is_refused(zombie):
        raise LabError(f"the first instance of {name} could still commit")
    fresh.begin_transaction()
    send(fresh, topic, 0, count)
    fresh.commit_transaction(30)
    committed_at_ms = now_ms()
    ground.read_to(ground.name("clearing"), topic, 2 * count + 1)
    return Injected(
        fault=CODE,
        injected_at_ms=injected_at_ms,
        evidence_at_ms=committed_at_ms,
        expected=(
            Expected(
                kind=Kind.PRODUCER_FENCED,
                topic=topic,
                partition=None,
                group_id=None,
                count=None,
                first_offset=None,
                last_offset=None,
                evidence_at_ms=committed_at_ms,
                grade=Grade.PROVEN,
            ),
        ),
        details={"transactional_id": name, "aborted_records": count, "committed_records": count},
    )


def _is_refused(zombie: object) -> bool:
    try:
        zombie.commit_transaction(30)  # type: ignore[attr-defined]
    except (KafkaException, SystemError):  # librdkafka's way to say that an instance is fenced
        return True
    return False
