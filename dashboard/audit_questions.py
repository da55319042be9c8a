"""What the page of duplicates and losses asks the record jobs' metrics (see dashboard.queries).

Extra copies are those found in ranges read in the window. Losses are a running comparison: its rows are its state now.
"""

from dashboard.queries import Question

EXAMPLES = 50

# Extra copies by partition, cause and producer of the later copy, over all ranges of the window. The stored interval
# counts for a single range; over several it is computed from `seen`.
EXTRA_COPIES = Question(("duplicates",), """
    SELECT topic, topic_id, partition, cause, producer_id, producer_epoch,
           list_sort(list(DISTINCT first_producer_id)) AS first_producer_ids,
           sum(sampled_extra_copies)::BIGINT AS seen, count(*) AS ranges, min("lower") AS "lower",
           min(estimate) AS estimate, min("upper") AS "upper", min(sampling_rate) AS rate, max(horizon_s) AS horizon_s,
           count(DISTINCT sampling_rate) AS rates,
           coalesce(sum(sampled_extra_copies) FILTER (sampling_rate >= 1), 0)::BIGINT AS seen_at_rate_1,
           sum(sampled_extra_copies / sampling_rate) FILTER (sampling_rate < 1) AS scaled,
           sum(sampled_extra_copies / sampling_rate ** 2) FILTER (sampling_rate < 1) AS scaled_squares,
           min(first_copy_offset) AS first_copy_offset, max(last_copy_offset) AS last_copy_offset,
           epoch_ms(max(observed_at)) AS observed_at_ms
    FROM duplicates WHERE cluster_id = $cluster_id AND observed_at BETWEEN $from AND $to
    GROUP BY topic, topic_id, partition, cause, producer_id, producer_epoch
    ORDER BY seen DESC, topic, partition, cause, producer_id""", without=("examples",))  # fmt: skip
# Windows of the exact audits that counted copies of a group and reach into this one.
AUDITED_COPIES = Question(("audit_duplicates", "audit_runs"), """
    SELECT DISTINCT topic_id, partition, cause, producer_id, producer_epoch, epoch_ms(window_from) AS from_ms,
           epoch_ms(window_to) AS to_ms
    FROM audit_duplicates AS copies JOIN audit_runs AS runs USING (run_id)
    WHERE copies.cluster_id = $cluster_id AND window_from <= $to AND window_to >= $from ORDER BY ALL""")  # fmt: skip

_STORED_EXAMPLES = """
    SELECT topic, cause, observed_at, unnest(from_json(examples, '["json"]')) AS example FROM duplicates
    WHERE cluster_id = $cluster_id AND observed_at BETWEEN $from AND $to"""
_HAS_WORD = "contains(lower({id}), lower($word))"
# The newest examples of one topic whose id holds a word, each as JSON; `found` counts all of them.
COPIES_BY_ID = Question(("duplicates",), f"""
    SELECT cause, example::VARCHAR AS example, count(*) OVER () AS found FROM ({_STORED_EXAMPLES})
    WHERE topic = $topic AND ($word = '' OR {_HAS_WORD.format(id="example->>'message_id'")})
    ORDER BY observed_at DESC, cause, example::VARCHAR LIMIT {EXAMPLES}""")  # fmt: skip
TOPICS_WITH_ID = Question(("duplicates",), f"""
    SELECT DISTINCT topic FROM ({_STORED_EXAMPLES})
    WHERE {_HAS_WORD.format(id="example->>'message_id'")}""")  # fmt: skip

# Ids decided up to the end of the window; lost ones before late ones, the newest first.
LOST_IDS = Question(("lost_ids",), f"""
    SELECT topic, partition, "offset", message_id, state, epoch_ms(record_observed_at) AS observed_at_ms,
           epoch_ms(passed_at) AS passed_at_ms, epoch_ms(decided_at) AS decided_at_ms, found_at,
           count(*) OVER () AS found
    FROM lost_ids WHERE cluster_id = $cluster_id AND pipeline = $pipeline AND decided_at <= $to
      AND ($word = '' OR {_HAS_WORD.format(id="message_id")})
    ORDER BY state = 'late', decided_at DESC, partition, "offset" LIMIT {EXAMPLES}""")  # fmt: skip
PIPELINES_WITH_ID = Question(("lost_ids",), f"""
    SELECT DISTINCT pipeline FROM lost_ids
    WHERE cluster_id = $cluster_id AND decided_at <= $to AND {_HAS_WORD.format(id="message_id")}""")  # fmt: skip

# How far each partition of a pipeline's source was compared with its sink.
COMPARED = Question(("losses",), """
    SELECT topic, partition, judged_from, judged_to, ids_judged, ids_unseen, ids_lost, ids_late, "lower", estimate,
           "upper", sampling_rate AS rate, settle_s, sink_read_to, epoch_ms(observed_at) AS observed_at_ms
    FROM losses WHERE cluster_id = $cluster_id AND pipeline = $pipeline
    ORDER BY ids_lost DESC, ids_unseen DESC, topic, partition""")  # fmt: skip

# Covered ranges of one topic, neighbours that touch in one row.
COVERED = Question(("ledger",), """
    WITH ordered AS (
        SELECT *, lag(next_offset) OVER offsets IS DISTINCT FROM first_offset
                  OR lag(state) OVER offsets <> state AS begins
        FROM ledger WHERE cluster_id = $cluster_id AND topic = $topic AND observed_at BETWEEN $from AND $to
        WINDOW offsets AS (PARTITION BY topic_id, partition ORDER BY first_offset)),
    numbered AS (
        SELECT *, count_if(begins) OVER (PARTITION BY topic_id, partition ORDER BY first_offset) AS run FROM ordered)
    SELECT topic_id, partition, state, min(first_offset) AS first_offset, max(next_offset) AS next_offset,
           sum(records)::BIGINT AS records, count(*) AS ranges, epoch_ms(min(observed_at)) AS from_ms,
           epoch_ms(max(observed_at)) AS to_ms
    FROM numbered GROUP BY topic_id, partition, run, state ORDER BY topic_id, partition, first_offset""")  # fmt: skip
# What the log of one topic holds now.
STORED = Question(("partition_offsets",), """
    SELECT topic_id, partition, log_start_offset, log_start_offset_unknown, last_stable_offset,
           last_stable_offset_unknown
    FROM partition_offsets WHERE cluster_id = $cluster_id AND topic = $topic
    QUALIFY row_number() OVER (PARTITION BY topic_id, partition ORDER BY tick DESC) = 1
    ORDER BY partition""")  # fmt: skip
