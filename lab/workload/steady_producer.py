"""Sends a stream's messages at a steady rate, a batch each half second, and records its progress after each batch.

A producer that dies between the broker's acknowledgement and its own record of it sends that batch again when it is
started again: at least once, by a new producer id.
"""

import argparse
import json
import time

from confluent_kafka import KafkaError, Message, Producer

from lab.commands import Command
from lab.workload.messages import ID_HEADER, STREAMS, OutgoingMessage
from lab.workload.worker import Worker, worker_from_arguments

_BATCH_S = 0.5


class SteadyProducer:
    """The producer of one stream, from where the last one recorded that it stood."""

    def __init__(self, worker: Worker, stream: str, rate: float) -> None:
        self._worker = worker
        self._stream = stream
        self._message = STREAMS[stream]
        self._rate = rate
        self._progress = worker.paths.progress(stream)
        self._next = json.loads(self._progress.read_text())["next"] if self._progress.exists() else 1
        self._producer = Producer(worker.producer_settings())

    def run(self) -> None:
        """Until asked to end; a command replaces the next batch."""
        while not self._worker.stopping.is_set():
            if command := self._worker.command():
                self._die_before_progress(command)
            self._send(max(1, round(self._rate * _BATCH_S)))
            self._record_progress()

    def _send(self, count: int) -> list[str]:
        messages = [self._message(number) for number in range(self._next, self._next + count)]
        self._worker.truth.write("sending", message_ids=[message.message_id for message in messages])
        for message in messages:
            self._produce(message)
            self._serve_for(1 / self._rate)
        self._producer.flush()
        self._next += count
        return [message.message_id for message in messages]

    def _serve_for(self, seconds: float) -> None:
        """Serve delivery reports for this long; one `poll` returns as soon as it has served something."""
        deadline = time.monotonic() + seconds
        while (remaining := deadline - time.monotonic()) > 0:
            self._producer.poll(remaining)

    def _produce(self, message: OutgoingMessage) -> None:
        def delivered(error: KafkaError | None, stored: Message) -> None:
            # A delivery report carries no headers: the id comes from what was sent.
            if error is not None:
                self._worker.truth.write("failed", message_id=message.message_id, error=error.str())
                return
            where = {"partition": stored.partition(), "offset": stored.offset()}
            self._worker.truth.write("acknowledged", message_id=message.message_id, **where)

        headers = [(ID_HEADER, message.message_id.encode())]
        self._producer.produce(
            self._stream, key=message.key, value=message.value, headers=headers, on_delivery=delivered
        )

    def _record_progress(self) -> None:
        partial = self._progress.with_suffix(".partial")
        partial.write_text(json.dumps({"next": self._next}))
        partial.replace(self._progress)

    def _die_before_progress(self, command: Command) -> None:
        self._worker.die(command, self._send(command.count))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stream", required=True, choices=STREAMS)
    parser.add_argument("--rate", required=True, type=float, help="messages a second")
    worker, given = worker_from_arguments(parser)
    SteadyProducer(worker, given.stream, given.rate).run()
    worker.truth.write("ended")


if __name__ == "__main__":
    main()
