"""The roll-up of each round: lag of groups and topics, and how long what is unread has been there.

Who looks at a moment reads the round before it without joining its commits to their logs. Rounds are rolled up minute
by minute, in a segment for each minute. One that was stored too late, or while nobody maintained for two hours, has no
rows here: its samples say the same. So a round counts only once its coverage is stored, which is stored last.
"""

from collections.abc import Iterator
from pathlib import Path

from guarantees.lag import NO_COMMIT
from store.contracts import TABLES
from store.folders import Listing, list_folder
from store.lag import JOIN, LAG, REASON, literal
from store.merging import ROLE
from store.minutes import PRODUCER, ROUND_SLACK_MS, SETTLE_MS
from store.publish import publish
from store.reading import Window, connect
from store.rows import arrow_table
from store.segments import HOUR_MS, MINUTE_MS, SegmentName, folder

GROUP_LAG_ROUND = TABLES["group_lag_round"]
INPUTS = ("committed_offsets", "partition_offsets", "rounds", "log_end_minute")

# How far back the ends of logs are looked up.
LOOK_BACK_MS = 15 * MINUTE_MS
# A minute of a large cluster takes a second or two, and the roll-ups of others wait.
MINUTES_AT_ONCE = 5

_IS_KNOWN = "high_watermark IS NOT NULL AND epoch_ms(observed_at) >= $from_ms"
# `ends`: since when each end of a log was seen, of logs whose end has not fallen. The lowest one above a commit was the
# first to be seen.
_SQL = f"""
    WITH asked AS (
        SELECT cluster_id, tick, max(observed_at) AS asked_at FROM rounds
        WHERE signal = 'committed_offsets' AND epoch_ms(observed_at) >= $from_ms AND epoch_ms(observed_at) < $to_ms
        GROUP BY cluster_id, tick),
    lags AS (
        SELECT c.cluster_id, c.tick, c.group_id, c.topic, c.partition, c.committed_offset, p.topic_id AS log_topic_id,
               epoch_ms(p.observed_at) AS now_ms, asked_at, {REASON} AS reason, {LAG} AS lag
        FROM {JOIN} JOIN asked USING (cluster_id, tick)),
    seen AS (
        SELECT cluster_id, topic_id, partition, high_watermark AS last, high_watermark AS highest,
               epoch_ms(observed_at) AS seen_ms
        FROM partition_offsets WHERE {_IS_KNOWN}
        UNION ALL
        SELECT cluster_id, topic_id, partition, high_watermark_last, high_watermark_max, epoch_ms(last_known_at)
        FROM log_end_minute WHERE high_watermark_last IS NOT NULL),
    logs AS (
        SELECT cluster_id, topic_id AS log_topic_id, partition, row_number() OVER () AS log FROM seen
        GROUP BY cluster_id, topic_id, partition HAVING arg_max(last, seen_ms) = max(highest)),
    ends AS (
        SELECT log, last, min(seen_ms) AS since_ms
        FROM seen JOIN logs ON seen.topic_id = log_topic_id AND seen.cluster_id = logs.cluster_id
            AND seen.partition = logs.partition
        GROUP BY log, last),
    numbered AS (FROM lags LEFT JOIN logs USING (cluster_id, log_topic_id, partition))
    SELECT cluster_id, tick, asked_at AS observed_at, group_id, topic, count(*) AS partitions,
           sum(lag)::BIGINT AS lag,
           count(*) FILTER (reason = {literal(NO_COMMIT.reason)}) AS without_commit,
           count(*) FILTER (reason <> {literal(NO_COMMIT.reason)}) AS unknown,
           min(reason) FILTER (reason <> {literal(NO_COMMIT.reason)}) AS unknown_reason,
           max(CASE WHEN lag = 0 THEN 0 WHEN lag > 0 THEN now_ms - since_ms END) AS unread_for_ms
    FROM numbered ASOF LEFT JOIN ends ON numbered.log = ends.log AND committed_offset < ends.last
    GROUP BY cluster_id, tick, asked_at, group_id, topic ORDER BY cluster_id, tick, group_id, topic"""


def roll_up_rounds(data_dir: Path, now_ms: int) -> int:
    """Make the minutes that are due, the oldest first; returns how many. For the one holder of `maintain.lock`."""
    this_hour_ms = now_ms - now_ms % HOUR_MS
    return sum(_of_hour(data_dir, start_ms, now_ms) for start_ms in (this_hour_ms - HOUR_MS, this_hour_ms))


def due_minutes(made: Listing, hour_start_ms: int, now_ms: int) -> Iterator[SegmentName]:
    """Of an hour: the minutes that are over, and settled, after the newest that was made."""
    first = hour_start_ms // MINUTE_MS
    following = max((segment.name.last + 1 for segment in made.live), default=first)
    settled = min((now_ms - SETTLE_MS) // MINUTE_MS, first + HOUR_MS // MINUTE_MS)
    return (SegmentName(PRODUCER, 0, minute, minute) for minute in range(following, settled))


def _of_hour(data_dir: Path, start_ms: int, now_ms: int) -> int:
    samples = list_folder(data_dir / folder(TABLES[INPUTS[0]], start_ms)).live
    if not samples:
        return 0
    made = list_folder(data_dir / folder(GROUP_LAG_ROUND, start_ms))
    due = list(due_minutes(made, start_ms, now_ms))[:MINUTES_AT_ONCE]
    for name in due:
        _make(data_dir, name, max(segment.modified_ns for segment in samples))
    return len(due)


def _make(data_dir: Path, name: SegmentName, newest_input_ns: int) -> None:
    from_ms, to_ms = name.first * MINUTE_MS, (name.last + 1) * MINUTE_MS
    window = Window(from_ms - ROUND_SLACK_MS, to_ms + ROUND_SLACK_MS)
    before = {"log_end_minute": Window(from_ms - LOOK_BACK_MS, from_ms)}
    with connect(data_dir, window, INPUTS, windows=before) as connection:
        made = connection.sql(_SQL, params={"from_ms": from_ms, "to_ms": to_ms}).to_arrow_table()
    rows = arrow_table(GROUP_LAG_ROUND.name, made)
    where = folder(GROUP_LAG_ROUND, from_ms)
    publish(data_dir, where, name, rows, written_by=ROLE, modified_ns=newest_input_ns)
