"""Lag of one partition over time, who owned it, and how long what is unread has been there (see dashboard.queries)."""

from dashboard.queries import COMMITS, COMMITS_WITH_OFFSETS, OFFSETS, Question
from store.lag import LAG, REASON, join

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
           epoch_ms(last_seen_at) AS last_seen_at_ms, epoch_ms(ended_before) AS ended_before_ms, ended_reason
    FROM group_members
    WHERE cluster_id = $cluster_id AND group_id = $group_id AND json_contains(assignment, $place)
    ORDER BY started_at, member_id""")  # fmt: skip

# Commits of `$groups` in the newest round in which any of them was asked; no others are joined to their logs.
_OF_GROUPS = "cluster_id = $cluster_id AND group_id IN (SELECT unnest($groups::VARCHAR[]))"
_NEWEST_OF_GROUPS = COMMITS.format(reason=REASON, lag=LAG, join=join(
    f"""(FROM committed_offsets WHERE {_OF_GROUPS}
         AND tick = (SELECT max(tick) FROM committed_offsets WHERE {_OF_GROUPS}))""",
    "partition_offsets",
))  # fmt: skip

# Of each partition of `$groups`: how long its oldest unread offset has been seen to be there, ms. At least so long:
# since a sample whose high watermark lies above the newest commit. Of the newest rounds every sample counts, of earlier
# minutes their last. Nothing is said of a log whose end has fallen, and of a lag that is unknown there is no row.
_UNREAD = f"""
    WITH newest AS (
        SELECT group_id, topic, log_topic_id AS topic_id, partition, committed_offset, lag, observed_at_ms AS now_ms
        FROM ({_NEWEST_OF_GROUPS}) WHERE lag IS NOT NULL),
    seen AS (
        SELECT topic_id, partition, high_watermark AS last, high_watermark AS highest, epoch_ms(observed_at) AS seen_ms
        FROM partition_offsets WHERE cluster_id = $cluster_id AND high_watermark IS NOT NULL
        UNION ALL
        SELECT topic_id, partition, high_watermark_last, high_watermark_max, epoch_ms(last_known_at)
        FROM log_end_minute WHERE cluster_id = $cluster_id AND high_watermark_last IS NOT NULL),
    behind AS (SELECT DISTINCT topic_id, partition FROM newest WHERE lag > 0),
    logs AS (
        SELECT topic_id, partition, list({{'last': last, 'seen_ms': seen_ms}}) AS ends
        FROM (FROM seen SEMI JOIN behind USING (topic_id, partition)) GROUP BY ALL
        HAVING arg_max(last, seen_ms) = max(highest))
    SELECT group_id, topic, partition, (CASE WHEN lag = 0 THEN 0
        ELSE now_ms - list_min([e.seen_ms FOR e IN ends IF e.last > committed_offset]) END)::BIGINT AS unread_for_ms
    FROM newest LEFT JOIN logs USING (topic_id, partition)"""
_READ_FOR_IT = (*OFFSETS, "log_end_minute")
# The same of each topic of `$groups` by its worst partition, and of each partition of one group.
UNREAD_FOR = Question(_READ_FOR_IT, f"""
    SELECT group_id, topic, max(unread_for_ms) AS unread_for_ms FROM ({_UNREAD})
    GROUP BY group_id, topic ORDER BY group_id, topic""", newest=OFFSETS)  # fmt: skip
UNREAD_BY_PARTITION = Question(_READ_FOR_IT, f"""
    SELECT topic, partition, unread_for_ms FROM ({_UNREAD}) ORDER BY topic, partition""", newest=OFFSETS)  # fmt: skip
