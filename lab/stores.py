"""Three ways in which a consumer recognises what it has processed before. Each keeps it in a database."""

import sqlite3
from collections.abc import Mapping
from typing import Protocol

from confluent_kafka import Message

from lab.client_history import identity
from lab.sink import Sink


class Store(Protocol):
    """What was processed."""

    def takes(self, message: Message) -> bool:
        """Process it, unless that was done; whether it was new."""
        ...


class IdStore:
    """Ids are looked up before the work and kept with it."""

    def __init__(self) -> None:
        self._database = sqlite3.connect(":memory:")
        self._database.execute("CREATE TABLE processed (id TEXT)")

    def takes(self, message: Message) -> bool:
        with self._database as transaction:
            if transaction.execute("SELECT 1 FROM processed WHERE id = ?", [identity(message)]).fetchone():
                return False
            transaction.execute("INSERT INTO processed VALUES (?)", [identity(message)])
        return True


class UniqueKey:
    """The result has a unique key, and the database refuses a second one."""

    def __init__(self) -> None:
        self._database = sqlite3.connect(":memory:")
        self._database.execute("CREATE TABLE results (id TEXT PRIMARY KEY)")

    def takes(self, message: Message) -> bool:
        with self._database as transaction:
            return transaction.execute("INSERT OR IGNORE INTO results VALUES (?)", [identity(message)]).rowcount == 1


class VersionCheck:
    """The state knows the version it is of, here an offset of each partition: what is not newer changes nothing."""

    def __init__(self) -> None:
        self._database = sqlite3.connect(":memory:")
        self._database.execute("CREATE TABLE state (partition INTEGER PRIMARY KEY, version INTEGER)")

    def takes(self, message: Message) -> bool:
        newer = (
            "INSERT INTO state VALUES (?, ?) ON CONFLICT (partition) DO UPDATE SET version = excluded.version "
            "WHERE excluded.version > state.version"
        )
        with self._database as transaction:
            return transaction.execute(newer, [message.partition(), message.offset()]).rowcount == 1


STORES: Mapping[str, type[IdStore] | type[UniqueKey] | type[VersionCheck]] = {
    "id store": IdStore,
    "unique key": UniqueKey,
    "version check": VersionCheck,
}


class KnowingSink:
    """A sink that gets only what its store had not."""

    def __init__(self, sink: Sink, store: Store) -> None:
        self.sink, self._store = sink, store
        self.recognised = 0

    def put(self, message: Message) -> None:
        if self._store.takes(message):
            self.sink.put(message)
        else:
            self.recognised += 1

    def flush(self) -> None:
        self.sink.flush()
