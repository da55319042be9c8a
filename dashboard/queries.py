"""The questions the pages ask, as SQL over the store's views: parameters only, never text put together from names.

The views hold what was observed in the window asked about (store.reading.connect). Times are ms since 1970, UTC.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

from dashboard.past_runs import RUNS
from guarantees.lag import NO_COMMIT
from store.contracts import TABLES, Family
from store.lag import JOIN, LAG, REASON, literal
from store.reading import Window, connect

Row = Mapping[str, Any]
Rows = list[dict[str, Any]]

# Asked about as a whole, by several questions of one window and by those of the next one; of members mostly those of
# one group.
READ_ONCE = frozenset(
    name for name, table in TABLES.items() if table.family is Family.INTERVAL and name != "group_members"
)


@dataclass(frozen=True, slots=True, eq=False)  # a constant, itself alone equal to it: found at once as a key
class Question:
    """`tables` are the views the SQL reads; its parameters stand as `$name`, the window's ends as `$from` and `$to`.

    `newest`: those of the tables whose rows count only since `$since_ms`; `without`: long columns of metrics, not read.
    """

    tables: tuple[str, ...]
    sql: str
    newest: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


def ask(
    data_dir: Path,
    from_ms: int,
    to_ms: int,
    question: Question,
    about: Mapping[str, Any],
    read_once: Collection[str] = (),
) -> Rows:
    """The answer as dictionaries. `read_once`: tables that other questions will be asked of over the same window."""
    window = Window(from_ms, to_ms)
    since = {table: Window(about["since_ms"], to_ms) for table in question.newest}
    some = {"read_once": read_once, "windows": since, "without": question.without}
    with connect(data_dir, window, question.tables, **some) as connection:
        return _rows(connection, from_ms, to_ms, question, about)


def clusters_heard(to_ms: int, back_ms: int) -> tuple[int, int, Question, dict[str, Any]]:
    """How CLUSTERS is asked about the time before a moment: with what tells whether a round was over by then."""
    return to_ms - back_ms, to_ms + LONGEST_ROUND_MS, CLUSTERS, {"ended_by_ms": to_ms}


def ask_together(
    data_dir: Path, from_ms: int, to_ms: int, questions: Sequence[Question], about: Mapping[str, object]
) -> dict[Question, Rows]:
    """Several answers over one window for the price of one connection, most of what a question costs.

    Which restatement of an interval is the newest is asked once for all of them; samples are read faster than kept.
    Nothing where a table cannot be read: asked alone, its own question says why and the others are answered.
    """
    asked = {table for question in questions for table in question.tables}
    try:
        with connect(data_dir, Window(from_ms, to_ms), asked, read_once=READ_ONCE & asked) as connection:
            return {one: _rows(connection, from_ms, to_ms, one, about) for one in questions}
    except duckdb.Error:
        return {}


def _rows(
    connection: duckdb.DuckDBPyConnection, from_ms: int, to_ms: int, question: Question, about: Mapping[str, object]
) -> Rows:
    named = {"from": _moment(from_ms), "to": _moment(to_ms), **about}
    used = {name: named[name] for name in re.findall(r"\$(\w+)", question.sql)}
    rows: Rows = connection.sql(question.sql, params=used).to_arrow_table().to_pylist()
    return rows


def _moment(time_ms: int) -> datetime:
    return datetime.fromtimestamp(time_ms / 1000, UTC)


# Clusters that were heard, the newest identity of each name first, with the commits of their largest round: when a
# round was last answered, and last attempted; then the newest attempts, answered or not. A round counts once it is
# over: of one under way commits may be there and ends not.
CLUSTERS = Question(("rounds",), """
    SELECT cluster, cluster_id, max(ended_at_ms) FILTER (is_answered) AS observed_at_ms,
           max(ended_at_ms) AS attempted_at_ms, arg_max(interval_ms, ended_at_ms) AS interval_ms,
           max(commits) AS commits
    FROM (SELECT cluster, cluster_id, epoch_ms(max(observed_at)) AS ended_at_ms, max(interval_ms) AS interval_ms,
                 max(asked) FILTER (signal = 'committed_offsets') AS commits, bool_or(answered > 0) AS is_answered
          FROM rounds GROUP BY cluster, cluster_id, tick HAVING ended_at_ms < $ended_by_ms)
    GROUP BY ALL HAVING observed_at_ms IS NOT NULL ORDER BY observed_at_ms DESC""")  # fmt: skip
LONGEST_ROUND_MS = 60_000
ATTEMPTS = Question(("rounds",), """
    SELECT signal, answered, error, epoch_ms(observed_at) AS observed_at_ms FROM rounds
    WHERE cluster = $cluster ORDER BY observed_at DESC LIMIT 20""")  # fmt: skip

# Somebody said something: values, or that they may not be told, or that there is nothing to tell.
IS_ANSWERED = "(asked = 0 OR answered + refused > 0)"
# What the last round of each signal asked for and got, and when it was last answered; in the newest round, in a window.
COVERAGE = Question(("rounds",), f"""
    SELECT signal, tick, epoch_ms(observed_at) AS observed_at_ms, asked, answered, refused, failed, error, interval_ms,
           epoch_ms(max(observed_at) FILTER ({IS_ANSWERED}) OVER (PARTITION BY signal)) AS answered_at_ms
    FROM rounds WHERE cluster_id = $cluster_id
    QUALIFY row_number() OVER (PARTITION BY signal ORDER BY tick DESC) = 1 ORDER BY signal""")  # fmt: skip
COVERAGE_OF_WINDOW = Question(COVERAGE.tables, COVERAGE.sql)

COMMITS = """
    SELECT c.group_id, c.topic, c.topic_id, c.partition, c.tick, c.committed_offset, c.committed_offset_unknown,
           c.is_pending, p.log_start_offset, p.log_start_offset_unknown, p.last_stable_offset,
           p.last_stable_offset_unknown, p.high_watermark, p.high_watermark_unknown, p.topic_id AS log_topic_id,
           epoch_ms(c.observed_at) AS committed_at_ms, epoch_ms(p.observed_at) AS observed_at_ms,
           epoch_ms(p.log_start_observed_at) AS log_start_observed_at_ms, {reason} AS reason, {lag} AS lag
    FROM {join}
    WHERE cluster_id = $cluster_id"""
COMMITS_WITH_OFFSETS = COMMITS.format(reason=REASON, lag=LAG, join=JOIN)
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
# The same of a round that was rolled up, with how long at least the oldest unread offset had been there; nothing where
# it was not. Which round is the newest its coverage says.
GROUP_LAG_OF_ROUND = Question(("group_lag_round", "rounds"), """
    SELECT group_id, topic, partitions, lag, without_commit, unknown, unknown_reason, unread_for_ms
    FROM group_lag_round WHERE cluster_id = $cluster_id AND tick = (
        SELECT max(tick) FROM rounds WHERE cluster_id = $cluster_id AND signal = 'committed_offsets')
    ORDER BY lag DESC NULLS LAST, group_id, topic""")  # fmt: skip
# Each partition of a group now, with every offset and the reason of every gap.
PARTITION_LAG = Question(OFFSETS, f"""
    SELECT * FROM ({NEWEST}) WHERE group_id = $group_id ORDER BY topic, partition""")  # fmt: skip

# How far the roll-ups reach.
NEWEST_MINUTE = Question(("group_lag_minute",), """
    SELECT epoch_ms(max(observed_at)) AS at_ms FROM group_lag_minute
    WHERE cluster_id = $cluster_id HAVING count(*) > 0""")  # fmt: skip

# As guarantees.isr says it; a test holds the two together. least() skips a null, which would invent a minimum.
EFFECTIVE_MINIMUM = "CASE WHEN min_insync_replicas IS NOT NULL THEN least(min_insync_replicas, len(replicas)) END"
IS_UNDER_REPLICATED = "len(in_sync_replicas) < len(replicas)"
IS_BELOW_MIN_ISR = f"(leader IS NULL OR coalesce(len(in_sync_replicas) < ({EFFECTIVE_MINIMUM}), false))"
IS_AT_MIN_ISR = f"""
    (leader IS NOT NULL AND {IS_UNDER_REPLICATED}
     AND coalesce(len(in_sync_replicas) = ({EFFECTIVE_MINIMUM}), false))"""
# One row: how many partitions are seen, under-replicated, below and at min ISR, offline; empty when none is seen.
REPLICATION = Question(("partition_state",), f"""
    SELECT count(*) AS partitions,
           count(*) FILTER ({IS_UNDER_REPLICATED}) AS under_replicated,
           count(*) FILTER ({IS_BELOW_MIN_ISR}) AS below_min_isr,
           count(*) FILTER ({IS_AT_MIN_ISR}) AS at_min_isr,
           count(*) FILTER (min_insync_replicas IS NULL) AS min_isr_unknown,
           count(*) FILTER (leader IS NULL) AS offline
    FROM partition_state WHERE cluster_id = $cluster_id AND (ended_before IS NULL OR ended_before > $to)
    HAVING count(*) > 0""")  # fmt: skip

REBALANCES = Question(("rebalances",), """
    SELECT group_id, epoch_ms(changed_after) AS changed_after_ms, epoch_ms(observed_at) AS observed_at_ms,
           joined, "left", moved, cause, group_epoch, source, generation, hosts, subscriptions, group_leader_before,
           group_leader
    FROM rebalances WHERE cluster_id = $cluster_id ORDER BY observed_at DESC""")  # fmt: skip
# What ended after the window had not ended in it.
GROUP_STATES = Question(("group_state",), """
    SELECT group_id, group_type, state, state_unknown, members, group_epoch, epoch_ms(started_at) AS started_at_ms,
           epoch_ms(last_seen_at) AS last_seen_at_ms,
           CASE WHEN ended_before <= $to THEN epoch_ms(ended_before) END AS ended_before_ms
    FROM group_state WHERE cluster_id = $cluster_id ORDER BY group_id, started_at""")  # fmt: skip
MEMBERS = Question(("group_members",), """
    SELECT member_id, group_instance_id, client_id, host, assignment, epoch_ms(started_at) AS started_at_ms,
           epoch_ms(last_seen_at) AS last_seen_at_ms,
           CASE WHEN ended_before <= $to THEN epoch_ms(ended_before) END AS ended_before_ms,
           CASE WHEN ended_before <= $to THEN ended_reason END AS ended_reason
    FROM group_members WHERE cluster_id = $cluster_id AND group_id = $group_id
    ORDER BY member_id, started_at""")  # fmt: skip

# Per topic, what the record jobs have read: the base of every figure of duplicates. Ranges of a partition do not
# overlap, so what lies between the lowest and the highest offset and in no range is a gap. `left_unread`: offsets below
# the stable offset that the newest read of each partition left for later.
SAMPLED = Question(("ledger",), """
    SELECT topic, sum(records)::BIGINT AS records, sum(sampled)::BIGINT AS sampled, min(rate) AS rate,
           max(observed_at_ms) AS observed_at_ms, sum(purged)::BIGINT AS purged,
           sum(records_without_id)::BIGINT AS records_without_id,
           coalesce(sum(records_not_json), 0)::BIGINT AS records_not_json,
           sum(aborted_records)::BIGINT AS aborted_records, count(*) AS partitions,
           sum(read_offsets)::BIGINT AS read_offsets, sum(purged_offsets)::BIGINT AS purged_offsets,
           sum(next_offset - first_offset - read_offsets - purged_offsets)::BIGINT AS gap_offsets,
           sum(left_unread)::BIGINT AS left_unread
    FROM (SELECT topic, topic_id, partition, sum(records) AS records, sum(sampled) AS sampled,
                 min(coalesce(compared_rate, sampling_rate)) AS rate,
                 epoch_ms(max(observed_at)) AS observed_at_ms,
                 count(*) FILTER (state <> 'complete') AS purged, sum(records_without_id) AS records_without_id,
                 sum(records_not_json) AS records_not_json, sum(aborted_records) AS aborted_records,
                 min(first_offset) AS first_offset, max(next_offset) AS next_offset,
                 coalesce(sum(next_offset - first_offset) FILTER (state = 'complete'), 0) AS read_offsets,
                 coalesce(sum(next_offset - first_offset) FILTER (state <> 'complete'), 0) AS purged_offsets,
                 greatest(0, arg_max(last_stable_offset, next_offset) - max(next_offset)) AS left_unread
          FROM ledger WHERE cluster_id = $cluster_id AND observed_at BETWEEN $from AND $to GROUP BY ALL)
    GROUP BY topic ORDER BY topic""")  # fmt: skip
# Per pipeline, how far source and sink have been compared.
COMPARISONS = Question(("losses",), """
    SELECT pipeline, sum(ids_judged)::BIGINT AS judged, sum(ids_unseen)::BIGINT AS unseen,
           sum(ids_lost)::BIGINT AS lost, sum(ids_late)::BIGINT AS late, sum("lower")::BIGINT AS "lower",
           sum(estimate)::BIGINT AS estimate, sum("upper")::BIGINT AS "upper", min(sampling_rate) AS rate,
           count(*) AS partitions, min(settle_s) AS settle_s, epoch_ms(max(observed_at)) AS observed_at_ms
    FROM losses WHERE cluster_id = $cluster_id GROUP BY pipeline ORDER BY pipeline""")  # fmt: skip

# The last thing each part of Tidemark did: started, died, stopped; and the newest runs of the jobs.
PARTS = Question(("part_events",), """
    SELECT part, event, pid, exit_code, restarts, message, epoch_ms(observed_at) AS observed_at_ms
    FROM part_events WHERE observed_at <= $to
    QUALIFY row_number() OVER (PARTITION BY part ORDER BY observed_at DESC) = 1 ORDER BY part""")  # fmt: skip
JOB_RUNS = Question(("job_runs",), f"""
    SELECT job, pipeline, state, ranges, records, backlog, message, epoch_ms(started_at) AS started_at_ms,
           epoch_ms(ended_at) AS ended_at_ms, epoch_ms(observed_at) AS observed_at_ms
    FROM {RUNS} ORDER BY started_at DESC LIMIT 50""")  # fmt: skip
# The newest looks that left the same unread. One after the window tells nothing of it: what it found is not among the
# findings of the window. `has_left`, `message`: of runs that do not say of which topics.
LOOKS = Question(("job_runs",), f"""
    SELECT unread, CASE WHEN unread IS NULL THEN message END AS message,
           unread IS NULL AND backlog IS DISTINCT FROM 0 AS has_left, epoch_ms(max(started_at)) AS looked_at_ms,
           epoch_ms(max(ended_at)) AS ended_at_ms
    FROM (SELECT * FROM {RUNS} WHERE job = 'live' AND state = 'done' ORDER BY observed_at DESC LIMIT 5000)
    GROUP BY ALL ORDER BY looked_at_ms DESC LIMIT 500""")  # fmt: skip

# What pages ask of one window at one time.
OF_THE_NEWEST_ROUND = (COVERAGE, GROUP_STATES, REPLICATION)
OF_THE_LAST_DAY = (SAMPLED, COMPARISONS)
OF_TIDEMARK = (PARTS, JOB_RUNS, LOOKS)
