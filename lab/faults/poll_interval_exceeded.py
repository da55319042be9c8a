"""S10, processing that takes longer than max.poll.interval.ms: the member is out, and its records come again.

Two members share two partitions. One takes records and does not poll again in time: its client leaves the group, the
other gets the partition and reads it on from the last commit, slowly enough that somebody who looks every five seconds
can see it.
"""

import time
from contextlib import suppress
from dataclasses import replace

from confluent_kafka import Consumer, KafkaException, TopicPartition

from guarantees.findings import Grade, Kind
from lab.ground import SEEN_AFTER_S, Ground
from lab.injected import Expected, Injected
from lab.truth import now_ms

CODE = "S10"
TITLE = "processing longer than max.poll.interval.ms"
BREAKS = "at least once keeps its word: records are delivered again, duplicates at a sink that does not recognise them"
SILENT = "the partition of the member that stayed"
ALONE = False
_MAX_POLL_INTERVAL_MS = 6_000
_RECORDS = 600
_RECORD_TAKES_S = 0.02


def inject(ground: Ground) -> Injected:
    """Returns some seconds after the partition has moved, with work left on it."""
    topic, group_id = ground.create_topic("claims", [[2, 1, 3], [2, 3, 1]]), ground.name("handling")
    members = [
        ground.consumer(group_id, max_poll_interval_ms=interval, session_timeout_ms=6_000)
        for interval in (_MAX_POLL_INTERVAL_MS, 300_000)
    ]
    slow, other = members
    for member in members:
        member.subscribe([topic])
    ground.await_that(lambda: all(_owns_one(member) for member in members), f"{group_id} did not share {topic}")
    for partition in (0, 1):
        ground.produce(topic, 20, partition=partition)
    until = time.monotonic() + SEEN_AFTER_S
    while time.monotonic() < until:
        for member in members:
            _read_on(member, 5)
    injected_at_ms = now_ms()
    ((partition, committed),) = [(each.partition, 20) for each in slow.assignment()]
    for number in (0, 1):
        ground.produce(topic, _RECORDS, partition=number)
    taken = _take(slow, ground.some(40, 120))
    moved_at_ms = ground.await_that(
        lambda: _read_on(other, 5) and len(other.assignment()) == 2, f"{group_id} did not lose its slow member"
    )
    until = time.monotonic() + 6
    while time.monotonic() < until:
        _read_on(other, 5)
    ground.hold(slow, other)
    return Injected(
        fault=CODE,
        injected_at_ms=injected_at_ms,
        evidence_at_ms=moved_at_ms,
        expected=(
            Expected(
                kind=Kind.POSSIBLE_REDELIVERY,
                topic=topic,
                partition=partition,
                group_id=group_id,
                count=taken,
                first_offset=committed,
                last_offset=committed + taken - 1,
                evidence_at_ms=moved_at_ms,
                grade=Grade.POSSIBLE,
            ),
        ),
        details={"topic": topic, "partition": partition, "taken": taken},
    )


def recover(ground: Ground, injected: Injected) -> Injected:
    """The member that stayed reads to the end and leaves in order; the other one has left already."""
    slow, other = ground.held
    topic = str(injected.details["topic"])
    ends = [TopicPartition(topic, number, 20 + _RECORDS) for number in (0, 1)]

    def is_read() -> bool:
        return _read_on(other, 50) and all(_position(other, end) == end.offset for end in ends)

    ground.await_that(is_read, f"{topic} was not read")
    ground.leave(ground.name("handling"), other)
    slow.close()
    return replace(injected, recovered_at_ms=now_ms())


def _owns_one(member: Consumer) -> bool:
    member.poll(0.05)
    return len(member.assignment()) == 1


def _read_on(member: Consumer, most: int) -> bool:
    """Some records, one after the other, and their commit."""
    read = 0
    for _ in range(most):
        message = member.poll(0.05)
        if message is None:
            break
        if message.error() is None:
            read += 1
            time.sleep(_RECORD_TAKES_S)
    if read:
        with suppress(KafkaException):  # what a rebalance has taken away meanwhile is not the member's to commit
            member.commit(asynchronous=False)
    return True


def _take(member: Consumer, count: int) -> int:
    """Records that are worked on and not committed."""
    taken = 0
    while taken < count:
        message = member.poll(1)
        taken += message is not None and message.error() is None
    return taken


def _position(member: Consumer, where: TopicPartition) -> int:
    return int(member.position([where])[0].offset)
