"""A service that hands every record of a topic on to another one under its id: a member of a group, at least once."""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

from lab.commands import Command, Fault
from lab.stores import STORES, Store
from lab.workload.messages import ID_HEADER, message_id
from lab.workload.payments_member import next_offsets
from lab.workload.worker import Worker, worker_from_arguments

_BATCH_RECORDS = 50
_BATCH_S = 0.5
_SESSION_TIMEOUT_MS = 6_000


class Relay:
    """Polls a batch, hands it on, commits; a command makes it fail with its next batch."""

    def __init__(self, worker: Worker, source: str, group_id: str, hand_on: Callable[[list[Message]], None]) -> None:
        self._worker, self._source, self._hand_on = worker, source, hand_on
        self._consumer = Consumer(
            {
                "bootstrap.servers": worker.bootstrap,
                "client.id": worker.name,
                "group.id": group_id,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "session.timeout.ms": _SESSION_TIMEOUT_MS,
            }
        )

    def run(self) -> None:
        """Until asked to end."""
        self._consumer.subscribe([self._source])
        while not self._worker.stopping.is_set():
            if command := self._worker.command():
                self._fail(command)
            elif batch := self._collect(_BATCH_RECORDS, within_s=_BATCH_S):
                self._hand_on(batch)
                self._commit(batch)
        self._consumer.close()

    def _fail(self, command: Command) -> None:
        """Die with as many records as asked for: committed and not handed on, or handed on and not committed."""
        batch = self._collect(command.count, within_s=60)
        if command.fault is Fault.COMMIT_FIRST:
            self._commit(batch)
        else:
            self._hand_on(batch)
        self._worker.die(command, [message_id(each.headers()) for each in batch])

    def _collect(self, count: int, *, within_s: float) -> list[Message]:
        batch: list[Message] = []
        deadline = time.monotonic() + within_s
        while len(batch) < count and time.monotonic() < deadline and not self._worker.stopping.is_set():
            message = self._consumer.poll(0.1)
            if message is not None and message.error() is None:
                batch.append(message)
        if batch:
            self._worker.truth.write("polled", records=[_where(each) for each in batch])
        return batch

    def _commit(self, batch: list[Message]) -> None:
        offsets = next_offsets(batch)
        commits = [TopicPartition(self._source, partition, offset) for partition, offset in offsets.items()]
        self._consumer.commit(offsets=commits, asynchronous=False)
        self._worker.truth.write("committed", offsets=offsets)


class ToSink:
    """Sends a batch to a topic under the ids it came with, and waits for all acknowledgements."""

    def __init__(self, worker: Worker, sink: str) -> None:
        self._worker, self._sink = worker, sink
        self._producer = Producer(worker.producer_settings())

    def __call__(self, batch: list[Message]) -> None:
        done: list[tuple[str, int, int, int, int]] = []

        def send(message: Message) -> None:
            def delivered(error: KafkaError | None, stored: Message) -> None:
                if error is None:
                    done.append((*_where(message), stored.partition(), stored.offset()))

            headers = [(ID_HEADER, message_id(message.headers()).encode())]
            self._producer.produce(
                self._sink, message.value(), partition=message.partition(), headers=headers, on_delivery=delivered
            )

        for message in batch:
            send(message)
        self._producer.flush()
        self._worker.truth.write("processed", records=done)


class ToStore:
    """Keeps the results of what is new, and recognises the rest."""

    def __init__(self, worker: Worker, store: Store) -> None:
        self._worker, self._store = worker, store

    def __call__(self, batch: list[Message]) -> None:
        known = [message for message in batch if not self._store.takes(message)]
        self._worker.truth.write("recognised", count=len(known))


def _where(message: Message) -> tuple[str, int, int]:
    return message_id(message.headers()), message.partition(), message.offset()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("--source", "--sink", "--group"):
        parser.add_argument(option, required=True)
    parser.add_argument("--store", choices=STORES, help="keep the results there; somebody else publishes them")
    parser.add_argument("--database", type=Path, help="of the store")
    worker, given = worker_from_arguments(parser)
    hand_on = ToStore(worker, STORES[given.store](given.database)) if given.store else ToSink(worker, given.sink)
    Relay(worker, given.source, given.group, hand_on).run()
    worker.truth.write("ended")


if __name__ == "__main__":
    main()
