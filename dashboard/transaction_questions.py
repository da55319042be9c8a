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

# Markers by time of their own. A transaction leaves one marker on a partition, so of a producer's markers those of its
# busiest partition are at least so many transactions, and none is counted twice within one bucket.
OUTCOMES = Question(("batch_headers",), """
    WITH of_partition AS (
        SELECT (max_timestamp_ms // $step_ms) * $step_ms AS at_ms, marker, producer_id, producer_epoch,
               topic_id, partition, count(*) AS markers
        FROM batch_headers WHERE cluster_id = $cluster_id AND marker IS NOT NULL GROUP BY ALL),
    of_producer AS (
        SELECT at_ms, marker, max(markers) AS transactions, sum(markers) AS markers
        FROM of_partition GROUP BY at_ms, marker, producer_id, producer_epoch)
    SELECT at_ms, marker, sum(transactions)::BIGINT AS transactions, sum(markers)::BIGINT AS markers
    FROM of_producer GROUP BY ALL ORDER BY at_ms, marker""")  # fmt: skip
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
# The buckets in which a round asked the cluster and no header was left unread. What was written since the round before
# is not read where there is a problem, unless a later range reads on from there. Where a leader has more than was read
# of it (max_bytes_per_s), or a later range left offsets out, nothing is known (up to that range) of what was written
# since it was last read to its end, or, where that is not sampled any more, after the newest batch read before.
READING = ("rounds", "header_ranges", "partition_offsets", "batch_headers")
BUCKETS_SEEN = Question(READING, """
    WITH asked AS (
        SELECT epoch_ms(observed_at) AS at_ms, interval_ms FROM rounds
        WHERE cluster_id = $cluster_id AND signal = 'end_offsets' AND answered > 0),
    ranges AS (FROM header_ranges WHERE cluster_id = $cluster_id),
    whole AS (FROM ranges WHERE problem IS NULL),
    unread AS (
        SELECT epoch_ms(r.observed_at) - coalesce((SELECT max(interval_ms) FROM asked), 0) AS from_ms,
               epoch_ms(r.observed_at) AS to_ms
        FROM ranges r ASOF LEFT JOIN whole w
             ON r.topic_id = w.topic_id AND r.partition = w.partition AND r.observed_at < w.observed_at
        WHERE r.problem IS NOT NULL AND (w.observed_at IS NULL OR w.break_reason IS NOT NULL)),
    stops AS (
        SELECT topic_id, partition, max(observed_at) AS seen_at, arg_max(next_offset, observed_at) AS next_offset,
               $to AS until_at, false AS has_skipped
        FROM whole GROUP BY ALL
        UNION ALL
        SELECT r.topic_id, r.partition, r.observed_at, w.next_offset, r.observed_at, true
        FROM whole r ASOF JOIN whole w
             ON r.topic_id = w.topic_id AND r.partition = w.partition AND r.observed_at > w.observed_at
        WHERE r.break_reason IS NOT NULL AND r.first_offset > w.next_offset),
    behind AS (
        SELECT s.*, max(p.observed_at) FILTER (p.high_watermark <= s.next_offset) AS whole_at
        FROM stops s LEFT JOIN (FROM partition_offsets WHERE cluster_id = $cluster_id) p
             ON p.topic_id = s.topic_id AND p.partition = s.partition AND p.observed_at <= s.seen_at
        GROUP BY ALL HAVING has_skipped OR arg_max(p.high_watermark, p.observed_at) > s.next_offset),
    unreached AS (
        SELECT coalesce(
                   epoch_ms(any_value(whole_at)), max(max_timestamp_ms) FILTER (base_offset < next_offset),
                   epoch_ms($from)) AS from_ms,
               epoch_ms(until_at) AS to_ms
        FROM behind LEFT JOIN (FROM batch_headers WHERE cluster_id = $cluster_id) USING (topic_id, partition)
        GROUP BY topic_id, partition, until_at),
    missed AS (
        SELECT DISTINCT unnest(generate_series(greatest(from_ms, epoch_ms($from)) // $step_ms, to_ms // $step_ms))
               AS bucket
        FROM (FROM unread UNION ALL FROM unreached))
    SELECT DISTINCT at_ms // $step_ms * $step_ms AS at_ms
    FROM asked ANTI JOIN missed ON at_ms // $step_ms = bucket ORDER BY at_ms""",
    newest=("partition_offsets",))  # fmt: skip
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
