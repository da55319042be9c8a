"""Records written and read with clients of the lab's own, until all is done."""

import time

from confluent_kafka import Consumer, KafkaError, Message, Producer

from lab.errors import LabError

_HAPPENS_WITHIN_S = 60.0


def send(
    producer: Producer, topic: str, partition: int, count: int, *, pause_s: float = 0.0
) -> tuple[list[int], list[str]]:
    """Produce and flush: the offsets of what was acknowledged, and why the rest was not."""
    stored: list[int] = []
    refused: list[str] = []

    def delivered(error: KafkaError | None, message: Message) -> None:
        if error is None:
            stored.append(int(str(message.offset())))
        else:
            refused.append(error.str())

    for number in range(count):
        producer.produce(topic, f"record {number}", partition=partition, on_delivery=delivered)
        time.sleep(pause_s)
        if number % 1_000 == 999:
            producer.poll(0)
    producer.flush(60)
    return stored, refused


def read_until(consumer: Consumer, last_offset: int) -> Message:
    """Poll until the record at this offset or one after it is there; that record."""
    deadline = time.monotonic() + _HAPPENS_WITHIN_S
    while time.monotonic() < deadline:
        message = consumer.poll(0.5)
        if message is not None and message.error() is None and int(str(message.offset())) >= last_offset:
            return message
    raise LabError("a consumer of the lab did not get the records it waited for")
