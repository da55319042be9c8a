"""A sink topic that clients of the lab write what they were given into, under the ids it came with."""

from confluent_kafka import Consumer, KafkaError, Message

from lab.client_history import identity
from lab.deeds import Spot
from lab.errors import LabError
from lab.ground import Ground
from lab.records import patiently, read_each, record_with_id
from lab.self_check import extra_copies
from lab.truth import now_ms


class Sink:
    """One record for each that is put into it, in the partition of the same number; knows where each is stored."""

    def __init__(self, ground: Ground, topic: str, **settings: object) -> None:
        self.topic = topic
        self._producer = ground.producer(**settings)
        self._stored: list[Spot] = []
        self._ids: set[str] = set()
        self.last_copy_at_ms = 0
        self._refused: list[str] = []

    def put(self, message: Message) -> None:
        self.write(identity(message), int(str(message.partition())))

    def write(self, message_id: str, partition: int) -> None:
        def delivered(error: KafkaError | None, stored: Message) -> None:
            if error is not None:
                self._refused.append(error.str())
            elif stored.offset() is not None:  # with acks=0 nobody says where it is
                self._stored.append(Spot(partition, int(str(stored.offset())), message_id))
                if message_id in self._ids:
                    self.last_copy_at_ms = now_ms()
                self._ids.add(message_id)

        self._producer.produce(self.topic, partition=partition, on_delivery=delivered, **record_with_id(message_id))

    def take(self, member: Consumer, count: int) -> None:
        """Put in the next so many records that a member is given, and commit them."""
        for message in read_each(member, count):
            self.put(message)
        self.flush()
        patiently(lambda: member.commit(message=message, asynchronous=False))

    def flush(self) -> None:
        """Until everything is acknowledged: only then may a consumer commit."""
        if self._producer.flush(60) or self._refused:
            raise LabError(f"{self.topic} did not take everything: {self._refused[:1]}")

    def copies(self) -> list[Spot]:
        """Every stored copy of an id but its first."""
        return extra_copies(self._stored)
