"""A sink that gets the results of a store, each once."""

from confluent_kafka import Message

from lab.sink import Sink
from lab.stores import Store


class KnowingSink:
    """What is put into it goes through the store; `flush` publishes the results that are new there."""

    def __init__(self, sink: Sink, store: Store) -> None:
        self._sink, self._store = sink, store
        self._published = 0
        self.recognised = 0

    def put(self, message: Message) -> None:
        self.recognised += not self._store.takes(message)

    def count(self) -> int:
        """How many results are published, with those that are new."""
        self.flush()
        return self._published

    def flush(self) -> None:
        for number, message_id, partition in self._store.results_after(self._published):
            self._sink.write(message_id, partition)
            self._published = number
        self._sink.flush()
