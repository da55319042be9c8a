"""What the page of an incident asks of the partitions it touched (see dashboard.queries, dashboard.incident_places).

The partitions stand as lists side by side: `$topics`, `$topic_ids`, `$partitions`, and `$lines`, the line of the chart
that draws each. A line shows the highest value of its partitions in each bucket, where all of them are known: with
each value stands how many are `unknown`, those asked about and not known at any time of the bucket.
"""

from dashboard.lag_questions import LagQuestions
from dashboard.queries import COMMITS, OFFSETS, Question
from guarantees.lag import NO_COMMIT
from store.lag import LAG, REASON, join, literal

TOUCHED = """
    SELECT unnest($topics::VARCHAR[]) AS topic, unnest($topic_ids::VARCHAR[]) AS asked_id,
           unnest($partitions::INT[]) AS partition, unnest($lines::VARCHAR[]) AS line"""
IS_SAME_TOPIC = "(asked_id IS NULL OR asked_id = topic_id)"

# Lag of the groups to the high watermark; each group of a partition counts. One without a commit has no lag.
_SAMPLED = COMMITS.format(reason=REASON, lag=LAG, join=join(
    f"(FROM committed_offsets SEMI JOIN ({TOUCHED}) USING (topic, partition) WHERE list_contains($groups, group_id))",
    f"(FROM partition_offsets SEMI JOIN ({TOUCHED}) USING (topic, partition))",
))  # fmt: skip
# Of a round under way the ends of the logs are not told yet: that is no gap.
_RAW = f"""
    SELECT group_id, topic, partition, committed_at_ms AS at_ms, lag AS highest,
           coalesce(reason <> {literal(NO_COMMIT.reason)} AND tick <= told, false) AS is_gap
    FROM ({_SAMPLED}),
         (SELECT coalesce(max(tick), -1) AS told FROM partition_offsets WHERE cluster_id = $cluster_id)"""
_ROLLED_UP = f"""
    SELECT group_id, topic, partition, epoch_ms(observed_at) AS at_ms, lag_max AS highest,
           coalesce(unknown_reason <> {literal(NO_COMMIT.reason)}, false) AS is_gap
    FROM {{roll_up}} WHERE cluster_id = $cluster_id AND list_contains($groups, group_id)"""
_LINES = f"""
    SELECT line, at_ms, max(highest) AS value, count(*) FILTER (highest IS NULL AND is_gap) AS unknown,
           max(newest_ms) AS newest_ms
    FROM (SELECT line, group_id, topic, partition, (at_ms // $step_ms) * $step_ms AS at_ms, max(highest) AS highest,
                 bool_or(is_gap) AS is_gap, max(samples.at_ms) AS newest_ms
          FROM ({{samples}}) samples JOIN ({TOUCHED}) USING (topic, partition) GROUP BY ALL)
    GROUP BY ALL ORDER BY ALL"""
LAG_LINES = LagQuestions(
    Question(OFFSETS, _LINES.format(samples=_RAW)),
    Question(("lag_minute",), _LINES.format(samples=_ROLLED_UP.format(roll_up="lag_minute"))),
    Question(("lag_hour",), _LINES.format(samples=_ROLLED_UP.format(roll_up="lag_hour"))),
)

# High watermark to the leader's log end, and last stable offset to high watermark. The log end counts where the broker
# that answered as the leader gave it in the same round and epoch (dashboard.replica_offsets). Of a round under way the
# high watermarks are there before the log ends: what nobody told yet is no gap.
OFFSET_LINES = Question(("partition_offsets", "replica_offsets"), f"""
    WITH touched AS ({TOUCHED}),
    offsets AS (
        SELECT p.*, line FROM partition_offsets p JOIN touched USING (topic, partition)
        WHERE cluster_id = $cluster_id AND {IS_SAME_TOPIC}),
    ends AS (
        SELECT tick, topic_id, partition, replica, log_end_offset, leader_epoch AS end_epoch
        FROM replica_offsets SEMI JOIN touched USING (topic, partition) WHERE cluster_id = $cluster_id),
    distances AS (
        SELECT line, o.topic_id, o.partition, (epoch_ms(observed_at) // $step_ms) * $step_ms AS at_ms,
               max(CASE WHEN coalesce(leader_epoch = end_epoch, true) THEN log_end_offset - high_watermark END)
                   AS not_replicated,
               bool_or(high_watermark IS NULL OR e.tick IS NOT NULL) AS is_told,
               max(high_watermark - last_stable_offset) AS held
        FROM offsets o LEFT JOIN ends e
          ON o.tick = e.tick AND o.topic_id = e.topic_id AND o.partition = e.partition AND o.broker = e.replica
        GROUP BY ALL)
    SELECT line, at_ms, max(not_replicated) AS not_replicated, max(held) AS held,
           count(*) FILTER (not_replicated IS NULL AND is_told) AS not_replicated_unknown,
           count(*) FILTER (held IS NULL) AS held_unknown
    FROM distances GROUP BY ALL ORDER BY ALL""")  # fmt: skip

# States of the touched partitions in the window, the oldest first.
STATES = Question(("partition_state",), f"""
    SELECT topic, topic_id, partition, leader, leader_epoch, replicas, in_sync_replicas, eligible_leader_replicas,
           last_known_eligible_leader_replicas, offline_replicas, min_insync_replicas,
           epoch_ms(started_at) AS started_at_ms, epoch_ms(started_after) AS started_after_ms,
           epoch_ms(last_seen_at) AS last_seen_at_ms, epoch_ms(ended_before) AS ended_before_ms, ended_reason
    FROM partition_state JOIN ({TOUCHED}) USING (topic, partition)
    WHERE cluster_id = $cluster_id AND {IS_SAME_TOPIC}
    ORDER BY topic_id, partition, partition_state.started_at""")  # fmt: skip

# Transactions that were open on the touched partitions in the window, with their transactional id where it is known.
OPEN_TRANSACTIONS = Question(("open_producers", "open_transactions"), f"""
    WITH named AS (
        SELECT producer_id, producer_epoch, min(transactional_id) AS transactional_id
        FROM open_transactions WHERE cluster_id = $cluster_id GROUP BY ALL)
    SELECT topic, partition, producer_id, producer_epoch, transactional_id, current_transaction_start_offset,
           epoch_ms(started_at) AS started_at_ms, epoch_ms(last_seen_at) AS last_seen_at_ms,
           epoch_ms(ended_before) AS ended_before_ms
    FROM open_producers JOIN ({TOUCHED}) USING (topic, partition) LEFT JOIN named USING (producer_id, producer_epoch)
    WHERE cluster_id = $cluster_id AND {IS_SAME_TOPIC}
    ORDER BY started_at_ms, producer_id""")  # fmt: skip

# Rebalances of the groups in the window, and the times they were not settled.
REBALANCES = Question(("rebalances",), """
    SELECT group_id, epoch_ms(observed_at) AS observed_at_ms, cause FROM rebalances
    WHERE cluster_id = $cluster_id AND list_contains($groups, group_id) ORDER BY observed_at_ms""")  # fmt: skip
GROUP_STATES = Question(("group_state",), """
    SELECT group_id, state, state_unknown, members, epoch_ms(started_at) AS started_at_ms,
           epoch_ms(last_seen_at) AS last_seen_at_ms, epoch_ms(ended_before) AS ended_before_ms, ended_reason
    FROM group_state WHERE cluster_id = $cluster_id AND list_contains($groups, group_id)
    ORDER BY started_at_ms""")  # fmt: skip
