"""The member of `shipping-ledger`: consume, transform, produce and commit in one transaction; exactly once.

Every eighth transaction is aborted on purpose after its records were written, and done again.
"""

import argparse
import time
from collections.abc import Sequence

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition

from lab.topics import LEDGER, SHIPMENTS, SHIPPING_LEDGER
from lab.workload.messages import ID_HEADER, ledger_entry, message_id
from lab.workload.payments_member import SESSION_TIMEOUT_MS, next_offsets
from lab.workload.worker import Worker, worker_from_arguments

BATCH_RECORDS = 20
_BATCH_S = 1.0
ABORT_EVERY = 8
TRANSACTIONAL_ID = "shipping-ledger-1"


class LedgerMember:
    """Reads with isolation level read_committed and writes transactions."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._consumer = Consumer(
            {
                "bootstrap.servers": worker.bootstrap,
                "client.id": worker.name,
                "group.id": SHIPPING_LEDGER,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "session.timeout.ms": SESSION_TIMEOUT_MS,
            }
        )
        transactional = {"transactional.id": TRANSACTIONAL_ID, "transaction.timeout.ms": 30_000}
        self._producer = Producer({**worker.producer_settings(), **transactional})
        self._transactions = 0
        self._batch: list[Message] = []

    def run(self) -> None:
        """Until asked to end; an open transaction is always ended first."""
        self._producer.init_transactions(60)
        self._consumer.subscribe([SHIPMENTS], on_assign=self._assigned, on_revoke=self._revoked)
        while not self._worker.stopping.is_set():
            self._collect()
            if self._batch:
                self._transact()
                self._batch.clear()
        self._consumer.close()

    def _collect(self) -> None:
        deadline = time.monotonic() + _BATCH_S
        while len(self._batch) < BATCH_RECORDS and time.monotonic() < deadline:
            message = self._consumer.poll(0.1)
            if message is None:
                self._producer.poll(0)
            elif message.error():
                self._worker.truth.write("poll_failed", error=message.error().str())
            else:
                self._batch.append(message)

    def _transact(self) -> None:
        self._transactions += 1
        self._producer.begin_transaction()
        try:
            self._write_entries()
            if self._transactions % ABORT_EVERY == 0:
                self._abort("on purpose")
                return
            self._producer.commit_transaction(30)
        except KafkaException as exc:
            if not exc.args[0].txn_requires_abort():
                raise
            self._abort(exc.args[0].str())
            return
        self._write_truth("committed")

    def _write_entries(self) -> None:
        for shipment in self._batch:
            headers = [(ID_HEADER, message_id(shipment.headers()).encode())]
            self._producer.produce(LEDGER, key=shipment.key(), value=ledger_entry(shipment.value()), headers=headers)
        offsets = next_offsets(self._batch)
        commits = [TopicPartition(SHIPMENTS, partition, offset) for partition, offset in offsets.items()]
        self._producer.send_offsets_to_transaction(commits, self._consumer.consumer_group_metadata(), 30)
        self._producer.flush()

    def _abort(self, reason: str) -> None:
        """Give the transaction up and read its records again."""
        self._producer.abort_transaction(30)
        for partition, offset in first_offsets(self._batch).items():
            self._consumer.seek(TopicPartition(SHIPMENTS, partition, offset))
        self._write_truth("aborted", reason=reason)

    def _write_truth(self, outcome: str, **facts: str) -> None:
        records = [(message_id(each.headers()), each.partition(), each.offset()) for each in self._batch]
        self._worker.truth.write(outcome, records=records, **facts)

    def _assigned(self, consumer: Consumer, partitions: Sequence[TopicPartition]) -> None:
        numbers = [each.partition for each in partitions]
        self._worker.truth.write("assigned", member_id=consumer.memberid(), partitions=numbers)

    def _revoked(self, _consumer: Consumer, partitions: Sequence[TopicPartition]) -> None:
        """Nothing of the batch was written yet: whoever gets the partitions starts at the commit."""
        self._batch.clear()
        self._worker.truth.write("revoked", partitions=[each.partition for each in partitions])


def first_offsets(batch: Sequence[Message]) -> dict[int, int]:
    """Where to read on after an abort, by partition."""
    offsets: dict[int, int] = {}
    for message in batch:
        offsets.setdefault(message.partition(), message.offset())
    return offsets


def main() -> None:
    worker, _given = worker_from_arguments(argparse.ArgumentParser(description=__doc__))
    LedgerMember(worker).run()
    worker.truth.write("ended")


if __name__ == "__main__":
    main()
