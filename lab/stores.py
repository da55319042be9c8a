"""Three ways in which a consumer recognises what it has processed before; each keeps it in a database with its results.

A result and the mark that makes it recognised are one transaction; what publishes the results reads them from there.
"""

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path

from confluent_kafka import Message

from lab.workload.messages import message_id

_RESULTS = "CREATE TABLE IF NOT EXISTS results (number INTEGER PRIMARY KEY, id TEXT, partition INTEGER)"


class Store(ABC):
    """What was processed, and the results in their order. The database is made where there is none."""

    TABLE: str

    def __init__(self, database: Path) -> None:
        self._database = sqlite3.connect(database)
        for table in (_RESULTS, self.TABLE):
            self._database.execute(table)

    def takes(self, message: Message) -> bool:
        """Process it, unless that was done; whether it was new."""
        with self._database as transaction:
            is_new = self._marks(transaction, message)
            if is_new:
                result = message_id(message.headers()), message.partition()
                transaction.execute("INSERT INTO results (id, partition) VALUES (?, ?)", result)
        return is_new

    def results_after(self, number: int) -> list[tuple[int, str, int]]:
        """Number, id and partition of each later result."""
        asked = "SELECT number, id, partition FROM results WHERE number > ? ORDER BY number"
        return self._database.execute(asked, [number]).fetchall()

    @abstractmethod
    def _marks(self, transaction: sqlite3.Connection, message: Message) -> bool:
        """Note that it is processed; False where that is noted already."""


class IdStore(Store):
    """Ids are looked up before the work."""

    TABLE = "CREATE TABLE IF NOT EXISTS processed (id TEXT)"

    def _marks(self, transaction: sqlite3.Connection, message: Message) -> bool:
        known = [message_id(message.headers())]
        if transaction.execute("SELECT 1 FROM processed WHERE id = ?", known).fetchone():
            return False
        transaction.execute("INSERT INTO processed VALUES (?)", known)
        return True


class UniqueKey(Store):
    """The database refuses a second row with the same key."""

    TABLE = "CREATE TABLE IF NOT EXISTS bookings (id TEXT PRIMARY KEY)"

    def _marks(self, transaction: sqlite3.Connection, message: Message) -> bool:
        booked = transaction.execute("INSERT OR IGNORE INTO bookings VALUES (?)", [message_id(message.headers())])
        return booked.rowcount == 1


class VersionCheck(Store):
    """The state knows the version it is of, here an offset of each partition: what is not newer changes nothing."""

    TABLE = "CREATE TABLE IF NOT EXISTS state (partition INTEGER PRIMARY KEY, version INTEGER)"

    def _marks(self, transaction: sqlite3.Connection, message: Message) -> bool:
        newer = (
            "INSERT INTO state VALUES (?, ?) ON CONFLICT (partition) DO UPDATE SET version = excluded.version "
            "WHERE excluded.version > state.version"
        )
        return transaction.execute(newer, [message.partition(), message.offset()]).rowcount == 1


STORES: Mapping[str, type[Store]] = {"id store": IdStore, "unique key": UniqueKey, "version check": VersionCheck}
