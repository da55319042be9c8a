"""Lag of one partition over time, who owned it, and how long what is unread has been there (see dashboard.queries)."""

from dashboard.queries import COMMITS_WITH_OFFSETS, OFFSETS, Question

OF_ONE = "cluster_id = $cluster_id AND group_id = $group_id AND topic = $topic AND partition = $partition"

# Every sample of a group on a partition, the oldest first; and its roll-ups.
SAMPLES = Question(OFFSETS, f"""
    SELECT * FROM ({COMMITS_WITH_OFFSETS}) WHERE group_id = $group_id AND topic = $topic AND partition = $partition
    ORDER BY committed_at_ms""")  # fmt: skip
MINUTES = Question(("lag_minute",), f"""
    SELECT epoch_ms(observed_at) AS at_ms, lag_max, samples, unknown, unknown_reason
    FROM lag_minute WHERE {OF_ONE} ORDER BY observed_at""")  # fmt: skip

# Members of a group while they owned the partition. `place` is ["topic", partition] as JSON.
OWNERS = Question(("group_members",), """
    SELECT member_id, group_instance_id, client_id, host, epoch_ms(started_at) AS started_at_ms,
           epoch_ms(last_seen_at) AS last_seen_at_ms, epoch_ms(ended_before) AS ended_before_ms
    FROM group_members
    WHERE cluster_id = $cluster_id AND group_id = $group_id AND json_contains(assignment, $place)
    ORDER BY started_at, member_id""")  # fmt: skip

# Of each topic of `$groups`: how long the oldest unread offset of its worst partition has been seen to be there, ms. At
# least so long: since a sample whose high watermark lies above the newest commit. Of the newest rounds every sample
# counts, of earlier minutes their last. Nothing is said of a log whose end has fallen.
UNREAD_FOR = Question((*OFFSETS, "log_end_minute"), f"""
    WITH newest AS (
        SELECT group_id, topic, log_topic_id AS topic_id, partition, committed_offset, lag, observed_at_ms AS now_ms
        FROM ({COMMITS_WITH_OFFSETS} AND list_contains($groups::VARCHAR[], group_id) QUALIFY tick = max(tick) OVER ())
        WHERE lag IS NOT NULL),
    seen AS (
        SELECT topic_id, partition, high_watermark AS last, high_watermark AS highest, epoch_ms(observed_at) AS seen_ms
        FROM partition_offsets WHERE cluster_id = $cluster_id AND high_watermark IS NOT NULL
        UNION ALL
        SELECT topic_id, partition, high_watermark_last, high_watermark_max, epoch_ms(last_known_at)
        FROM log_end_minute WHERE cluster_id = $cluster_id AND high_watermark_last IS NOT NULL),
    behind_now AS (SELECT DISTINCT topic_id, partition FROM newest WHERE lag > 0),
    ends AS MATERIALIZED (FROM seen SEMI JOIN behind_now USING (topic_id, partition)),
    logs AS (SELECT topic_id, partition FROM ends GROUP BY ALL HAVING arg_max(last, seen_ms) = max(highest)),
    behind AS (
        SELECT group_id, newest.topic, topic_id, partition, any_value(now_ms) - min(seen_ms) AS unread_for_ms
        FROM newest JOIN (FROM ends SEMI JOIN logs USING (topic_id, partition)) USING (topic_id, partition)
        WHERE lag > 0 AND last > committed_offset GROUP BY ALL)
    SELECT group_id, topic, max(CASE WHEN lag = 0 THEN 0 ELSE unread_for_ms END)::BIGINT AS unread_for_ms
    FROM newest LEFT JOIN behind USING (group_id, topic, topic_id, partition)
    GROUP BY group_id, topic ORDER BY group_id, topic""", newest=OFFSETS)  # fmt: skip
