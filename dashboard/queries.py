"""The questions the pages ask, as SQL over the store's views: parameters only, never text put together from names.

Every question takes a connection of `store.reading.connect` and gives dictionaries; times are ms since 1970, UTC.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from duckdb import DuckDBPyConnection

from guarantees.lag import NO_COMMIT, PENDING_COMMIT
from store import reading
from store.lag_minute import BEYOND_END, EARLIER_TOPIC, NOT_SAMPLED, READ_AFTER

Rows = list[dict[str, Any]]


def _text(constant: str) -> str:
    """One of Tidemark's own sentences as an SQL literal."""
    return "'" + constant.replace("'", "''") + "'"


# Lag and its gaps as guarantees.lag says them, for sums over many partitions; a test holds the two together.
# DuckDB's greatest() skips a null and would invent a number.
REASON = """
    CASE WHEN c.is_pending THEN {pending}
         WHEN c.committed_offset IS NULL THEN coalesce(c.committed_offset_unknown, {no_commit})
         WHEN p.tick IS NULL THEN {not_sampled}
         WHEN c.topic_id <> p.topic_id THEN {earlier}
         WHEN p.high_watermark IS NULL THEN coalesce(p.high_watermark_unknown, {not_sampled})
         WHEN c.committed_offset > p.high_watermark AND c.observed_at > p.observed_at THEN {read_after}
         WHEN c.committed_offset > p.high_watermark THEN {beyond}
         WHEN p.log_start_offset IS NULL THEN coalesce(p.log_start_offset_unknown, {not_sampled}) END""".format(
    pending=_text(PENDING_COMMIT.reason),
    no_commit=_text(NO_COMMIT.reason),
    not_sampled=_text(NOT_SAMPLED),
    earlier=_text(EARLIER_TOPIC),
    read_after=_text(READ_AFTER),
    beyond=_text(BEYOND_END),
)
LAG = f"""
    CASE WHEN {REASON} IS NULL
         THEN greatest(0, p.high_watermark - greatest(c.committed_offset, p.log_start_offset)) END"""

# The newest answers of a cluster: commits with the offsets of the same round.
NEWEST = f"""
    SELECT c.group_id, c.topic, c.topic_id, c.partition, c.tick, c.committed_offset, c.committed_offset_unknown,
           c.is_pending, p.log_start_offset, p.log_start_offset_unknown, p.last_stable_offset,
           p.last_stable_offset_unknown, p.high_watermark, p.high_watermark_unknown, p.topic_id AS log_topic_id,
           epoch_ms(c.observed_at) AS committed_at_ms, epoch_ms(p.observed_at) AS observed_at_ms,
           {LAG} AS lag, {REASON} AS reason
    FROM committed_offsets c LEFT JOIN partition_offsets p USING (cluster_id, tick, topic, partition)
    WHERE cluster_id = $cluster_id
      AND tick = (SELECT max(tick) FROM committed_offsets WHERE cluster_id = $cluster_id)"""


class Asked:
    """One set of views over a window, and the way to ask it."""

    def __init__(self, data_dir: Path, from_ms: int, to_ms: int, tables: Sequence[str]) -> None:
        self._connection: DuckDBPyConnection = reading.connect(data_dir, reading.Window(from_ms, to_ms), tables)
        self._window = {"from": _moment(from_ms), "to": _moment(to_ms)}

    def __enter__(self) -> "Asked":
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def rows(self, sql: str, **parameters: object) -> Rows:
        named = {**self._window, **parameters}
        used = {name: value for name, value in named.items() if f"${name}" in sql}
        rows: Rows = self._connection.execute(sql, used).to_arrow_table().to_pylist()
        return rows


def clusters(asked: Asked) -> Rows:
    """Clusters that were heard, the newest identity of each name first."""
    return asked.rows("""
        SELECT cluster, cluster_id, epoch_ms(max(observed_at)) AS observed_at_ms,
               arg_max(interval_ms, observed_at) AS interval_ms
        FROM rounds GROUP BY ALL ORDER BY observed_at_ms DESC""")


def attempts(asked: Asked, cluster: str) -> Rows:
    """The newest rounds that were tried for a cluster by its name, whether or not anybody answered."""
    return asked.rows(
        """
        SELECT signal, answered, error, epoch_ms(observed_at) AS observed_at_ms FROM rounds
        WHERE cluster = $cluster ORDER BY observed_at DESC LIMIT 20""",
        cluster=cluster,
    )


def coverage(asked: Asked, cluster_id: str) -> Rows:
    """What the last round of each signal asked for and got."""
    return asked.rows(
        """
        SELECT signal, tick, epoch_ms(observed_at) AS observed_at_ms, asked, answered, refused, failed, error,
               interval_ms
        FROM rounds WHERE cluster_id = $cluster_id
        QUALIFY row_number() OVER (PARTITION BY signal ORDER BY tick DESC) = 1 ORDER BY signal""",
        cluster_id=cluster_id,
    )


def group_lag(asked: Asked, cluster_id: str) -> Rows:
    """Each group and topic now: known lag, and how many partitions are unknown and why."""
    return asked.rows(
        f"""
        WITH newest AS ({NEWEST})
        SELECT group_id, topic, count(*) AS partitions, sum(lag)::BIGINT AS lag,
               sum(greatest(0, committed_offset - high_watermark))::BIGINT AS ahead,
               count(*) FILTER (lag IS NULL AND reason = '{NO_COMMIT.reason}') AS without_commit,
               count(*) FILTER (lag IS NULL AND reason <> '{NO_COMMIT.reason}') AS unknown,
               min(reason) FILTER (lag IS NULL AND reason <> '{NO_COMMIT.reason}') AS unknown_reason,
               bool_or(is_pending) AS has_pending
        FROM newest GROUP BY group_id, topic ORDER BY lag DESC NULLS FIRST, group_id, topic""",
        cluster_id=cluster_id,
    )


def partition_lag(asked: Asked, cluster_id: str, group_id: str) -> Rows:
    """Each partition of a group now, with every offset and the reason of every gap."""
    return asked.rows(
        f"SELECT * FROM ({NEWEST}) WHERE group_id = $group_id ORDER BY topic, partition",
        cluster_id=cluster_id,
        group_id=group_id,
    )


def lag_cells(asked: Asked, cluster_id: str, group_id: str, step_ms: int, *, rolled_up: bool) -> Rows:
    """Lag of a group by partition and bucket: the highest and the last known value, and why one is unknown."""
    return asked.rows(
        f"""
        SELECT topic, partition, (epoch_ms(observed_at) // $step_ms) * $step_ms AS at_ms, max(lag_max) AS lag,
               arg_max(lag_last, observed_at) AS last, max(unknown_reason) AS unknown_reason
        FROM ({_lag_samples(rolled_up)})
        GROUP BY ALL ORDER BY topic, partition, at_ms""",
        cluster_id=cluster_id,
        group_id=group_id,
        step_ms=step_ms,
    )


def lag_trend(asked: Asked, cluster_id: str, step_ms: int, *, rolled_up: bool) -> Rows:
    """Total lag of each group by bucket; null in a bucket where a partition of the group is unknown."""
    return asked.rows(
        f"""
        WITH cells AS (
            SELECT group_id, topic, partition, (epoch_ms(observed_at) // $step_ms) * $step_ms AS at_ms,
                   arg_max(lag_last, observed_at) AS last, max(unknown_reason) AS unknown_reason
            FROM ({_lag_samples(rolled_up)}) GROUP BY ALL)
        SELECT group_id, at_ms,
               CASE WHEN count(unknown_reason) = 0 THEN sum(last)::BIGINT END AS lag
        FROM cells GROUP BY ALL ORDER BY group_id, at_ms""",
        cluster_id=cluster_id,
        group_id=None,
        step_ms=step_ms,
    )


def _lag_samples(rolled_up: bool) -> str:
    """Samples as minimum, maximum and last. A partition without a commit has no lag, known or unknown."""
    if rolled_up:
        return f"""
            SELECT group_id, topic, partition, observed_at, lag_max, lag_last,
                   CASE WHEN unknown > 0 THEN nullif(unknown_reason, '{NO_COMMIT.reason}') END AS unknown_reason
            FROM lag_minute WHERE cluster_id = $cluster_id
              AND ($group_id IS NULL OR group_id = $group_id)
              AND NOT (lag_last IS NULL AND unknown_reason = '{NO_COMMIT.reason}')"""
    return f"""
        SELECT group_id, topic, partition, observed_at, lag AS lag_max, lag AS lag_last,
               CASE WHEN lag IS NULL THEN reason END AS unknown_reason
        FROM (
            SELECT c.group_id, topic, partition, c.observed_at, {LAG} AS lag, {REASON} AS reason
            FROM committed_offsets c LEFT JOIN partition_offsets p USING (cluster_id, tick, topic, partition)
            WHERE cluster_id = $cluster_id
              AND ($group_id IS NULL OR c.group_id = $group_id))
        WHERE NOT (lag IS NULL AND reason = '{NO_COMMIT.reason}')"""


def replication(asked: Asked, cluster_id: str) -> Rows:
    """One row: how many partitions are seen, under-replicated, below min ISR and offline; empty when none is seen."""
    return asked.rows(
        """
        SELECT count(*) AS partitions,
               count(*) FILTER (len(in_sync_replicas) < len(replicas)) AS under_replicated,
               count(*) FILTER (len(in_sync_replicas) < least(min_insync_replicas, len(replicas))) AS below_min_isr,
               count(*) FILTER (min_insync_replicas IS NULL) AS min_isr_unknown,
               count(*) FILTER (leader IS NULL) AS offline
        FROM partition_state WHERE cluster_id = $cluster_id AND (ended_before IS NULL OR ended_before > $to)
        HAVING count(*) > 0""",
        cluster_id=cluster_id,
    )


def leader_changes(asked: Asked, cluster_id: str) -> Rows:
    """Changes of leader in the window, by the intervals they began."""
    return asked.rows(
        """
        SELECT topic, partition, leader, epoch_ms(started_at) AS at_ms
        FROM (SELECT *, lag(leader_epoch) OVER (PARTITION BY topic_id, partition ORDER BY started_at) AS epoch_before
              FROM partition_state WHERE cluster_id = $cluster_id)
        WHERE epoch_before IS NOT NULL AND leader_epoch <> epoch_before AND started_at BETWEEN $from AND $to
        ORDER BY at_ms""",
        cluster_id=cluster_id,
    )


def transactions(asked: Asked, cluster_id: str) -> Rows:
    """Open transactions as their coordinators describe them, the oldest first."""
    return asked.rows(
        """
        SELECT transactional_id, producer_id, producer_epoch, state, timeout_ms, partitions,
               epoch_ms(transaction_started_at) AS transaction_started_at_ms, epoch_ms(started_at) AS seen_at_ms
        FROM open_transactions WHERE cluster_id = $cluster_id AND (ended_before IS NULL OR ended_before > $to)
        ORDER BY coalesce(transaction_started_at, started_at)""",
        cluster_id=cluster_id,
    )


def hanging(asked: Asked, cluster_id: str) -> Rows:
    """Producers with an open transaction on a partition that no coordinator lists (KIP-664), for 10 s or more."""
    return asked.rows(
        """
        SELECT topic, partition, producer_id, producer_epoch, current_transaction_start_offset
        FROM open_producers p WHERE cluster_id = $cluster_id AND ended_before IS NULL
          AND last_seen_at - started_at >= INTERVAL 10 SECOND
          AND NOT EXISTS (FROM open_transactions t WHERE t.cluster_id = p.cluster_id AND t.ended_before IS NULL
                          AND t.producer_id = p.producer_id)
        ORDER BY topic, partition""",
        cluster_id=cluster_id,
    )


def rebalances(asked: Asked, cluster_id: str) -> Rows:
    """Changes of membership or ownership in the window, the newest first."""
    return asked.rows(
        """
        SELECT group_id, epoch_ms(changed_after) AS changed_after_ms, epoch_ms(observed_at) AS observed_at_ms,
               joined, "left", moved, cause, group_epoch
        FROM rebalances WHERE cluster_id = $cluster_id
        ORDER BY observed_at DESC""",
        cluster_id=cluster_id,
    )


def group_states(asked: Asked, cluster_id: str) -> Rows:
    """States of each group in the window as intervals, in their order."""
    return asked.rows(
        """
        SELECT group_id, group_type, state, state_unknown, members, group_epoch, epoch_ms(started_at) AS started_at_ms,
               epoch_ms(last_seen_at) AS last_seen_at_ms, epoch_ms(ended_before) AS ended_before_ms
        FROM group_state WHERE cluster_id = $cluster_id
        ORDER BY group_id, started_at""",
        cluster_id=cluster_id,
    )


def members(asked: Asked, cluster_id: str, group_id: str) -> Rows:
    """Members of a group in the window with what they owned, in the order they came."""
    return asked.rows(
        """
        SELECT member_id, group_instance_id, client_id, host, assignment, epoch_ms(started_at) AS started_at_ms,
               epoch_ms(last_seen_at) AS last_seen_at_ms, epoch_ms(ended_before) AS ended_before_ms, ended_reason
        FROM group_members WHERE cluster_id = $cluster_id AND group_id = $group_id
        ORDER BY member_id, started_at""",
        cluster_id=cluster_id,
        group_id=group_id,
    )


def sampled(asked: Asked, cluster_id: str) -> Rows:
    """Per topic, what the record jobs have read in the window: the base of every figure of duplicates."""
    return asked.rows(
        """
        SELECT topic, sum(records)::BIGINT AS records, sum(sampled)::BIGINT AS sampled, min(sampling_rate) AS rate,
               epoch_ms(max(observed_at)) AS observed_at_ms, count(*) FILTER (state <> 'complete') AS purged
        FROM ledger WHERE cluster_id = $cluster_id AND observed_at >= $from
        GROUP BY topic ORDER BY topic""",
        cluster_id=cluster_id,
    )


def comparisons(asked: Asked, cluster_id: str) -> Rows:
    """Per pipeline, how far source and sink have been compared."""
    return asked.rows(
        """
        SELECT pipeline, sum(ids_judged)::BIGINT AS judged, sum(ids_unseen)::BIGINT AS unseen,
               sum(ids_lost)::BIGINT AS lost, sum(lower)::BIGINT AS lower, sum(upper)::BIGINT AS upper,
               min(settle_s) AS settle_s, epoch_ms(max(observed_at)) AS observed_at_ms
        FROM losses WHERE cluster_id = $cluster_id GROUP BY pipeline ORDER BY pipeline""",
        cluster_id=cluster_id,
    )


def parts(asked: Asked) -> Rows:
    """The last thing each part of Tidemark did: started, died, stopped."""
    return asked.rows("""
        SELECT part, event, pid, exit_code, restarts, message, epoch_ms(observed_at) AS observed_at_ms
        FROM part_events WHERE observed_at <= $to
        QUALIFY row_number() OVER (PARTITION BY part ORDER BY observed_at DESC) = 1 ORDER BY part""")


def job_runs(asked: Asked) -> Rows:
    """The newest runs of the jobs."""
    return asked.rows("""
        SELECT job, pipeline, state, ranges, records, backlog, message, epoch_ms(started_at) AS started_at_ms,
               epoch_ms(ended_at) AS ended_at_ms, epoch_ms(observed_at) AS observed_at_ms
        FROM job_runs WHERE observed_at <= $to ORDER BY started_at DESC LIMIT 50""")


def _moment(time_ms: int) -> datetime:
    return datetime.fromtimestamp(time_ms / 1000, UTC)
