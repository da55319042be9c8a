"""Records written and read with clients of the lab's own, until all is done."""

import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer

from lab.errors import LabError
from lab.workload.messages import ID_HEADER

T = TypeVar("T")

_HAPPENS_WITHIN_S = 60.0
_NUMBERS = itertools.count(1)


def fresh_record() -> dict[str, Any]:
    """Value and id of a record that nobody has sent yet: whoever meets it twice can tell."""
    return record_with_id(f"record {next(_NUMBERS)}")


def record_with_id(message_id: str) -> dict[str, Any]:
    """Value and id of a record of which there may be others with the same id."""
    return {"value": message_id, "headers": [(ID_HEADER, message_id.encode())]}


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
        producer.produce(topic, partition=partition, on_delivery=delivered, **fresh_record())
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


def read_each(consumer: Consumer, count: int) -> Iterator[Message]:
    """The next so many records, one after the other."""
    deadline = time.monotonic() + _HAPPENS_WITHIN_S
    left = count
    while left:
        message = consumer.poll(0.5)
        if message is not None and message.error() is None:
            left -= 1
            yield message
        elif time.monotonic() > deadline:
            raise LabError(f"a consumer of the lab waited for {left} of {count} records")


def read_until(consumer: Consumer, last_offset: int) -> Message:
    """Poll until the record at this offset or one after it is there; that record."""
    deadline = time.monotonic() + _HAPPENS_WITHIN_S
    while time.monotonic() < deadline:
        message = consumer.poll(0.5)
        if message is not None and message.error() is None and int(str(message.offset())) >= last_offset:
            return message
    raise LabError("a consumer of the lab did not get the records it waited for")
