"""What a promise is inferred from and audited against, as questions (see dashboard.queries)."""

from dashboard.queries import COMMITS_WITH_OFFSETS, COVERAGE, GROUP_LAG, OFFSETS, Question

# How complete the window is: a round counts where the signal was answered. `asked`: for how many values at most.
ROUNDS_SEEN = Question(("rounds",), """
    WITH answered AS (
        SELECT epoch_ms(max(observed_at)) AS at_ms, max(asked) AS asked FROM rounds
        WHERE cluster_id = $cluster_id AND signal = $signal AND answered > 0 AND observed_at BETWEEN $from AND $to
        GROUP BY tick),
    spans AS (SELECT at_ms, asked, lag(at_ms) OVER (ORDER BY at_ms) AS before_ms FROM answered)
    SELECT count(*) AS present, min(at_ms) AS first_ms, max(at_ms) AS last_ms,
           max(at_ms - before_ms) AS longest_gap_ms, arg_max(before_ms, at_ms - before_ms) AS gap_from_ms,
           max(asked) AS asked FROM spans""")  # fmt: skip

# Per topic, the weakest partition: fewest replicas, lowest min ISR; how many partitions do not tell theirs.
TOPICS = Question(("partition_state",), """
    SELECT topic, min(len(replicas)) AS replicas, min(min_insync_replicas) AS min_insync_replicas,
           count(*) FILTER (min_insync_replicas IS NULL) AS min_insync_replicas_unknown
    FROM partition_state WHERE cluster_id = $cluster_id AND (ended_before IS NULL OR ended_before > $to)
    GROUP BY topic ORDER BY topic""")  # fmt: skip

# Per topic its newest settings, as the brokers resolve them.
CONFIGURATIONS = Question(("topic_configuration",), """
    SELECT topic, arg_max(configuration, last_seen_at) AS configuration FROM topic_configuration
    WHERE cluster_id = $cluster_id AND (ended_before IS NULL OR ended_before > $to) GROUP BY topic
    ORDER BY topic""")  # fmt: skip

# The cluster's features in force, by name.
FEATURES = Question(("cluster_features",), """
    SELECT feature, arg_max(level, last_seen_at) AS level FROM cluster_features
    WHERE cluster_id = $cluster_id AND (ended_before IS NULL OR ended_before > $to) GROUP BY feature
    ORDER BY feature""")  # fmt: skip

# When a commit of a group on a topic last awaited a transaction's marker.
PENDING_COMMITS = Question(("committed_offsets",), """
    SELECT group_id, topic, epoch_ms(max(observed_at)) AS observed_at_ms
    FROM committed_offsets WHERE cluster_id = $cluster_id AND is_pending GROUP BY ALL ORDER BY ALL""")  # fmt: skip

# Transactional ids seen with an open transaction, with all the partitions their transactions listed.
TRANSACTIONS_SEEN = Question(("open_transactions",), """
    SELECT transactional_id, partitions FROM open_transactions WHERE cluster_id = $cluster_id
    GROUP BY ALL ORDER BY max(last_seen_at) DESC LIMIT 1000""")  # fmt: skip

# Whose batches the sampled records came in.
PRODUCERS_SEEN = Question(("id_samples",), """
    SELECT topic, count(*) AS records, count(producer_id) AS idempotent,
           count(*) FILTER (is_transactional) AS transactional
    FROM id_samples WHERE cluster_id = $cluster_id GROUP BY topic ORDER BY topic""")  # fmt: skip

# How often the commits of one group on one topic moved, as far as samples show.
COMMIT_MOVES = Question(("committed_offsets",), """
    SELECT sum(moves)::BIGINT AS moves, max(until_ms) - min(from_ms) AS over_ms FROM (
        SELECT count(DISTINCT committed_offset) - 1 AS moves, epoch_ms(min(observed_at)) AS from_ms,
               epoch_ms(max(observed_at)) AS until_ms
        FROM committed_offsets
        WHERE cluster_id = $cluster_id AND group_id = $group_id AND topic = $topic AND committed_offset IS NOT NULL
        GROUP BY partition)
    HAVING count(*) > 0""")  # fmt: skip

# Per partition of one group and topic with unread offsets: since when, at the latest, the oldest of them is there.
UNREAD_SINCE = Question(OFFSETS, f"""
    WITH seen AS ({COMMITS_WITH_OFFSETS} AND group_id = $group_id AND topic = $topic),
    newest AS (SELECT partition, max_by(committed_offset, tick) AS committed_offset, max_by(lag, tick) AS lag FROM seen
               WHERE lag IS NOT NULL GROUP BY partition)
    SELECT partition, any_value(newest.lag) AS unread, min(seen.observed_at_ms) AS since_ms
    FROM newest JOIN seen USING (partition)
    WHERE newest.lag > 0 AND seen.high_watermark > newest.committed_offset GROUP BY partition
    ORDER BY partition""")  # fmt: skip

# Per partition of one group and topic: the newest minute in which it had read everything.
LAST_CAUGHT_UP = Question(("lag_minute",), """
    SELECT partition, epoch_ms(max(observed_at)) AS minute_ms FROM lag_minute
    WHERE cluster_id = $cluster_id AND group_id = $group_id AND topic = $topic AND lag_min = 0
    GROUP BY partition ORDER BY partition""")  # fmt: skip

# What inference needs of every group at once: of the newest round, and of the last quarter of an hour. What the
# explanation of one pipeline asks beyond it.
OF_THE_NEWEST_ROUND = (COVERAGE, GROUP_LAG, TOPICS, CONFIGURATIONS, FEATURES)
OF_RECENT = (PENDING_COMMITS, TRANSACTIONS_SEEN, PRODUCERS_SEEN)
OF_ONE_RECENT = (COMMIT_MOVES, UNREAD_SINCE)
