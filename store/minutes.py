"""Roll-ups of raw samples by minute: how they are made when they are due.

Their segments are named by the minutes they cover, counted since 1970: minute by minute while an hour lasts, the whole
hour once it is over, and that again whenever a late sample lands in it. So making a roll-up twice changes nothing.
"""

from dataclasses import dataclass
from pathlib import Path

from store.contracts import TABLES, Table
from store.folders import Listing, hour_folders, list_folder
from store.merging import GRACE_MS, ROLE, unlink_covered
from store.publish import publish
from store.reading import Window, connect
from store.rows import arrow_table
from store.segments import HOUR_MS, MINUTE_MS, SegmentName, folder, hour_start_ms

PRODUCER = "rollup"

# A round is written when its slowest broker has answered or timed out.
SETTLE_MS = 30_000
# Commits are read before end offsets, so the partner of an hour's last commit may lie in the next hour.
ROUND_SLACK_MS = 120_000


@dataclass(frozen=True, slots=True)
class ByMinute:
    """A roll-up: what `sql` makes of the samples of `inputs` from its first parameter up to its second, ms."""

    table: Table
    inputs: tuple[str, ...]
    sql: str


@dataclass(frozen=True, slots=True)
class RollUp:
    """The minutes to make, both included, and the level they are written at."""

    level: int
    first_minute: int
    last_minute: int

    @property
    def name(self) -> SegmentName:
        return SegmentName(PRODUCER, self.level, self.first_minute, self.last_minute)


def roll_up(data_dir: Path, wanted: ByMinute, now_ms: int, grace_ms: int = GRACE_MS) -> int:
    """Make what is due of a roll-up; returns how many segments. For the one holder of `maintain.lock`."""
    made = 0
    for hour in hour_folders(data_dir, TABLES[wanted.inputs[0]]):
        start_ms = hour_start_ms(hour.parent.name, hour.name)
        assert start_ms is not None, "hour_folders lists hours only"
        newest_ns = _newest_input_ns(data_dir, wanted, start_ms)
        listing = list_folder(data_dir / folder(wanted.table, start_ms))
        due = due_roll_up(listing, start_ms, newest_ns, now_ms)
        if due is not None:
            _make(data_dir, wanted, due, newest_ns)
            made += 1
        unlink_covered(listing, now_ms, grace_ms)
    return made


def due_roll_up(listing: Listing, hour_start_ms: int, newest_input_ns: int, now_ms: int) -> RollUp | None:
    """What an hour still needs, given its roll-ups so far and when the newest sample of it was committed."""
    first = hour_start_ms // MINUTE_MS
    whole = RollUp(2, first, first + HOUR_MS // MINUTE_MS - 1)
    made = {segment.name: segment.modified_ns for segment in listing.live}
    if now_ms >= hour_start_ms + HOUR_MS + ROUND_SLACK_MS:
        return None if made.get(whole.name, -1) >= newest_input_ns else whole
    following = max((name.last + 1 for name in made), default=first)
    last = min((now_ms - SETTLE_MS) // MINUTE_MS - 1, whole.last_minute)
    return RollUp(0, following, last) if following <= last else None


def _newest_input_ns(data_dir: Path, wanted: ByMinute, start_ms: int) -> int:
    listings = [list_folder(data_dir / folder(TABLES[name], start_ms)) for name in wanted.inputs]
    return max((segment.modified_ns for listing in listings for segment in listing.segments), default=0)


def _make(data_dir: Path, wanted: ByMinute, due: RollUp, newest_input_ns: int) -> None:
    from_ms, to_ms = due.first_minute * MINUTE_MS, (due.last_minute + 1) * MINUTE_MS
    window = Window(max(0, from_ms - ROUND_SLACK_MS), to_ms + ROUND_SLACK_MS)
    with connect(data_dir, window, wanted.inputs) as connection:
        rows = arrow_table(wanted.table.name, connection.sql(wanted.sql, params=[from_ms, to_ms]).to_arrow_table())
    where = folder(wanted.table, from_ms)
    publish(data_dir, where, due.name, rows, written_by=ROLE, modified_ns=newest_input_ns)
