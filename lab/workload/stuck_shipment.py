"""A transactional producer that writes one record and hangs, its transaction open: the stable offset freezes."""

import argparse

from confluent_kafka import KafkaError, Message, Producer

from lab.topics import SHIPMENTS
from lab.truth import now_ms
from lab.workload.messages import ID_HEADER
from lab.workload.worker import Worker, worker_from_arguments

TRANSACTIONAL_ID = "shipments-stuck"
TIMEOUT_MS = 60_000
PARTITION = 0
MESSAGE_ID = "shipment-stuck-1"


def leave_open(worker: Worker) -> None:
    """Begin, write, and never answer again; the coordinator aborts after its timeout."""
    transactional = {"transactional.id": TRANSACTIONAL_ID, "transaction.timeout.ms": TIMEOUT_MS}
    producer = Producer({**worker.producer_settings(), **transactional})
    producer.init_transactions(60)
    begun_at_ms = now_ms()
    producer.begin_transaction()

    def written(error: KafkaError | None, message: Message) -> None:
        if error is not None:
            worker.truth.write("failed", error=error.str())
            return
        where = {"partition": message.partition(), "offset": message.offset()}
        worker.truth.write("open", message_id=MESSAGE_ID, begun_at_ms=begun_at_ms, **where)

    headers = [(ID_HEADER, MESSAGE_ID.encode())]
    producer.produce(SHIPMENTS, partition=PARTITION, value=b"{}", headers=headers, on_delivery=written)
    producer.flush()
    # The statistics bring the producer id within a second; after that only the end is waited for.
    producer.poll(2)
    worker.stopping.wait()


def main() -> None:
    worker, _given = worker_from_arguments(argparse.ArgumentParser(description=__doc__))
    leave_open(worker)


if __name__ == "__main__":
    main()
