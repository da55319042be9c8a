"""Questions about how transactions ended, by their markers, and of which time all markers were read."""

from dashboard.queries import Question

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
# The buckets in which a round asked the cluster and no header was left unread.
#
# Each round that finds a partition not read to its end stores a range of it, with the offset it begins at: whole, or
# with a problem. A failure is a run of ranges with a problem, and the whole one that ends it. Who goes on from where
# the failure began has read all, late. Who goes on behind it left offsets out (retention removed them); who goes on
# before it left out what was written in between (the log was cut). A log whose newest sample before the last reading
# has more than was read of it (max_bytes_per_s) is behind.
#
# What was not read was written since the newest sample, or end of a minute, at which the log held no more than was
# read; what a cut took with it, since the round before that in which the failure began.
READING = ("rounds", "header_ranges", "partition_offsets", "log_end_minute")
BUCKETS_SEEN = Question(READING, """
    WITH asked AS (
        SELECT observed_at, epoch_ms(observed_at) AS at_ms, lag(observed_at) OVER (ORDER BY observed_at) AS before_at
        FROM rounds
        WHERE cluster_id = $cluster_id AND signal = 'end_offsets' AND answered > 0),
    ranges AS (FROM header_ranges WHERE cluster_id = $cluster_id),
    newest AS (
        SELECT topic_id, partition, arg_max(next_offset, observed_at) AS position FROM ranges GROUP BY ALL),
    numbered AS (
        SELECT *, count(*) FILTER (problem IS NULL) OVER (
            PARTITION BY topic_id, partition ORDER BY observed_at ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS run
        FROM ranges SEMI JOIN (FROM ranges WHERE problem IS NOT NULL) USING (topic_id, partition)),
    failures AS (
        SELECT topic_id, partition, arg_min(first_offset, observed_at) FILTER (problem IS NOT NULL) AS position,
               min(observed_at) AS failed_at, max(observed_at) FILTER (problem IS NOT NULL) AS until_at,
               min(first_offset) FILTER (problem IS NULL) AS goes_on_at
        FROM numbered GROUP BY topic_id, partition, run HAVING until_at IS NOT NULL),
    behind AS (
        SELECT n.topic_id, n.partition, n.position, $to AS until_at
        FROM newest n JOIN (FROM partition_offsets WHERE cluster_id = $cluster_id) p USING (topic_id, partition)
        WHERE p.observed_at <= (SELECT max(observed_at) FROM ranges)
        GROUP BY ALL HAVING arg_max(p.high_watermark, p.observed_at) > n.position),
    stops AS (
        FROM behind
        UNION ALL
        SELECT topic_id, partition, position, until_at
        FROM failures WHERE goes_on_at IS NULL OR goes_on_at > position),
    ends AS (
        SELECT topic_id, partition, high_watermark, observed_at FROM partition_offsets WHERE cluster_id = $cluster_id
        UNION ALL
        SELECT topic_id, partition, high_watermark_last, last_known_at
        FROM log_end_minute WHERE cluster_id = $cluster_id),
    read_to_the_end AS (
        SELECT topic_id, partition, until_at, max(e.observed_at) AS whole_at
        FROM stops s JOIN ends e USING (topic_id, partition)
        WHERE e.high_watermark <= s.position AND e.observed_at <= s.until_at GROUP BY ALL),
    unread AS (
        SELECT coalesce(whole_at, $from) AS from_at, until_at
        FROM stops LEFT JOIN read_to_the_end USING (topic_id, partition, until_at)
        UNION ALL
        SELECT coalesce(a.before_at, $from), f.until_at
        FROM failures f ASOF LEFT JOIN asked a ON f.failed_at > a.observed_at WHERE f.goes_on_at < f.position
        UNION ALL
        SELECT max(observed_at), $to FROM asked HAVING epoch_ms($to) - max(at_ms) > $silent_ms),
    missed AS (
        SELECT DISTINCT unnest(generate_series(
            greatest(epoch_ms(from_at), epoch_ms($from)) // $step_ms, epoch_ms(until_at) // $step_ms)) AS bucket
        FROM unread)
    SELECT DISTINCT at_ms // $step_ms * $step_ms AS at_ms
    FROM asked ANTI JOIN missed ON at_ms // $step_ms = bucket ORDER BY at_ms""",
    newest=("partition_offsets",))  # fmt: skip
