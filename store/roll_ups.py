"""Roll-ups made from roll-ups: lag by the hour, and lag of groups by minute and hour.

A segment is made from one segment, bears its name and its modification time, and is made again when that one was. So
making it twice changes nothing, and a late sample reaches every roll-up of its hour.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from guarantees.lag import NO_COMMIT
from store.contracts import TABLES, Table
from store.folders import Listing, Segment, hour_folders, list_folder
from store.group_lag_round import roll_up_rounds
from store.lag import literal
from store.lag_minute import LAG_BY_MINUTE
from store.log_end_minute import LOG_ENDS_BY_MINUTE
from store.merging import GRACE_MS, ROLE, unlink_covered
from store.minutes import roll_up as roll_up_samples
from store.publish import publish
from store.reading import rows_of_files
from store.segments import HOUR_MS

RECREATED = "the topic was re-created in this minute"
WHOLE_HOUR = 2  # the level of a roll-up whose hour is over

_HOUR = f"make_timestamptz(epoch_ms(source.observed_at) // {HOUR_MS} * {HOUR_MS * 1000})"

_PARTITIONS_BY_HOUR = f"""
    SELECT cluster_id, group_id, topic, topic_id, partition, {_HOUR} AS observed_at,
           min(lag_min) AS lag_min, max(lag_max) AS lag_max, arg_max(lag_last, source.observed_at) AS lag_last,
           sum(samples) AS samples, sum(unknown) AS unknown,
           coalesce(arg_max(unknown_reason, source.observed_at) FILTER (unknown_reason <> {literal(NO_COMMIT.reason)}),
                    min(unknown_reason)) AS unknown_reason
    FROM source GROUP BY cluster_id, group_id, topic, topic_id, partition, {_HOUR}
    ORDER BY cluster_id, group_id, topic_id, partition, observed_at"""

# A partition without a commit has no lag, neither known nor unknown. The sum is withheld where a partition was unknown
# at any time of the minute, and where two topics of one name fall into it: each has its own last lag.
_GROUPS_BY_MINUTE = f"""
    WITH seen AS (
        SELECT *, CASE WHEN unknown > 0 THEN nullif(unknown_reason, {literal(NO_COMMIT.reason)}) END AS gap,
               lag_last IS NULL AND unknown_reason IS NOT DISTINCT FROM {literal(NO_COMMIT.reason)} AS is_without
        FROM source),
    summed AS (
        SELECT cluster_id, group_id, topic, observed_at, sum(lag_last) AS known, max(lag_max) AS lag_max,
               count(DISTINCT partition) AS partitions, count(*) FILTER (is_without) AS without_commit,
               count(gap) AS unknown,
               coalesce(max(gap), CASE WHEN min(topic_id) <> max(topic_id) THEN {literal(RECREATED)} END)
                   AS unknown_reason
        FROM seen GROUP BY cluster_id, group_id, topic, observed_at)
    SELECT cluster_id, group_id, topic, observed_at, CASE WHEN unknown_reason IS NULL THEN known END AS lag,
           lag_max, partitions, without_commit, unknown, unknown_reason
    FROM summed ORDER BY cluster_id, group_id, topic, observed_at"""

_GROUPS_BY_HOUR = f"""
    SELECT cluster_id, group_id, topic, {_HOUR} AS observed_at,
           CASE WHEN count(unknown_reason) = 0 THEN arg_max(lag, source.observed_at) END AS lag,
           max(lag_max) AS lag_max, arg_max(partitions, source.observed_at) AS partitions,
           arg_max(without_commit, source.observed_at) AS without_commit, max(unknown) AS unknown,
           arg_max(unknown_reason, source.observed_at) AS unknown_reason
    FROM source GROUP BY cluster_id, group_id, topic, {_HOUR}
    ORDER BY cluster_id, group_id, topic, observed_at"""


@dataclass(frozen=True, slots=True)
class Derived:
    """A roll-up of another: what `sql` makes of each of its segments, which stand in it as `source`."""

    table: Table
    source: Table
    sql: str
    is_hourly: bool

    def due(self, made: Listing, sources: Listing) -> Iterator[Segment]:
        """The segments to make it from: new ones, and those that were made again; hours only once they are over."""
        known = {segment.name: segment.modified_ns for segment in made.live}
        for source in sources.live:
            is_over = source.name.level == WHOLE_HOUR
            if (is_over or not self.is_hourly) and known.get(source.name, -1) < source.modified_ns:
                yield source


BY_MINUTE = (LAG_BY_MINUTE, LOG_ENDS_BY_MINUTE)
# In this order: each is made from one that stands before it.
DERIVED = (
    Derived(TABLES["lag_hour"], TABLES["lag_minute"], _PARTITIONS_BY_HOUR, is_hourly=True),
    Derived(TABLES["group_lag_minute"], TABLES["lag_minute"], _GROUPS_BY_MINUTE, is_hourly=False),
    Derived(TABLES["group_lag_hour"], TABLES["group_lag_minute"], _GROUPS_BY_HOUR, is_hourly=True),
)


def roll_up(data_dir: Path, now_ms: int, grace_ms: int = GRACE_MS) -> int:
    """Make all roll-ups that are due; returns how many segments. For the one holder of `maintain.lock`."""
    made = sum(roll_up_samples(data_dir, wanted, now_ms, grace_ms) for wanted in BY_MINUTE)
    made += roll_up_rounds(data_dir, now_ms)
    return made + sum(_derive(data_dir, derived, now_ms, grace_ms) for derived in DERIVED)


def _derive(data_dir: Path, derived: Derived, now_ms: int, grace_ms: int) -> int:
    made = 0
    for hour in hour_folders(data_dir, derived.source):
        where = f"raw/{derived.table.name}/{hour.parent.name}/{hour.name}"
        listing = list_folder(data_dir / where)
        for source in derived.due(listing, list_folder(hour)):
            _make(data_dir, where, derived, source)
            made += 1
        unlink_covered(listing, now_ms, grace_ms)
    return made


def _make(data_dir: Path, where: str, derived: Derived, source: Segment) -> None:
    rows = rows_of_files(derived.table.name, derived.sql, derived.source, [source.path])
    publish(data_dir, where, source.name, rows, written_by=ROLE, modified_ns=source.modified_ns)
