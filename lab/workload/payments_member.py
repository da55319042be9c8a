"""A member of `payments-service`: orders become payments, at least once (process, then commit), classic protocol.

Whatever a rebalance takes away is finished and committed first, so only a crash leads to a second delivery.
"""

import argparse
import time
from collections.abc import Callable, Mapping, Sequence

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

from lab.commands import Command, Fault
from lab.topics import ORDERS, PAYMENTS, PAYMENTS_SERVICE
from lab.workload.messages import ID_HEADER, message_id, payment
from lab.workload.worker import Worker, worker_from_arguments

BATCH_RECORDS = 20
_BATCH_S = 0.5
# Two members are well below their limit, one alone works for seconds to make up for the other: as in real services, a
# crash leaves a backlog that somebody who looks every five seconds can see.
PAYMENT_TAKES_S = 0.012
# Long enough for a busy machine not to lose a living member, short enough for a crash to be told within the story.
SESSION_TIMEOUT_MS = 10_000
COMMIT_WITHIN_S = 60.0


class PaymentsMember:
    """Polls a batch of orders, pays for them, waits for all acknowledgements, commits."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._truth = worker.truth
        self._producer = Producer(worker.producer_settings())
        self._consumer = Consumer(
            {
                "bootstrap.servers": worker.bootstrap,
                "client.id": worker.name,
                "group.id": PAYMENTS_SERVICE,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "session.timeout.ms": SESSION_TIMEOUT_MS,
                "heartbeat.interval.ms": 2000,
            }
        )
        self._batch: list[Message] = []

    def run(self) -> None:
        """Until asked to end; a command replaces the next batch."""
        self._consumer.subscribe([ORDERS], on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._lost)
        faults: Mapping[Fault, Callable[[Command], None]] = {
            Fault.COMMIT_FIRST: self._commit_first,
            Fault.DIE_BEFORE_COMMIT: self._die_before_commit,
        }
        while not self._worker.stopping.is_set():
            if command := self._worker.command():
                faults[command.fault](command)
            self._collect(BATCH_RECORDS, within_s=_BATCH_S)
            self._finish_batch()
        self._consumer.close()

    def _collect(self, count: int, *, within_s: float) -> None:
        """Add to the batch; a rebalance meanwhile finishes and empties it."""
        deadline = time.monotonic() + within_s
        while len(self._batch) < count and time.monotonic() < deadline and not self._worker.stopping.is_set():
            message = self._consumer.poll(0.1)
            if message is None:
                self._producer.poll(0)
            elif message.error():
                self._truth.write("poll_failed", error=message.error().str())
            else:
                self._batch.append(message)

    def _finish_batch(self) -> None:
        if self._batch:
            self._process()
            self._commit()
            self._batch.clear()

    def _process(self) -> None:
        """Pay for every order of the batch; ends when the brokers have acknowledged all of it."""
        self._write_polled()
        done: list[tuple[str, int, int, int, int]] = []

        def produce(order: Message) -> None:
            def paid(error: KafkaError | None, sent: Message) -> None:
                if error is not None:
                    self._truth.write("failed", message_id=message_id(order.headers()), error=error.str())
                    return
                where = (order.partition(), order.offset(), sent.partition(), sent.offset())
                done.append((message_id(order.headers()), *where))

            headers = [(ID_HEADER, message_id(order.headers()).encode())]
            value = payment(order.value())
            self._producer.produce(PAYMENTS, key=order.key(), value=value, headers=headers, on_delivery=paid)

        for order in self._batch:
            produce(order)
            time.sleep(PAYMENT_TAKES_S)
        self._producer.flush()
        self._truth.write("processed", records=done)

    def _write_polled(self) -> None:
        records = [(message_id(order.headers()), order.partition(), order.offset()) for order in self._batch]
        self._truth.write("polled", records=records)

    def _commit(self) -> None:
        offsets = next_offsets(self._batch)
        commits = [TopicPartition(ORDERS, partition, offset) for partition, offset in offsets.items()]
        self._commit_patiently(commits)
        self._truth.write("committed", offsets=offsets)

    def _commit_patiently(self, commits: list[TopicPartition]) -> None:
        """Brokers that come back within a minute end no member, whose death would be a fault nobody injected."""
        deadline = time.monotonic() + COMMIT_WITHIN_S
        while True:
            try:
                self._consumer.commit(offsets=commits, asynchronous=False)
            except KafkaException as exc:
                if not exc.args[0].retriable() or time.monotonic() > deadline:
                    raise
                time.sleep(0.5)
            else:
                return

    def _commit_first(self, command: Command) -> None:
        """Commit what was only polled, then crash: these orders are never paid."""
        self._fill_batch(command.count)
        self._write_polled()
        self._commit()
        self._worker.die(command, self._batch_ids())

    def _die_before_commit(self, command: Command) -> None:
        """Pay, then crash before the commit: these orders are paid again by whoever gets the partitions."""
        self._fill_batch(command.count)
        self._process()
        self._worker.die(command, self._batch_ids())

    def _fill_batch(self, count: int) -> None:
        while len(self._batch) < count and not self._worker.stopping.is_set():
            self._collect(count, within_s=_BATCH_S)

    def _batch_ids(self) -> list[str]:
        return [message_id(order.headers()) for order in self._batch]

    def _assigned(self, consumer: Consumer, partitions: Sequence[TopicPartition]) -> None:
        numbers = [each.partition for each in partitions]
        self._truth.write("assigned", member_id=consumer.memberid(), partitions=numbers)

    def _revoked(self, consumer: Consumer, partitions: Sequence[TopicPartition]) -> None:
        self._finish_batch()
        self._truth.write("revoked", member_id=consumer.memberid(), partitions=[each.partition for each in partitions])

    def _lost(self, _consumer: Consumer, partitions: Sequence[TopicPartition]) -> None:
        """Others own them already: what was polled and not processed is theirs now."""
        self._batch.clear()
        self._truth.write("lost", partitions=[each.partition for each in partitions])


def next_offsets(batch: Sequence[Message]) -> dict[int, int]:
    """The offsets to commit once the batch is done, by partition."""
    offsets: dict[int, int] = {}
    for message in batch:
        offsets[message.partition()] = max(offsets.get(message.partition(), 0), message.offset() + 1)
    return offsets


def main() -> None:
    worker, _given = worker_from_arguments(argparse.ArgumentParser(description=__doc__))
    PaymentsMember(worker).run()
    worker.truth.write("ended")


if __name__ == "__main__":
    main()
