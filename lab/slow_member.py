"""Two members share two partitions, and one works longer than max.poll.interval.ms: what S10 and S20 have in common.

Its client leaves the group, the other member gets the partition and reads it on from the last commit, slowly enough
that somebody who looks every five seconds can see it.
"""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from guarantees.findings import Grade, Kind
from lab.ground import SEEN_AFTER_S, Ground
from lab.injected import Expected
from lab.records import read_each

RECORDS = 600
_BEFORE = 20
_MAX_POLL_INTERVAL_MS = 10_000
_RECORD_TAKES_S = 0.02
_BACKLOG_SEEN_AFTER_S = 6


class Target(Protocol):
    """What the members write to."""

    def put(self, message: Message) -> None: ...

    def flush(self) -> None: ...


@dataclass(frozen=True, slots=True)
class SharedWork:
    """The topic, its group of two, and what they write to."""

    ground: Ground
    topic: str
    group_id: str
    slow: Consumer
    other: Consumer
    target: Target

    def both_work(self) -> None:
        """Each owns a partition and has committed what was there."""
        members = (self.slow, self.other)
        for member in members:
            member.subscribe([self.topic], on_revoke=self._hand_over, on_lost=_owns_it_no_more)
        self.ground.await_that(
            lambda: all(_owns_one(member) for member in members), f"{self.group_id} did not share {self.topic}"
        )
        for partition in (0, 1):
            self.ground.produce(self.topic, _BEFORE, partition=partition)
        until = time.monotonic() + SEEN_AFTER_S
        while time.monotonic() < until:
            for member in members:
                self._work(member, 5)

    def one_works_too_long(self) -> Expected:
        """The slow member takes records and does not poll again; returns when the other one has its partition."""
        partition, taken = self.slow.assignment()[0].partition, self.ground.some(40, 120)
        for number in (0, 1):
            self.ground.produce(self.topic, RECORDS, partition=number)
        self._take(taken)
        moved_at_ms = self.ground.await_that(self._has_moved, f"{self.group_id} did not lose its slow member")
        until = time.monotonic() + _BACKLOG_SEEN_AFTER_S
        while time.monotonic() < until:
            self._work(self.other, 5)
        return Expected(
            kind=Kind.POSSIBLE_REDELIVERY,
            topic=self.topic,
            partition=partition,
            group_id=self.group_id,
            count=taken,
            first_offset=_BEFORE,
            last_offset=_BEFORE + taken - 1,
            evidence_at_ms=moved_at_ms,
            grade=Grade.POSSIBLE,
        )

    def the_other_ends_it(self) -> None:
        """The member that stayed works to the end and leaves in order."""
        ends = [TopicPartition(self.topic, number, _BEFORE + RECORDS) for number in (0, 1)]

        def is_done() -> bool:
            self._work(self.other, 50)
            return all(int(self.other.position([end])[0].offset) == end.offset for end in ends)

        self.ground.await_that(is_done, f"{self.topic} was not read")
        self.ground.leave(self.group_id, self.other)
        self.slow.close()

    def _has_moved(self) -> bool:
        self._work(self.other, 5)
        return len(self.other.assignment()) == 2

    def _work(self, member: Consumer, most: int) -> None:
        """Some records, one after the other, and their commit."""
        done = 0
        for _ in range(most):
            message = member.poll(0.05)
            if message is None:
                break
            if message.error() is None:
                self.target.put(message)
                done += 1
                time.sleep(_RECORD_TAKES_S)
        if done:
            self.target.flush()
            with suppress(KafkaException):  # a rebalance is under way, and `_hand_over` comes with the next poll
                member.commit(asynchronous=False)

    def _hand_over(self, member: Consumer, _partitions: Sequence[TopicPartition]) -> None:
        """What is done is committed before a rebalance takes it away: only the slow member's records come again."""
        self.target.flush()
        with suppress(KafkaException):
            member.commit(asynchronous=False)

    def _take(self, count: int) -> None:
        """Records that are worked on and not committed."""
        for message in read_each(self.slow, count):
            self.target.put(message)
        self.target.flush()


def shared_work(ground: Ground, topic: str, group_id: str, target: Target) -> SharedWork:
    """A topic of two partitions and two members, of which the first has a short max.poll.interval.ms."""
    slow, other = (
        ground.consumer(group_id, max_poll_interval_ms=interval, session_timeout_ms=6_000)
        for interval in (_MAX_POLL_INTERVAL_MS, 300_000)
    )
    return SharedWork(ground, topic, group_id, slow, other, target)


def _owns_it_no_more(_member: Consumer, _partitions: Sequence[TopicPartition]) -> None:
    """Others have the partition already: what was not committed is theirs."""


def _owns_one(member: Consumer) -> bool:
    member.poll(0.05)
    return len(member.assignment()) == 1
