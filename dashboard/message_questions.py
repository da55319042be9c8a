"""Where a message is, by its id or the hash of it (see dashboard.queries)."""

from dashboard.queries import SAMPLED, Question

MOST_COPIES = 50  # of each topic: a topic without a row has no copy
MOST_DECISIONS = 200
IS_IT = "(message_id = $message_id OR id_hash = $id_hash)"

# Copies among the sampled ids of the window, in the order of their own clocks; `found` counts all of the topic.
COPIES = Question(("id_samples",), f"""
    SELECT topic, topic_id, partition, "offset", message_id, producer_id, producer_epoch, sequence, is_transactional,
           epoch_ms("timestamp") AS timestamp_ms, epoch_ms(observed_at) AS observed_at_ms,
           count(*) OVER (PARTITION BY topic) AS found
    FROM id_samples WHERE cluster_id = $cluster_id AND {IS_IT}
    QUALIFY row_number() OVER (PARTITION BY topic ORDER BY "timestamp", partition, "offset") <= {MOST_COPIES}
    ORDER BY topic, timestamp_ms, partition, "offset" """)  # fmt: skip
# What the comparisons of source and sink decided about it.
DECIDED = Question(("lost_ids",), f"""
    SELECT pipeline, topic, partition, "offset", message_id, state, found_at,
           epoch_ms(record_observed_at) AS observed_at_ms, epoch_ms(passed_at) AS passed_at_ms,
           epoch_ms(decided_at) AS decided_at_ms
    FROM lost_ids WHERE cluster_id = $cluster_id AND decided_at <= $to AND {IS_IT}
    ORDER BY decided_at, pipeline, partition, "offset" LIMIT {MOST_DECISIONS}""")  # fmt: skip
# Sampled ids of the window that are still stored: they expire, and the ledger of what was read does not.
STORED = Question(
    ("id_samples",),
    """
    SELECT topic, count(*) AS stored FROM id_samples WHERE cluster_id = $cluster_id GROUP BY topic""",
)

ALL = (COPIES, DECIDED, SAMPLED, STORED)
