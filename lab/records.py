"""Records written and read with clients of the lab's own, until all is done."""

import time
from collections.abc import Callable
from typing import TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer

from lab.errors import LabError

T = TypeVar("T")

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


def patiently(ask: Callable[[], T]) -> T:
    """What a coordinator answers, again and again while the group moves to another one."""
    deadline = time.monotonic() + _HAPPENS_WITHIN_S
    while True:
        try:
            return ask()
        except KafkaException:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)


def read_until(consumer: Consumer, last_offset: int) -> Message:
    """Poll until the record at this offset or one after it is there; that record."""
    deadline = time.monotonic() + _HAPPENS_WITHIN_S
    while time.monotonic() < deadline:
        message = consumer.poll(0.5)
        if message is not None and message.error() is None and int(str(message.offset())) >= last_offset:
            return message
    raise LabError("a consumer of the lab did not get the records it waited for")
