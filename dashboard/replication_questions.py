"""What the Replication page asks (see dashboard.queries). A partition is named `<topic id>-<number>`."""

from dashboard.queries import IS_AT_MIN_ISR, IS_BELOW_MIN_ISR, IS_UNDER_REPLICATED, Question

# Of partitions and of elections; the page says how many are left out.
MOST_ROWS = 200

NAME = "topic_id || '-' || partition"
IS_FOUND = "contains(lower(topic || '-' || partition), lower(trim($search)))"
# The numbers of dashboard.replication.Risk.
RISK = f"""
    CASE WHEN leader IS NULL THEN 0 WHEN {IS_BELOW_MIN_ISR} THEN 1 WHEN {IS_AT_MIN_ISR} THEN 2
         WHEN {IS_UNDER_REPLICATED} THEN 3 ELSE 4 END"""
STATE = """
    topic, topic_id, partition, leader, leader_epoch, replicas, in_sync_replicas, eligible_leader_replicas,
    last_known_eligible_leader_replicas, offline_replicas, min_insync_replicas, epoch_ms(started_at) AS started_at_ms,
    epoch_ms(started_after) AS started_after_ms, epoch_ms(last_seen_at) AS last_seen_at_ms,
    epoch_ms(ended_before) AS ended_before_ms, ended_reason"""

# Partitions at risk now, and those of `$also`, the worst first; `found` counts them all.
AT_RISK = Question(("partition_state",), f"""
    SELECT {STATE}, {RISK} AS risk, count(*) OVER () AS found
    FROM partition_state
    WHERE cluster_id = $cluster_id AND (ended_before IS NULL OR ended_before > $to) AND {IS_FOUND}
      AND ({RISK} < 4 OR list_contains($also::VARCHAR[], {NAME}))
    ORDER BY risk, len(in_sync_replicas), list_contains($also::VARCHAR[], {NAME}) DESC, topic, partition
    LIMIT {MOST_ROWS}""")  # fmt: skip

# Partitions that were at risk in the window, and at its end are in no danger or no longer listed (`is_gone`): those
# below min ISR longest first, then those at any risk longest; `found` of them. A state that another one followed is not
# the last: one that ended before the window did ended with its partition.
LASTED = "sum(epoch_ms(least(coalesce(ended_before, $to), $to)) - epoch_ms(greatest(started_at, $from)))"
WERE_AT_RISK = Question(("partition_state",), f"""
    SELECT {NAME} AS name, coalesce(arg_max_null(ended_before < $to, started_at), false) AS is_gone,
           count(*) OVER () AS found
    FROM partition_state WHERE cluster_id = $cluster_id AND {IS_FOUND}
    GROUP BY name HAVING bool_or({RISK} < 4) AND (arg_max({RISK}, started_at) = 4 OR is_gone)
    ORDER BY coalesce({LASTED} FILTER ({IS_BELOW_MIN_ISR}), 0) DESC, {LASTED} FILTER ({RISK} < 4) DESC, name
    LIMIT {MOST_ROWS}""")  # fmt: skip

# Every state of a few partitions in the window, the oldest first.
HISTORY = Question(("partition_state",), f"""
    SELECT {STATE} FROM partition_state
    WHERE cluster_id = $cluster_id AND list_contains($partitions::VARCHAR[], {NAME})
    ORDER BY topic_id, partition, partition_state.started_at""")  # fmt: skip

# The partition whose state changed most often in the window: what to show where nothing is at risk.
MOST_CHANGED = Question(("partition_state",), f"""
    SELECT {NAME} AS name FROM partition_state WHERE cluster_id = $cluster_id AND {IS_FOUND}
    GROUP BY topic, topic_id, partition
    ORDER BY starts_with(topic, '__'), count(*) DESC, topic, partition LIMIT 1""")  # fmt: skip

# Newer leader epochs with a leader, each with the state seen before it; first those whose leader was not in sync then.
ELECTED = f"""
    WITH states AS (
        SELECT {STATE}, last_value(leader IGNORE NULLS) OVER (
                   earlier ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS last_leader,
               lag(struct_pack(leader, leader_epoch, replicas, in_sync_replicas, eligible_leader_replicas,
                               last_known_eligible_leader_replicas, last_seen_at_ms := epoch_ms(last_seen_at)))
                   OVER earlier AS before
        FROM partition_state WHERE cluster_id = $cluster_id AND {{which}}
        WINDOW earlier AS (PARTITION BY topic_id, partition ORDER BY started_at))
    SELECT *, count(*) OVER () AS found FROM states
    WHERE before IS NOT NULL AND leader IS NOT NULL AND leader_epoch > before.leader_epoch
      AND started_at_ms >= epoch_ms($from)
    ORDER BY list_contains(before.in_sync_replicas, leader), started_at_ms DESC, topic, partition"""
OF_ONE = "topic_id = $topic_id AND partition = $partition"
ELECTIONS = Question(("partition_state",), f"{ELECTED.format(which=IS_FOUND)} LIMIT {MOST_ROWS}")
ELECTIONS_OF = Question(("partition_state",), f"{ELECTED.format(which=OF_ONE)} LIMIT {MOST_ROWS}")

# Samples of one partition: its offsets as the leader answered, and the log end of each replica.
OFFSETS_OF = Question(("partition_offsets",), f"""
    SELECT tick, topic, log_start_offset, log_start_offset_unknown, last_stable_offset, last_stable_offset_unknown,
           high_watermark, high_watermark_unknown, leader_epoch, broker, epoch_ms(observed_at) AS observed_at_ms,
           epoch_ms(log_start_observed_at) AS log_start_observed_at_ms
    FROM partition_offsets WHERE cluster_id = $cluster_id AND {OF_ONE}
    ORDER BY tick""")  # fmt: skip
LOG_ENDS_OF = Question(("replica_offsets",), f"""
    SELECT tick, replica, log_end_offset, log_end_offset_unknown, leader_epoch, leader_epoch_unknown,
           epoch_ms(observed_at) AS observed_at_ms
    FROM replica_offsets WHERE cluster_id = $cluster_id AND {OF_ONE}
    ORDER BY tick, replica""")  # fmt: skip

# Changes of leader in the window, by the intervals they began.
LEADER_CHANGES = Question(("partition_state",), """
    SELECT topic, partition, leader, epoch_ms(started_at) AS at_ms
    FROM (SELECT *, lag(leader_epoch) OVER (PARTITION BY topic_id, partition ORDER BY started_at) AS epoch_before
          FROM partition_state WHERE cluster_id = $cluster_id)
    WHERE epoch_before IS NOT NULL AND leader_epoch <> epoch_before AND started_at >= $from
    ORDER BY at_ms""")  # fmt: skip

# What is asked of all states of the window at one time.
OF_THE_WINDOW = (WERE_AT_RISK, MOST_CHANGED, ELECTIONS)
