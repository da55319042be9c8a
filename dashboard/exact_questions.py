"""What the panel of exact audits asks: who asked for what, how far it is, and what was counted (see dashboard.queries).

Neither requests nor audits are bound to the window on screen: the views hold all of them.
"""

from dashboard.queries import Question

RUNS_SHOWN, IDS_SHOWN = 20, 200

# As store.audit_requests reads them.
REQUESTED = Question(("operator_actions",), """
    SELECT action_id, action, who, request, epoch_ms(observed_at) AS observed_at
    FROM operator_actions WHERE action IN ('audit', 'cancel')""")  # fmt: skip

RUNS = Question(("audit_runs",), f"""
    SELECT run_id, audit_id, job, epoch_ms(window_from) AS from_ms, epoch_ms(window_to) AS to_ms, requested_by,
           epoch_ms(requested_at) AS requested_at_ms, epoch_ms(started_at) AS started_at_ms,
           epoch_ms(ended_at) AS ended_at_ms, state, reason, step, slices_done, slices_planned, offsets_read,
           offsets_planned, records, busy_s, cpu_s, blind_spots, is_whole, epoch_ms(observed_at) AS observed_at_ms
    FROM audit_runs WHERE pipeline = $pipeline ORDER BY requested_at DESC, run_id LIMIT {RUNS_SHOWN}""")  # fmt: skip

RANGES = Question(("audit_ranges",), """
    SELECT * EXCLUDE (audit_id, run_id, pipeline, cluster_id, observed_at)
    FROM audit_ranges WHERE run_id = $run_id ORDER BY side = 'sink', topic, partition""")  # fmt: skip
DUPLICATES = Question(("audit_duplicates",), """
    SELECT topic, partition, cause, first_producer_id, producer_id, producer_epoch, extra_copies, first_copy_offset,
           last_copy_offset, nearest_offsets, farthest_offsets, nearest_ms, farthest_ms, examples
    FROM audit_duplicates WHERE run_id = $run_id ORDER BY extra_copies DESC, topic, partition, cause""")  # fmt: skip
ORDER = Question(("audit_order",), """
    SELECT topic, partition, first_producer_id, producer_id, out_of_order, keys, first_offset, last_offset,
           nearest_offsets, farthest_offsets, examples
    FROM audit_order WHERE run_id = $run_id
    ORDER BY out_of_order DESC, topic, partition, first_producer_id""")  # fmt: skip
CONTENT = Question(("audit_content",), """
    SELECT topic, partition, base_offset, copy, leader_epoch, crc, copy_leader_epoch, copy_crc
    FROM audit_content WHERE run_id = $run_id ORDER BY topic, partition, base_offset, copy""")  # fmt: skip
IDS = Question(("audit_ids",), f"""
    SELECT state, topic, partition, "offset", message_id, id_hash, epoch_ms(timestamp) AS timestamp_ms, found_at
    FROM audit_ids WHERE run_id = $run_id
    ORDER BY list_position(['lost', 'surplus', 'late', 'waiting'], state), partition, "offset"
    LIMIT {4 * IDS_SHOWN}""")  # fmt: skip
