"""Lag and its gaps in SQL, as guarantees.lag.consumer_lag says them one by one; a test holds the two together.

For queries that join `committed_offsets` as `c` to `partition_offsets` as `p` of the same round (`JOIN`).
"""

from guarantees.lag import NO_COMMIT, PENDING_COMMIT

NOT_SAMPLED = "the offsets of the partition were not sampled in this round"
EARLIER_TOPIC = "the commit belongs to an earlier topic of this name"
READ_AFTER = "the commit was read after the high watermark"
BEYOND_END = "committed beyond the end of the log"


def join(commits: str, offsets: str) -> str:
    """Commits beside the offsets of their partition in the same round, each as a table or a query in brackets."""
    return f"{commits} c LEFT JOIN {offsets} p USING (cluster_id, tick, topic, partition)"


JOIN = join("committed_offsets", "partition_offsets")


def literal(sentence: str) -> str:
    """One of Tidemark's own sentences as an SQL literal."""
    return "'" + sentence.replace("'", "''") + "'"


# Null where the lag is known.
REASON = f"""
    CASE WHEN c.is_pending THEN {literal(PENDING_COMMIT.reason)}
         WHEN c.committed_offset IS NULL THEN coalesce(c.committed_offset_unknown, {literal(NO_COMMIT.reason)})
         WHEN p.tick IS NULL THEN {literal(NOT_SAMPLED)}
         WHEN c.topic_id <> p.topic_id THEN {literal(EARLIER_TOPIC)}
         WHEN p.high_watermark IS NULL THEN coalesce(p.high_watermark_unknown, {literal(NOT_SAMPLED)})
         WHEN c.committed_offset > p.high_watermark AND c.observed_at > p.observed_at THEN {literal(READ_AFTER)}
         WHEN c.committed_offset > p.high_watermark THEN {literal(BEYOND_END)}
         WHEN p.log_start_offset IS NULL THEN coalesce(p.log_start_offset_unknown, {literal(NOT_SAMPLED)}) END"""
# Asked only where the reason is null: greatest() skips a null and would invent a number.
LAG = f"""
    CASE WHEN {REASON} IS NULL
         THEN greatest(0, p.high_watermark - greatest(c.committed_offset, p.log_start_offset)) END"""
