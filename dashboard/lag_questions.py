"""Lag over time as questions: of the raw samples, and of what they were rolled up to (see dashboard.queries)."""

from dataclasses import dataclass

from dashboard.queries import COMMITS, COMMITS_WITH_OFFSETS, OFFSETS, Question
from guarantees.lag import NO_COMMIT
from store.lag import LAG, REASON, join, literal

# Of one group, whose topics are `$topics`: the offsets of all others are not even joined.
_OF_GROUP = COMMITS.format(reason=REASON, lag=LAG, join=join(
    "(FROM committed_offsets WHERE group_id = $group_id)",
    "(FROM partition_offsets WHERE list_contains($topics, topic))",
))  # fmt: skip

# Lag as highest and last value of a moment. A partition without a commit has no lag, neither known nor unknown.
RAW = """
    SELECT group_id, topic, partition, committed_at_ms AS at_ms, lag AS highest, lag AS last, reason AS unknown_reason
    FROM ({commits}) WHERE reason IS DISTINCT FROM {no_commit}"""
ROLLED_UP = f"""
    SELECT group_id, topic, partition, epoch_ms(observed_at) AS at_ms, lag_max AS highest, lag_last AS last,
           CASE WHEN unknown > 0 THEN nullif(unknown_reason, {literal(NO_COMMIT.reason)}) END AS unknown_reason
    FROM {{roll_up}} WHERE cluster_id = $cluster_id
      AND NOT (lag_last IS NULL AND unknown_reason IS NOT DISTINCT FROM {literal(NO_COMMIT.reason)})"""
CELLS = """
    SELECT topic, partition, (at_ms // $step_ms) * $step_ms AS at_ms, max(highest) AS lag,
           arg_max(last, samples.at_ms) AS last, max(unknown_reason) AS unknown_reason,
           max(samples.at_ms) AS newest_ms
    FROM ({samples}) samples WHERE group_id = $group_id GROUP BY ALL ORDER BY topic, partition, at_ms"""
# What a group has left, its groups and topics side by side, is no lag of it (C10).
_WITHOUT_LEFT = """
    ANTI JOIN (SELECT unnest($left_groups::VARCHAR[]) AS group_id, unnest($left_topics::VARCHAR[]) AS topic)
        USING (group_id, topic)"""
# Total lag of each group; null in a bucket where a partition of the group is unknown.
TREND = f"""
    SELECT group_id, at_ms, CASE WHEN count(unknown_reason) = 0 THEN sum(last)::BIGINT END AS lag
    FROM (SELECT group_id, topic, partition, (at_ms // $step_ms) * $step_ms AS at_ms,
                 arg_max(last, samples.at_ms) AS last, max(unknown_reason) AS unknown_reason
          FROM ({{samples}}) samples GROUP BY ALL){_WITHOUT_LEFT}
    GROUP BY ALL ORDER BY group_id, at_ms"""
# The same from what is summed by group already: the last minute (or hour) of a bucket counts.
GROUP_TREND = f"""
    SELECT group_id, at_ms, CASE WHEN count(unknown_reason) = 0 THEN sum(lag)::BIGINT END AS lag,
           max(newest_ms) AS newest_ms
    FROM (SELECT group_id, topic, (epoch_ms(observed_at) // $step_ms) * $step_ms AS at_ms,
                 arg_max(lag, observed_at) AS lag, max(unknown_reason) AS unknown_reason,
                 epoch_ms(max(observed_at)) AS newest_ms
          FROM {{roll_up}} WHERE cluster_id = $cluster_id AND partitions > without_commit GROUP BY ALL){_WITHOUT_LEFT}
    GROUP BY ALL ORDER BY group_id, at_ms"""


@dataclass(frozen=True, slots=True)
class LagQuestions:
    """One question about lag over time, put to the raw samples and to what they were rolled up to.

    A row of a roll-up says with `newest_ms` when the newest period of its bucket began.
    """

    raw: Question
    by_minute: Question
    by_hour: Question


def _raw(commits: str) -> str:
    return RAW.format(commits=commits, no_commit=literal(NO_COMMIT.reason))


def _of_roll_up(table: str, sql: str) -> Question:
    return Question((table,), sql.format(roll_up=table))


LAG_CELLS = LagQuestions(
    Question(OFFSETS, CELLS.format(samples=_raw(_OF_GROUP))),
    _of_roll_up("lag_minute", CELLS.format(samples=ROLLED_UP)),
    _of_roll_up("lag_hour", CELLS.format(samples=ROLLED_UP)),
)
LAG_TREND = LagQuestions(
    Question(OFFSETS, TREND.format(samples=_raw(COMMITS_WITH_OFFSETS))),
    _of_roll_up("group_lag_minute", GROUP_TREND),
    _of_roll_up("group_lag_hour", GROUP_TREND),
)
GROUP_TOPICS = Question(("committed_offsets",), """
    SELECT DISTINCT topic FROM committed_offsets WHERE cluster_id = $cluster_id AND group_id = $group_id
    ORDER BY topic""")  # fmt: skip
