"""Commits of one group on one partition: as the coordinator wrote them, elsewhere as samples differ."""

from dashboard.queries import Question
from guarantees.internal_records import CONSUMER_OFFSETS, SAMPLES
from store.lag import literal

OF_ONE = "cluster_id = $cluster_id AND group_id = $group_id AND topic = $topic AND partition = $partition"
# A coordinator's clock and the collector's may differ by so much.
SKEW = "INTERVAL 1 SECOND"

# Where a record tells a change, the samples around it say no more.
COMMITS = Question(("commits", "committed_offsets"), f"""
    WITH written AS (
        SELECT coalesce(committed_at, observed_at) AS told_at, NULL::TIMESTAMPTZ AS after_at, previous_offset,
               committed_offset, commits, producer_id,
               {literal(CONSUMER_OFFSETS)} AS source
        FROM commits WHERE {OF_ONE}),
    samples AS (
        SELECT observed_at AS told_at, committed_offset, lag(committed_offset) OVER earlier AS previous_offset,
               lag(observed_at) OVER earlier AS after_at
        FROM committed_offsets WHERE {OF_ONE} AND committed_offset IS NOT NULL
        WINDOW earlier AS (ORDER BY committed_offsets.observed_at)),
    differences AS (
        SELECT * FROM samples s WHERE committed_offset <> previous_offset AND NOT EXISTS (
            FROM written w WHERE w.told_at BETWEEN s.after_at - {SKEW} AND s.told_at + {SKEW})),
    told AS (
        FROM written UNION ALL BY NAME
        SELECT told_at, after_at, previous_offset, committed_offset,
               NULL::BIGINT AS commits, NULL::BIGINT AS producer_id, {literal(SAMPLES)} AS source FROM differences)
    SELECT epoch_ms(told_at) AS at_ms, epoch_ms(after_at) AS after_ms, previous_offset, committed_offset,
           commits, producer_id, source, count(*) OVER () AS found
    FROM told ORDER BY at_ms DESC, committed_offset DESC LIMIT 200""")  # fmt: skip
