"""The questions the pages ask, as SQL over the store's views: parameters only, never text put together from names.

The views hold what was observed in the window asked about (store.reading.connect). Times are ms since 1970, UTC.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

from guarantees.lag import NO_COMMIT
from store.lag import JOIN, LAG, REASON, literal
from store.reading import Window, connect

Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Question:
    """`tables` are the views the SQL reads; its parameters stand as `$name`, the window's ends as `$from` and `$to`."""

    tables: tuple[str, ...]
    sql: str


def ask(data_dir: Path, from_ms: int, to_ms: int, question: Question, about: Mapping[str, object]) -> Rows:
    """The answer as dictionaries."""
    with _opened(data_dir, from_ms, to_ms, question) as connection:
        return _rows(connection, from_ms, to_ms, question, about)


def ask_together(
    data_dir: Path, from_ms: int, to_ms: int, questions: Sequence[Question], about: Mapping[str, object]
) -> dict[Question, Rows]:
    """Several answers over one window for the price of one connection, most of what a question costs.

    Nothing where a table cannot be read: asked alone, its own question says why and the others are answered.
    """
    whole = Question(tuple({table for question in questions for table in question.tables}), "")
    try:
        with _opened(data_dir, from_ms, to_ms, whole) as connection:
            return {one: _rows(connection, from_ms, to_ms, one, about) for one in questions}
    except duckdb.Error:
        return {}


def _opened(data_dir: Path, from_ms: int, to_ms: int, question: Question) -> duckdb.DuckDBPyConnection:
    return connect(data_dir, Window(from_ms, to_ms), question.tables)


def _rows(
    connection: duckdb.DuckDBPyConnection, from_ms: int, to_ms: int, question: Question, about: Mapping[str, object]
) -> Rows:
    named = {"from": _moment(from_ms), "to": _moment(to_ms), **about}
    used = {name: named[name] for name in re.findall(r"\$(\w+)", question.sql)}
    rows: Rows = connection.sql(question.sql, params=used).to_arrow_table().to_pylist()
    return rows


def _moment(time_ms: int) -> datetime:
    return datetime.fromtimestamp(time_ms / 1000, UTC)


# Clusters that were heard, the newest identity of each name first; then the newest attempts, answered or not.
CLUSTERS = Question(("rounds",), """
    SELECT cluster, cluster_id, epoch_ms(max(observed_at)) AS observed_at_ms,
           arg_max(interval_ms, observed_at) AS interval_ms
    FROM rounds GROUP BY ALL ORDER BY observed_at_ms DESC""")  # fmt: skip
ATTEMPTS = Question(("rounds",), """
    SELECT signal, answered, error, epoch_ms(observed_at) AS observed_at_ms FROM rounds
    WHERE cluster = $cluster ORDER BY observed_at DESC LIMIT 20""")  # fmt: skip

# What the last round of each signal asked for and got.
COVERAGE = Question(("rounds",), """
    SELECT signal, tick, epoch_ms(observed_at) AS observed_at_ms, asked, answered, refused, failed, error, interval_ms
    FROM rounds WHERE cluster_id = $cluster_id
    QUALIFY row_number() OVER (PARTITION BY signal ORDER BY tick DESC) = 1 ORDER BY signal""")  # fmt: skip

COMMITS_WITH_OFFSETS = f"""
    SELECT c.group_id, c.topic, c.topic_id, c.partition, c.tick, c.committed_offset, c.committed_offset_unknown,
           c.is_pending, p.log_start_offset, p.log_start_offset_unknown, p.last_stable_offset,
           p.last_stable_offset_unknown, p.high_watermark, p.high_watermark_unknown, p.topic_id AS log_topic_id,
           epoch_ms(c.observed_at) AS committed_at_ms, epoch_ms(p.observed_at) AS observed_at_ms,
           epoch_ms(p.log_start_observed_at) AS log_start_observed_at_ms, {REASON} AS reason, {LAG} AS lag
    FROM {JOIN}
    WHERE cluster_id = $cluster_id"""
NEWEST = f"""{COMMITS_WITH_OFFSETS}
      AND tick = (SELECT max(tick) FROM committed_offsets WHERE cluster_id = $cluster_id)"""
OFFSETS = ("committed_offsets", "partition_offsets")

# Each group and topic now: known lag, and how many partitions are unknown and why.
GROUP_LAG = Question(OFFSETS, f"""
    SELECT group_id, topic, count(*) AS partitions, sum(lag)::BIGINT AS lag,
           count(*) FILTER (reason = {literal(NO_COMMIT.reason)}) AS without_commit,
           count(*) FILTER (reason <> {literal(NO_COMMIT.reason)}) AS unknown,
           min(reason) FILTER (reason <> {literal(NO_COMMIT.reason)}) AS unknown_reason
    FROM ({NEWEST}) GROUP BY group_id, topic ORDER BY lag DESC NULLS LAST, group_id, topic""")  # fmt: skip
# Each partition of a group now, with every offset and the reason of every gap.
PARTITION_LAG = Question(OFFSETS, f"""
    SELECT * FROM ({NEWEST}) WHERE group_id = $group_id ORDER BY topic, partition""")  # fmt: skip

# Lag as highest and last value of a moment. A partition without a commit has no lag, neither known nor unknown.
RAW = f"""
    SELECT group_id, topic, partition, committed_at_ms AS at_ms, lag AS highest, lag AS last, reason AS unknown_reason
    FROM ({COMMITS_WITH_OFFSETS}) WHERE reason IS DISTINCT FROM {literal(NO_COMMIT.reason)}"""
ROLLED_UP = f"""
    SELECT group_id, topic, partition, epoch_ms(observed_at) AS at_ms, lag_max AS highest, lag_last AS last,
           CASE WHEN unknown > 0 THEN nullif(unknown_reason, {literal(NO_COMMIT.reason)}) END AS unknown_reason
    FROM lag_minute WHERE cluster_id = $cluster_id
      AND NOT (lag_last IS NULL AND unknown_reason IS NOT DISTINCT FROM {literal(NO_COMMIT.reason)})"""
CELLS = """
    SELECT topic, partition, (at_ms // $step_ms) * $step_ms AS at_ms, max(highest) AS lag,
           arg_max(last, samples.at_ms) AS last, max(unknown_reason) AS unknown_reason
    FROM ({samples}) samples WHERE group_id = $group_id GROUP BY ALL ORDER BY topic, partition, at_ms"""
# Total lag of each group; null in a bucket where a partition of the group is unknown.
TREND = """
    SELECT group_id, at_ms, CASE WHEN count(unknown_reason) = 0 THEN sum(last)::BIGINT END AS lag
    FROM (SELECT group_id, topic, partition, (at_ms // $step_ms) * $step_ms AS at_ms,
                 arg_max(last, samples.at_ms) AS last, max(unknown_reason) AS unknown_reason
          FROM ({samples}) samples GROUP BY ALL)
    GROUP BY ALL ORDER BY group_id, at_ms"""
LAG_CELLS = Question(OFFSETS, CELLS.format(samples=RAW))
LAG_CELLS_ROLLED_UP = Question(("lag_minute",), CELLS.format(samples=ROLLED_UP))
LAG_TREND = Question(OFFSETS, TREND.format(samples=RAW))
LAG_TREND_ROLLED_UP = Question(("lag_minute",), TREND.format(samples=ROLLED_UP))
NEWEST_MINUTE = Question(("lag_minute",), """
    SELECT epoch_ms(max(observed_at)) AS at_ms FROM lag_minute
    WHERE cluster_id = $cluster_id HAVING count(*) > 0""")  # fmt: skip

# One row: how many partitions are seen, under-replicated, below min ISR and offline; empty when none is seen.
REPLICATION = Question(("partition_state",), """
    SELECT count(*) AS partitions,
           count(*) FILTER (len(in_sync_replicas) < len(replicas)) AS under_replicated,
           count(*) FILTER (len(in_sync_replicas) < least(min_insync_replicas, len(replicas))) AS below_min_isr,
           count(*) FILTER (min_insync_replicas IS NULL) AS min_isr_unknown,
           count(*) FILTER (leader IS NULL) AS offline
    FROM partition_state WHERE cluster_id = $cluster_id AND (ended_before IS NULL OR ended_before > $to)
    HAVING count(*) > 0""")  # fmt: skip
# Changes of leader in the window, by the intervals they began.
LEADER_CHANGES = Question(("partition_state",), """
    SELECT topic, partition, leader, epoch_ms(started_at) AS at_ms
    FROM (SELECT *, lag(leader_epoch) OVER (PARTITION BY topic_id, partition ORDER BY started_at) AS epoch_before
          FROM partition_state WHERE cluster_id = $cluster_id)
    WHERE epoch_before IS NOT NULL AND leader_epoch <> epoch_before AND started_at >= $from
    ORDER BY at_ms""")  # fmt: skip

REBALANCES = Question(("rebalances",), """
    SELECT group_id, epoch_ms(changed_after) AS changed_after_ms, epoch_ms(observed_at) AS observed_at_ms,
           joined, "left", moved, cause, group_epoch
    FROM rebalances WHERE cluster_id = $cluster_id ORDER BY observed_at DESC""")  # fmt: skip
GROUP_STATES = Question(("group_state",), """
    SELECT group_id, group_type, state, state_unknown, members, group_epoch, epoch_ms(started_at) AS started_at_ms,
           epoch_ms(last_seen_at) AS last_seen_at_ms, epoch_ms(ended_before) AS ended_before_ms
    FROM group_state WHERE cluster_id = $cluster_id ORDER BY group_id, started_at""")  # fmt: skip
MEMBERS = Question(("group_members",), """
    SELECT member_id, group_instance_id, client_id, host, assignment, epoch_ms(started_at) AS started_at_ms,
           epoch_ms(last_seen_at) AS last_seen_at_ms, epoch_ms(ended_before) AS ended_before_ms, ended_reason
    FROM group_members WHERE cluster_id = $cluster_id AND group_id = $group_id
    ORDER BY member_id, started_at""")  # fmt: skip

# Per topic, what the record jobs have read: the base of every figure of duplicates.
SAMPLED = Question(("ledger",), """
    SELECT topic, sum(records)::BIGINT AS records, sum(sampled)::BIGINT AS sampled, min(sampling_rate) AS rate,
           epoch_ms(max(observed_at)) AS observed_at_ms, count(*) FILTER (state <> 'complete') AS purged
    FROM ledger WHERE cluster_id = $cluster_id AND observed_at BETWEEN $from AND $to
    GROUP BY topic ORDER BY topic""")  # fmt: skip
# Per pipeline, how far source and sink have been compared.
COMPARISONS = Question(("losses",), """
    SELECT pipeline, sum(ids_judged)::BIGINT AS judged, sum(ids_unseen)::BIGINT AS unseen,
           sum(ids_lost)::BIGINT AS lost, sum("lower")::BIGINT AS "lower", sum("upper")::BIGINT AS "upper",
           min(settle_s) AS settle_s, epoch_ms(max(observed_at)) AS observed_at_ms
    FROM losses WHERE cluster_id = $cluster_id GROUP BY pipeline ORDER BY pipeline""")  # fmt: skip

# The last thing each part of Tidemark did: started, died, stopped; and the newest runs of the jobs.
PARTS = Question(("part_events",), """
    SELECT part, event, pid, exit_code, restarts, message, epoch_ms(observed_at) AS observed_at_ms
    FROM part_events WHERE observed_at <= $to
    QUALIFY row_number() OVER (PARTITION BY part ORDER BY observed_at DESC) = 1 ORDER BY part""")  # fmt: skip
JOB_RUNS = Question(("job_runs",), """
    SELECT job, pipeline, state, ranges, records, backlog, message, epoch_ms(started_at) AS started_at_ms,
           epoch_ms(ended_at) AS ended_at_ms, epoch_ms(observed_at) AS observed_at_ms
    FROM job_runs WHERE observed_at <= $to ORDER BY started_at DESC LIMIT 50""")  # fmt: skip

# What pages ask of one window at one time.
OF_THE_NEWEST_ROUND = (COVERAGE, GROUP_LAG, GROUP_STATES, REPLICATION)
OF_THE_LAST_DAY = (SAMPLED, COMPARISONS, NEWEST_MINUTE)
OF_TIDEMARK = (PARTS, JOB_RUNS)
