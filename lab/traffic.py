"""A producer and a group that go on while something else happens."""

import threading
from contextlib import suppress
from types import TracebackType

from confluent_kafka import KafkaException

from lab.errors import LabError
from lab.ground import Ground
from lab.records import send

_COMMIT_EVERY = 50


class Traffic:
    """Ten records to each partition, several times a second, with acks=all; a member reads and commits them."""

    def __init__(self, ground: Ground, topic: str, partitions: int, group_id: str) -> None:
        bootstrap = ground.cluster.bootstrap
        self._ground, self._topic, self._partitions, self._group_id = ground, topic, partitions, group_id
        self._producer = ground.producer(enable_idempotence="true", bootstrap_servers=bootstrap)
        self._member = ground.consumer(group_id, bootstrap_servers=bootstrap)
        self._writing_ends, self._reading_ends = threading.Event(), threading.Event()
        self._refused: list[str] = []
        self._threads = [threading.Thread(target=target, daemon=True) for target in (self._write, self._read)]

    def __enter__(self) -> "Traffic":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """First the producer; the member reads what is left, commits it, and leaves in order."""
        for stopping, thread in zip((self._writing_ends, self._reading_ends), self._threads, strict=True):
            stopping.set()
            thread.join()
        if self._refused and kind is None:
            raise LabError(f"{len(self._refused)} records were refused: {self._refused[0]}")

    def _write(self) -> None:
        while not self._writing_ends.wait(0.2):
            for partition in range(self._partitions):
                self._refused += send(self._producer, self._topic, partition, 10)[1]

    def _read(self) -> None:
        self._member.subscribe([self._topic])
        is_left = True
        while is_left or not self._reading_ends.is_set():
            message = self._member.poll(1)
            is_left = message is not None
            if message is not None and message.error() is None and int(str(message.offset())) % _COMMIT_EVERY == 0:
                self._member.commit(message=message, asynchronous=True)
        with suppress(KafkaException):  # when nothing was read since the last commit
            self._member.commit(asynchronous=False)
        self._ground.leave(self._group_id, self._member)
