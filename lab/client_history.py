"""What the lab's own clients sent, were told and polled, noted where they do it, for the second judge."""

import itertools
from collections import Counter
from collections.abc import Iterable
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer

from lab.checker.history import Operation, Outcome, Poll, Record, Send
from lab.second_judge import LogKey
from lab.workload.messages import ID_HEADER

# What a broker answers before it has appended anything.
_NOT_APPENDED = {KafkaError.NOT_ENOUGH_REPLICAS, KafkaError.NOT_LEADER_FOR_PARTITION}


class ClientHistory:
    """Of one fault's clients, which run on several threads. A topic that is created anew is another place."""

    def __init__(self) -> None:
        self._operations: list[Operation] = []
        self._created: Counter[str] = Counter()
        self._producers = itertools.count(1)

    def topic_created(self, topic: str) -> None:
        self._created[topic] += 1

    def place(self, topic: str, partition: int) -> LogKey:
        return LogKey(topic, partition, self._created[topic])

    def producer_started(self) -> str:
        """The name of one producer among the others."""
        return f"producer {next(self._producers)}"

    def note(self, operation: Operation) -> None:
        self._operations.append(operation)

    def operations(self) -> tuple[Operation, ...]:
        """Everything so far, in the order in which it was over."""
        return tuple(self._operations)


class NotingProducer(Producer):
    """One operation for each record's acknowledgement, or one for all records of a transaction."""

    def __init__(self, settings: dict[str, Any], history: ClientHistory) -> None:
        super().__init__(settings)
        self._history, self._process = history, history.producer_started()
        self._is_transactional = "transactional.id" in settings
        self._is_told = settings.get("acks") != "0"  # without an acknowledgement nobody knows
        self._open: list[Send] = []

    def produce(self, topic: str, value: Any = None, **options: Any) -> None:
        heard = options.pop("on_delivery", None)

        def delivered(error: KafkaError | None, message: Message) -> None:
            self._delivered(value, error, message)
            if heard is not None:
                heard(error, message)

        super().produce(topic, value, on_delivery=delivered, **options)

    def commit_transaction(self, *timeout: float) -> None:
        try:
            super().commit_transaction(*timeout)
        except KafkaException as exc:
            self._end(Outcome.FAIL if exc.args[0].fatal() else Outcome.INFO)
            raise
        except SystemError:  # librdkafka's way to say that an instance is fenced
            self._end(Outcome.FAIL)
            raise
        self._end(Outcome.OK)

    def abort_transaction(self, *timeout: float) -> None:
        super().abort_transaction(*timeout)
        self._end(Outcome.FAIL)

    def _delivered(self, value: object, error: KafkaError | None, message: Message) -> None:
        place = self._history.place(str(message.topic()), int(str(message.partition())))
        # A delivery report carries no headers, and with acks=0 no offset.
        offset = message.offset()
        send = Send(place, Record(offset if error is None and offset is not None and offset >= 0 else None, value))
        if self._is_transactional:
            self._open.append(send)
        else:
            self._note(_outcome(error) if self._is_told else Outcome.INFO, [send])

    def _end(self, outcome: Outcome) -> None:
        self._note(outcome, self._open)
        self._open = []

    def _note(self, outcome: Outcome, sends: Iterable[Send]) -> None:
        self._history.note(Operation(self._process, outcome, tuple(sends)))


class NotingConsumer(Consumer):
    """One operation for each record it is given. A group is one process: what another member reads is read again."""

    def __init__(self, settings: dict[str, Any], history: ClientHistory) -> None:
        super().__init__(settings)
        self._history, self._group_id = history, str(settings["group.id"])

    def poll(self, *timeout: float) -> Message | None:
        message = super().poll(*timeout)
        if message is not None and message.error() is None:
            place = self._history.place(str(message.topic()), int(str(message.partition())))
            record = Record(int(str(message.offset())), identity(message))
            self._history.note(Operation(self._group_id, Outcome.OK, (Poll({place: (record,)}),)))
        return message


def identity(message: Message) -> str:
    """The id a stored record of the lab carries; the value of one without."""
    headers = dict(message.headers() or [])
    return str((headers.get(ID_HEADER) or message.value() or b"").decode())


def _outcome(error: KafkaError | None) -> Outcome:
    if error is None:
        return Outcome.OK
    return Outcome.FAIL if error.code() in _NOT_APPENDED else Outcome.INFO
