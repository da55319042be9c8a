"""Questions about transactions: which are open, what they hold back, who waits, and how others ended.

A transaction is a producer id and epoch; its partitions are those its coordinator lists and those on which a leader
has it open although no coordinator lists them for the producer (KIP-664, TransactionsCommand find-hanging).
"""

from dashboard.queries import Question

# A leader and the coordinators are asked one after the other: so long a difference may be that race.
RACE = "INTERVAL 10 SECOND"

# An interval is stated again after the moment asked for: it was seen open then, and is judged as of then.
# TOUCHED has one row for each open transaction and partition; RUNNING one for each transaction a coordinator describes.
OPEN_TABLES = ("open_transactions", "open_producers", "partition_offsets")
TOUCHED = f"""
    running AS (
        SELECT *, epoch_ms(transaction_started_at) AS transaction_started_at_ms, epoch_ms(started_at) AS seen_from_ms,
               epoch_ms(least(last_seen_at, $to)) AS last_seen_at_ms
        FROM open_transactions WHERE cluster_id = $cluster_id AND (ended_before IS NULL OR ended_before > $to)),
    producers AS (
        SELECT *, epoch_ms(started_at) AS seen_from_ms, epoch_ms(least(last_seen_at, $to)) AS last_seen_at_ms,
               epoch_ms(last_timestamp) AS last_timestamp_ms
        FROM open_producers WHERE cluster_id = $cluster_id AND (ended_before IS NULL OR ended_before > $to)),
    parts AS (
        SELECT producer_id, producer_epoch, unnest(from_json(partitions, '["JSON"]')) AS part FROM running),
    listed AS (
        SELECT DISTINCT producer_id, producer_epoch, part ->> 0 AS topic, (part ->> 1)::INT AS partition FROM parts),
    touched AS (
        SELECT l.producer_id, l.producer_epoch, l.topic, l.partition, true AS is_listed,
               p.current_transaction_start_offset, p.last_sequence, p.last_timestamp_ms, p.coordinator_epoch,
               p.seen_from_ms, p.last_seen_at_ms
        FROM listed l LEFT JOIN producers p USING (producer_id, topic, partition)
        UNION ALL
        SELECT producer_id, producer_epoch, topic, partition, false, current_transaction_start_offset, last_sequence,
               last_timestamp_ms, coordinator_epoch, seen_from_ms, last_seen_at_ms
        FROM producers ANTI JOIN listed USING (producer_id, topic, partition)
        WHERE last_seen_at - started_at >= {RACE}),
    offsets AS (
        SELECT topic, partition, last_stable_offset, last_stable_offset_unknown, high_watermark,
               high_watermark_unknown, broker, epoch_ms(observed_at) AS observed_at_ms
        FROM partition_offsets SEMI JOIN touched USING (topic, partition)
        WHERE cluster_id = $cluster_id
          AND tick = (SELECT max(tick) FROM partition_offsets WHERE cluster_id = $cluster_id)),
    held AS (
        SELECT *, CASE WHEN last_stable_offset IS NULL OR high_watermark IS NULL THEN NULL
                       WHEN last_stable_offset = high_watermark THEN 0
                       WHEN current_transaction_start_offset = last_stable_offset
                           THEN high_watermark - last_stable_offset
                       WHEN current_transaction_start_offset > last_stable_offset THEN 0 END AS held_back
        FROM touched LEFT JOIN offsets o USING (topic, partition))"""

# One row for each open transaction. What it holds back is known where it is known of every partition: the one whose
# transaction starts at the stable offset holds it, whoever starts above it does not.
OPEN = Question(OPEN_TABLES, f"""
    WITH {TOUCHED},
    described AS (
        SELECT producer_id, producer_epoch, min(transactional_id) AS transactional_id,
               arg_max(state, last_seen_at_ms) AS state, max(timeout_ms) AS timeout_ms,
               min(transaction_started_at_ms) AS transaction_started_at_ms, min(seen_from_ms) AS seen_from_ms,
               max(last_seen_at_ms) AS last_seen_at_ms, arg_max(coordinator, last_seen_at_ms) AS coordinator
        FROM running GROUP BY ALL),
    sums AS (
        SELECT producer_id, producer_epoch, count(*) AS partitions, count(*) FILTER (NOT is_listed) AS unlisted,
               list_sort(list(DISTINCT topic))[:20] AS topics, count(DISTINCT topic) AS topic_count,
               sum(held_back)::BIGINT AS held_back, count(*) FILTER (held_back IS NULL) AS held_back_unknown,
               min(coalesce(last_stable_offset_unknown, high_watermark_unknown)) AS offsets_unknown,
               min(seen_from_ms) FILTER (NOT is_listed) AS unlisted_from_ms,
               max(last_seen_at_ms) FILTER (NOT is_listed) AS unlisted_last_seen_at_ms,
               max(last_timestamp_ms) FILTER (NOT is_listed) AS last_timestamp_ms
        FROM held GROUP BY ALL)
    SELECT producer_id, producer_epoch, d.* EXCLUDE (producer_id, producer_epoch),
           coalesce(partitions, 0) AS partitions, coalesce(unlisted, 0) AS unlisted, topics,
           coalesce(topic_count, 0) AS topic_count, held_back, coalesce(held_back_unknown, 0) AS held_back_unknown,
           offsets_unknown, unlisted_from_ms, unlisted_last_seen_at_ms, last_timestamp_ms,
           EXISTS (FROM running r WHERE r.producer_id = coalesce(d.producer_id, s.producer_id)) AS is_producer_described
    FROM described d FULL JOIN sums s USING (producer_id, producer_epoch)
    ORDER BY producer_id, producer_epoch""")  # fmt: skip

# The partitions of one transaction, with everything both sides say of it.
PARTS = Question(OPEN_TABLES, f"""
    WITH {TOUCHED}
    SELECT topic, partition, is_listed, current_transaction_start_offset, last_sequence, last_timestamp_ms,
           coordinator_epoch, seen_from_ms, last_stable_offset, last_stable_offset_unknown, high_watermark,
           high_watermark_unknown, broker, observed_at_ms, held_back
    FROM held WHERE producer_id = $producer_id AND producer_epoch = $producer_epoch
    ORDER BY is_listed, held_back DESC NULLS LAST, topic, partition""")  # fmt: skip

# Commits of groups on partitions with an open transaction, of the newest round.
COMMITS = """
    commits AS (
        SELECT h.producer_id, h.producer_epoch, c.group_id, c.topic, c.partition, c.committed_offset,
               c.committed_offset_unknown, c.is_pending, h.last_stable_offset, h.last_stable_offset_unknown
        FROM held h JOIN committed_offsets c USING (topic, partition)
        WHERE c.cluster_id = $cluster_id
          AND c.tick = (SELECT max(tick) FROM committed_offsets WHERE cluster_id = $cluster_id)
          AND c.committed_offset_unknown IS DISTINCT FROM 'no commit')"""
COMMIT_TABLES = (*OPEN_TABLES, "committed_offsets")
# Per transaction the groups whose commit stands at the stable offset: they would wait under read_committed; and of how
# many groups that is unknown.
WAITING = Question(COMMIT_TABLES, f"""
    WITH {TOUCHED}, {COMMITS}
    SELECT producer_id, producer_epoch, count(DISTINCT group_id) FILTER (waits) AS "groups",
           coalesce(list_sort(list(DISTINCT group_id) FILTER (waits))[:20], []) AS names,
           count(DISTINCT group_id) FILTER (waits IS NULL) AS unknown
    FROM (SELECT *, last_stable_offset - committed_offset BETWEEN 0 AND $slack AS waits FROM commits)
         SEMI JOIN (FROM held WHERE held_back > 0) USING (producer_id, producer_epoch, topic, partition)
    WHERE waits IS NOT FALSE
    GROUP BY ALL""")  # fmt: skip
# Of one transaction every group with a commit on its partitions.
READERS = Question(COMMIT_TABLES, f"""
    WITH {TOUCHED}, {COMMITS}
    SELECT * EXCLUDE (producer_id, producer_epoch) FROM commits
    WHERE producer_id = $producer_id AND producer_epoch = $producer_epoch
    ORDER BY group_id, topic, partition""")  # fmt: skip
# Since when the stable offset of each partition of a topic stands where it stands; `first_ms`: the first sample asked.
STANDING = Question(("partition_offsets",), """
    WITH samples AS (
        SELECT topic, partition, last_stable_offset, epoch_ms(observed_at) AS at_ms FROM partition_offsets
        WHERE cluster_id = $cluster_id AND list_contains($topics, topic)),
    newest AS (SELECT topic, partition, arg_max(last_stable_offset, at_ms) AS stable FROM samples GROUP BY ALL)
    SELECT topic, partition, min(at_ms) FILTER (last_stable_offset = stable) AS since_ms, min(at_ms) AS first_ms
    FROM samples JOIN newest USING (topic, partition) GROUP BY ALL""")  # fmt: skip

# Aborts by producer, the newest first: how many markers on which topics, and when the last was written.
ABORTS = Question(("batch_headers",), """
    SELECT producer_id, producer_epoch, count(*) AS markers, min(topic) AS topic, count(DISTINCT topic) AS topics,
           max(max_timestamp_ms) AS at_ms
    FROM batch_headers WHERE cluster_id = $cluster_id AND marker = 'abort'
      AND max_timestamp_ms BETWEEN epoch_ms($from) AND epoch_ms($to)
    GROUP BY producer_id, producer_epoch ORDER BY at_ms DESC, producer_id LIMIT 200""")  # fmt: skip
# What of batch headers was read and what was not, by reason; a range without a problem has none.
HEADERS_READ = Question(("header_ranges",), """
    SELECT problem, count(*) AS ranges, count(DISTINCT (topic_id, partition)) AS partitions,
           min(topic) AS topic, epoch_ms(min(observed_at)) AS first_ms, epoch_ms(max(observed_at)) AS last_ms
    FROM header_ranges WHERE cluster_id = $cluster_id GROUP BY problem ORDER BY ranges DESC""")  # fmt: skip
# Transactions of the window that lasted past a share of their timeout, or that their coordinator was seen to abort.
LASTING = Question(("open_transactions",), """
    SELECT transactional_id, producer_id, max(producer_epoch) AS producer_epoch, max(timeout_ms) AS timeout_ms,
           epoch_ms(coalesce(transaction_started_at, min(started_at))) AS from_ms,
           epoch_ms(least(max(last_seen_at), $to)) AS to_ms,
           bool_or(ended_before IS NULL OR ended_before > $to) AS is_open, bool_or(state = 'PrepareAbort') AS is_aborted
    FROM open_transactions WHERE cluster_id = $cluster_id
    GROUP BY transactional_id, producer_id, transaction_started_at
    HAVING to_ms - from_ms >= $share * max(timeout_ms) OR is_aborted
    ORDER BY to_ms - from_ms DESC LIMIT 200""")  # fmt: skip
