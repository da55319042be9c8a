"""What was read of Kafka's own topics, as rows, and where the reading goes on after a restart: nothing twice."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from collectors.internal_tail import LogPosition, LogReading, Tail
from collectors.rows import Row
from guarantees.internal_records import Logged, Undecoded
from store.contracts import TABLES, Family
from store.reading import EVERYTHING_TO_MS, Window, read
from store.rows import python_rows

TABLE = "log_ranges"
_NEWEST_RANGES = (
    "cluster_id = ? QUALIFY row_number() OVER (PARTITION BY topic, partition ORDER BY observed_at DESC) = 1"
)
_BEYOND = (
    "cluster_id = ? AND log_offset IS NOT NULL AND epoch_ms(read_at) > ? "
    "QUALIFY row_number() OVER (PARTITION BY log_partition ORDER BY read_at DESC, log_offset DESC) = 1"
)
DAY_MS = 24 * 60 * 60_000

# Of a table and a partition of its log, the first offset whose row is not stored yet.
Unstored = Mapping[tuple[str, int], int]


def rows(cluster_id: str, reading: LogReading, records: Iterable[Logged]) -> list[Row]:
    """One for each partition of which something was read, or something left out."""
    unread: dict[int, Counter[str]] = {}
    for record in records:
        if isinstance(record.content, Undecoded):
            unread.setdefault(record.partition, Counter())[f"{record.content.name}: {record.content.reason}"] += 1
    return [
        {
            "cluster_id": cluster_id,
            "topic": reading.topic,
            "topic_id": reading.begun[number].topic_id,
            "partition": number,
            "first_offset": reading.begun[number].offset,
            "next_offset": one.next_offset,
            "records": len(one.records),
            "missing": one.missing,
            "unread": json.dumps(unread.get(number, {})),
            "last_stable_offset": one.last_stable_offset,
            "high_watermark": one.high_watermark,
            "break_reason": reading.begun[number].break_reason,
            "observed_at": one.observed_at_ms,
        }
        for number, one in reading.answers.items()
        if not one.is_out_of_range
        and (one.next_offset > reading.begun[number].offset or reading.begun[number].break_reason is not None)
    ]


def resumed(
    data_dir: Path, cluster_id: str, before_ms: int, tables: Mapping[str, Sequence[str]]
) -> tuple[dict[str, Tail], Unstored]:
    """The tail of each topic, and what of each of its tables is stored beyond it: a crash may lie between the two.

    `before_ms`: the last round. A partition that was idle for a day begins anew: what is kept longer is not kept twice.
    """
    tails: dict[str, Tail] = {}
    unstored: dict[tuple[str, int], int] = {}
    window = Window(max(0, before_ms - DAY_MS), EVERYTHING_TO_MS)
    newest = python_rows(TABLE, read(data_dir, TABLE, window, _NEWEST_RANGES, (cluster_id,)))
    for topic, of_topic in tables.items():
        ranges = [row for row in newest if row["topic"] == topic]
        last_ms = max((int(str(row["observed_at"])) for row in ranges), default=0)
        tails[topic] = Tail({int(str(row["partition"])): _position(row) for row in ranges})
        for table in of_topic:
            since_ms = 0 if TABLES[table].family is Family.EVENT else last_ms
            for row in python_rows(table, read(data_dir, table, None, _BEYOND, (cluster_id, since_ms))):
                number = int(str(row["log_partition"]))
                if number not in tails[topic].positions or int(str(row["read_at"])) > last_ms:
                    unstored[table, number] = int(str(row["log_offset"])) + 1
    return tails, unstored


def _position(row: Row) -> LogPosition:
    return LogPosition(str(row["topic_id"]), int(str(row["next_offset"])))


def not_stored(table: str, found: Iterable[Row], unstored: Unstored) -> list[Row]:
    """Without those that a process stored and died before it said how far it had read."""
    return [
        row for row in found if int(str(row["log_offset"])) >= unstored.get((table, int(str(row["log_partition"]))), 0)
    ]
