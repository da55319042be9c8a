"""What reports ask of their window (see dashboard.queries): rounds, coverage, roll-ups, and states over all of it."""

from dashboard.queries import IS_BELOW_MIN_ISR, Question
from dashboard.replication_questions import ELECTED, NAME

# Rounds that answered, by their end offsets: how many, the first and the last.
_ANSWERED = """
    SELECT tick, epoch_ms(max(observed_at)) AS at_ms FROM rounds
    WHERE cluster_id = $cluster_id AND signal = 'end_offsets' AND answered > 0 AND observed_at BETWEEN $from AND $to
    GROUP BY tick"""
ROUNDS = Question(("rounds",), f"""
    SELECT count(*) AS present, min(at_ms) AS first_ms, max(at_ms) AS last_ms, min(tick) AS first_tick,
           max(tick) AS last_tick
    FROM ({_ANSWERED})""")  # fmt: skip
# Times between two rounds that are longer than `$gap_ms`.
ROUND_GAPS = Question(("rounds",), f"""
    SELECT before_ms AS from_ms, at_ms AS to_ms
    FROM (SELECT at_ms, lag(at_ms) OVER (ORDER BY at_ms) AS before_ms FROM ({_ANSWERED}))
    WHERE at_ms - before_ms > $gap_ms ORDER BY from_ms""")  # fmt: skip
# Of each signal: how many values were asked for in the window, and what became of them.
COVERAGE_BY_SIGNAL = Question(("rounds",), """
    SELECT signal, count(*) AS rounds, sum(asked)::BIGINT AS asked, sum(answered)::BIGINT AS answered,
           sum(refused)::BIGINT AS refused, sum(failed)::BIGINT AS failed, max(error) AS error
    FROM rounds WHERE cluster_id = $cluster_id AND observed_at BETWEEN $from AND $to
    GROUP BY signal ORDER BY signal""")  # fmt: skip

# Lag of one group on one topic by the units of a roll-up, the oldest first.
_GROUP_LAG = """
    SELECT epoch_ms(observed_at) AS at_ms, lag, lag_max, partitions, without_commit, unknown, unknown_reason
    FROM {roll_up} WHERE cluster_id = $cluster_id AND group_id = $group_id AND topic = $topic ORDER BY observed_at"""
# Each partition of it over the whole window, where most is unknown or behind first; `found` counts them all.
_PARTITION_LAG = """
    SELECT partition, count(*) AS units, sum(samples)::BIGINT AS samples, sum(unknown)::BIGINT AS unknown,
           max(lag_max) AS lag_max, arg_max(lag_last, observed_at) AS lag_last,
           max(unknown_reason) FILTER (unknown > 0) AS unknown_reason, count(*) OVER () AS found
    FROM {roll_up} WHERE cluster_id = $cluster_id AND group_id = $group_id AND topic = $topic
    GROUP BY topic_id, partition ORDER BY unknown DESC, lag_max DESC NULLS LAST, topic_id, partition LIMIT $most"""
GROUP_LAG_BY_MINUTE = Question(("group_lag_minute",), _GROUP_LAG.format(roll_up="group_lag_minute"))
GROUP_LAG_BY_HOUR = Question(("group_lag_hour",), _GROUP_LAG.format(roll_up="group_lag_hour"))
PARTITION_LAG_BY_MINUTE = Question(("lag_minute",), _PARTITION_LAG.format(roll_up="lag_minute"))
PARTITION_LAG_BY_HOUR = Question(("lag_hour",), _PARTITION_LAG.format(roll_up="lag_hour"))

# When the first range of a topic was covered.
FIRST_RANGES = Question(("ledger",), """
    SELECT topic, epoch_ms(min(observed_at)) AS since_ms FROM ledger
    WHERE cluster_id = $cluster_id AND list_contains($topics::VARCHAR[], topic) GROUP BY topic""")  # fmt: skip
# Offsets of which no range was read: purged, or between two ranges. They were stored after the range before them
# (`from_ms`; null: none is stored) and seen to be unread by `to_ms`.
UNREAD_RANGES = Question(("ledger",), """
    SELECT own.topic, own.state <> 'complete' AS is_purged, epoch_ms(before.observed_at) AS from_ms,
           epoch_ms(own.observed_at) AS to_ms
    FROM ledger own ASOF LEFT JOIN ledger before
      ON own.cluster_id = before.cluster_id AND own.topic_id = before.topic_id AND own.partition = before.partition
         AND own.first_offset >= before.next_offset
    WHERE own.cluster_id = $cluster_id AND list_contains($topics::VARCHAR[], own.topic)
      AND epoch_ms(own.observed_at) >= $since_ms
      AND (own.state <> 'complete' OR own.first_offset > before.next_offset)""")  # fmt: skip

# The minutes in which ranges with copies were read, by group.
COPY_MINUTES = Question(("duplicates",), """
    SELECT DISTINCT topic_id, partition, cause, producer_id, producer_epoch,
           epoch_ms(observed_at) // 60000 * 60000 AS at_ms
    FROM duplicates WHERE cluster_id = $cluster_id AND list_contains($topics::VARCHAR[], topic)
      AND observed_at BETWEEN $from AND $to ORDER BY ALL""")  # fmt: skip

# Of each partition seen: between which leader epochs, whether it was below min ISR or offline, and whether its minimum
# could not be read at some time.
STATES = Question(("partition_state",), f"""
    SELECT {NAME} AS name, min(leader_epoch) AS first_epoch, max(leader_epoch) AS last_epoch,
           bool_or({IS_BELOW_MIN_ISR}) AS is_below, bool_or(min_insync_replicas IS NULL) AS is_unread
    FROM partition_state WHERE cluster_id = $cluster_id GROUP BY ALL""")  # fmt: skip
# Every election of a few partitions.
ELECTIONS = Question(("partition_state",), ELECTED.format(which=f"list_contains($partitions::VARCHAR[], {NAME})"))
