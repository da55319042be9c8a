"""The member of `audit-reader`: reads a handful of notes, commits, and then has nothing to do. Consumer protocol."""

import argparse

from confluent_kafka import Consumer

from lab.topics import AUDIT_NOTES, AUDIT_READER
from lab.workload.worker import Worker, worker_from_arguments


def read_notes(worker: Worker) -> None:
    """Commit each note as it is read, until asked to end."""
    consumer = Consumer(
        {
            "bootstrap.servers": worker.bootstrap,
            "client.id": worker.name,
            "group.id": AUDIT_READER,
            "group.protocol": "consumer",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([AUDIT_NOTES])
    while not worker.stopping.is_set():
        note = consumer.poll(0.5)
        if note is None:
            continue
        if note.error():
            worker.truth.write("poll_failed", error=note.error().str())
            continue
        consumer.commit(message=note, asynchronous=False)
        worker.truth.write("committed", offset=note.offset() + 1)
    consumer.close()


def main() -> None:
    worker, _given = worker_from_arguments(argparse.ArgumentParser(description=__doc__))
    read_notes(worker)
    worker.truth.write("ended")


if __name__ == "__main__":
    main()
