"""Names of segments and folders, and which segments of a folder count. Pure: nothing here touches a disk.

    raw/<table>/dt=YYYY-MM-DD/hr=HH/<producer>.<level>.<first>-<last>.parquet
    log/<table>/month=YYYY-MM/<producer>.<level>.<first>-<last>.parquet

`first` to `last` is the range of sequence numbers (or offsets, or minutes) a segment covers. A merged segment covers
the ranges of its inputs, so a reader that sees both takes the wide one. Ranges of one producer nest or are disjoint.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from store.contracts import Family, Table

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS

NAME = re.compile(r"(?P<producer>[A-Za-z0-9_]+)\.(?P<level>[0-9])\.(?P<first>[0-9]+)-(?P<last>[0-9]+)\.parquet")


@dataclass(frozen=True, slots=True)
class SegmentName:
    """A parsed name. Levels: 0 as appended, 1 a minute merged, 2 an hour, 3 a day."""

    producer: str
    level: int
    first: int
    last: int

    def __str__(self) -> str:
        return f"{self.producer}.{self.level}.{self.first}-{self.last}.parquet"

    @classmethod
    def parse(cls, text: str) -> "SegmentName | None":
        """None for anything that is not the name of a segment."""
        match = NAME.fullmatch(text)
        if match is None or int(match["first"]) > int(match["last"]):
            return None
        return cls(match["producer"], int(match["level"]), int(match["first"]), int(match["last"]))

    def covers(self, other: "SegmentName") -> bool:
        return self.producer == other.producer and self.first <= other.first and other.last <= self.last

    def overlaps(self, other: "SegmentName") -> bool:
        return self.producer == other.producer and self.first <= other.last and other.first <= self.last


def live_names(names: Iterable[SegmentName]) -> list[SegmentName]:
    """The segments that no wider segment of the same producer covers, by producer and range."""
    live: list[SegmentName] = []
    for name in sorted(names, key=lambda name: (name.producer, name.first, -name.last, -name.level)):
        if not (live and live[-1].covers(name)):
            live.append(name)
    return live


def producer_name(host: str, role: str) -> str:
    """Unique per host and role. Other characters than letters, digits and _ become _ and their two hex digits."""
    return f"{_escaped(host)}_{_escaped(role)}"


def range_producer(topic_id_hex: str, partition: int) -> str:
    """The producer of segments that are named by the offsets they cover."""
    return f"{_escaped(topic_id_hex)}_{partition}"


def folder(table: Table, time_ms: int) -> str:
    """Where a row of that time lies, relative to the data directory."""
    time = datetime.fromtimestamp(time_ms / 1000, UTC)
    if table.family is Family.KEPT:
        return f"log/{table.name}/month={time:%Y-%m}"
    return f"raw/{table.name}/dt={time:%Y-%m-%d}/hr={time:%H}"


def hour_start_ms(day: str, hour: str) -> int | None:
    """The start of the hour of `dt=…` and `hr=…`; None where the names are not such."""
    try:
        return int(datetime.strptime(f"{day}/{hour}+0000", "dt=%Y-%m-%d/hr=%H%z").timestamp() * 1000)
    except ValueError:
        return None


def _escaped(text: str) -> str:
    return "".join(chr(b) if chr(b).isalnum() and b < 128 or b == ord("_") else f"_{b:02x}" for b in text.encode())
