"""What changed in a window (see dashboard.queries): what a whole cluster did at one moment is one row.

`at_ms` is when a change was first seen, `after_ms` the last observation before it; null: nothing was observed before.
"""

from dashboard.queries import Question

# Of each kind of change, the newest; `found` counts them all.
MOST_ROWS = 200
NEWEST = f"ORDER BY at_ms DESC LIMIT {MOST_ROWS}"

# Each state of each partition with the one before it.
STATES = """
    WITH states AS (
        SELECT *, epoch_ms(started_at) // 1000 AS moment, min(started_at) OVER (PARTITION BY topic_id) AS id_since,
               min(started_at) OVER (PARTITION BY topic) AS name_since,
               lead(started_at) OVER earlier AS next_at,
               lag(struct_pack(leader, leader_epoch, last_seen_at, replicas := list_sort(replicas),
                               in_sync := list_sort(in_sync_replicas))) OVER earlier AS before
        FROM partition_state WHERE cluster_id = $cluster_id AND contains(lower(topic), lower(trim($search)))
        WINDOW earlier AS (PARTITION BY topic_id, partition ORDER BY started_at))"""
# How many partitions, and the first of them by name.
WHERE = """
    count(*) AS partitions, count(DISTINCT topic_id) AS topics, min(topic) AS topic,
    arg_min(topic_id, (topic, partition)) AS topic_id, arg_min(partition, (topic, partition)) AS partition"""
TIMES = "epoch_ms(min(before.last_seen_at)) AS after_ms, epoch_ms(max(started_at)) AS at_ms, count(*) OVER () AS found"

LEADERS = Question(("partition_state",), f"""{STATES}
    SELECT {WHERE}, {TIMES}, before.leader AS leader_before, leader AS leader_after FROM states
    WHERE started_at >= $from AND before IS NOT NULL
      AND (leader_epoch > before.leader_epoch OR leader IS DISTINCT FROM before.leader)
    GROUP BY moment, leader_before, leader_after {NEWEST}""")  # fmt: skip
IN_SYNC = Question(("partition_state",), f"""{STATES}
    SELECT {WHERE}, {TIMES}, list_filter(before.in_sync, lambda r: NOT list_contains(in_sync_replicas, r)) AS "left",
           list_filter(list_sort(in_sync_replicas), lambda r: NOT list_contains(before.in_sync, r)) AS back
    FROM states WHERE started_at >= $from AND list_sort(in_sync_replicas) IS DISTINCT FROM before.in_sync
      AND before IS NOT NULL
    GROUP BY moment, "left", back {NEWEST}""")  # fmt: skip
REPLICAS = Question(("partition_state",), f"""{STATES}
    SELECT {WHERE}, {TIMES}, before.replicas AS replicas_before, list_sort(replicas) AS replicas_after FROM states
    WHERE started_at >= $from AND list_sort(replicas) IS DISTINCT FROM before.replicas AND before IS NOT NULL
    GROUP BY moment, replicas_before, replicas_after {NEWEST}""")  # fmt: skip

# Partitions that were not there in an earlier round which saw partitions. What the first round of all saw is not new.
APPEARED = Question(("partition_state", "rounds"), f"""{STATES},
    answered AS (SELECT observed_at FROM rounds
                 WHERE cluster_id = $cluster_id AND signal = 'partition_states' AND answered > 0),
    new AS (
        SELECT topic, topic_id, count(*) AS partitions, min(partition) AS partition, min(started_at) AS first_at,
               min(id_since) AS id_since, min(name_since) AS name_since, epoch_ms(min(started_at)) AS at_ms
        FROM states WHERE started_at >= $from AND before IS NULL AND started_after IS NULL
        GROUP BY topic, topic_id, moment)
    SELECT topic, topic_id, partition, partitions, at_ms, count(*) OVER () AS found,
           epoch_ms((SELECT max(observed_at) FROM answered WHERE observed_at < first_at)) AS after_ms,
           CASE WHEN id_since < first_at THEN 'added' WHEN name_since < first_at THEN 'anew' ELSE 'new' END AS how
    FROM new
    WHERE EXISTS (FROM answered WHERE observed_at < first_at)
       OR (SELECT min(started_at) FROM states) < $from
    {NEWEST}""")  # fmt: skip
# Partitions that are no longer listed; a topic that was made anew appears as such.
GONE = Question(("partition_state",), f"""{STATES}
    SELECT topic, topic_id, min(partition) AS partition, count(*) AS partitions, ended_reason AS reason,
           epoch_ms(min(last_seen_at)) AS after_ms, epoch_ms(max(ended_before)) AS at_ms, count(*) OVER () AS found
    FROM states WHERE ended_before >= $from AND ended_before < $to AND next_at IS NULL
      AND (starts_with(ended_reason, 'the topic is no') OR starts_with(ended_reason, 'the partition is no'))
    GROUP BY topic, topic_id, reason {NEWEST}""")  # fmt: skip

SETTINGS = Question(("topic_configuration",), f"""
    WITH readings AS (
        SELECT topic, topic_id, configuration, epoch_ms(started_at) AS at_ms, started_at,
               lag(configuration) OVER earlier AS before, epoch_ms(lag(last_seen_at) OVER earlier) AS after_ms
        FROM topic_configuration WHERE cluster_id = $cluster_id AND contains(lower(topic), lower(trim($search)))
        WINDOW earlier AS (PARTITION BY topic_id ORDER BY topic_configuration.started_at))
    SELECT *, count(*) OVER () AS found FROM readings
    WHERE started_at >= $from AND configuration <> before {NEWEST}""")  # fmt: skip

REBALANCES = Question(("rebalances",), f"""
    SELECT group_id, joined, "left", moved, cause, epoch_ms(changed_after) AS after_ms,
           epoch_ms(observed_at) AS at_ms, count(*) OVER () AS found
    FROM rebalances WHERE cluster_id = $cluster_id AND contains(lower(group_id), lower(trim($search)))
    {NEWEST}""")  # fmt: skip

# Findings that opened and closed, those of one moment, kind and place together.
FINDINGS = Question(("finding_events",), f"""
    SELECT change, kind, topic, group_id, count(*) AS findings, arg_max(title, severity) AS title,
           arg_max(finding_id, severity) AS finding_id, arg_max(closed_reason, severity) AS closed_reason,
           epoch_ms(min(happened_at)) AS happened_at_ms, epoch_ms(max(observed_at)) AS at_ms,
           count(*) OVER () AS found
    FROM finding_events
    WHERE cluster_id = $cluster_id AND change IN ('opened', 'closed') AND observed_at >= $from AND observed_at < $to
      AND contains(lower(concat_ws(' ', topic, group_id, pipeline)), lower(trim($search)))
    GROUP BY change, kind, topic, group_id, epoch_ms(observed_at) // 1000 {NEWEST}""")  # fmt: skip
# What people did, also to a finding of what is searched for. `asked`: the audit it asks for, or cancels.
ACTIONS = Question(("operator_actions", "finding_events"), f"""
    WITH audits AS (SELECT action_id, request FROM operator_actions WHERE action = 'audit'),
    told AS (
        SELECT action, finding_id, who, note, observed_at, epoch_ms(observed_at) AS at_ms,
               (SELECT min(struct_pack(run_id := action_id, request)) FROM audits
                WHERE acts.action_id = audits.action_id
                   OR (acts.action = 'cancel' AND contains(acts.request, audits.action_id))) AS asked
        FROM operator_actions AS acts WHERE observed_at >= $from AND observed_at < $to)
    SELECT *, count(*) OVER () AS found FROM told
    WHERE contains(lower(concat_ws(' ', who, action, note, asked.request)), lower(trim($search)))
       OR finding_id IN (SELECT finding_id FROM finding_events
                         WHERE contains(lower(concat_ws(' ', topic, group_id, pipeline)), lower(trim($search))))
    {NEWEST}""")  # fmt: skip
PARTS = Question(("part_events",), f"""
    SELECT part, event, message, epoch_ms(observed_at) AS at_ms, count(*) OVER () AS found
    FROM part_events WHERE observed_at >= $from AND observed_at < $to
      AND contains(lower(concat_ws(' ', part, event, message)), lower(trim($search))) {NEWEST}""")  # fmt: skip

OF_A_CLUSTER = (LEADERS, IN_SYNC, REPLICAS, APPEARED, GONE, SETTINGS, REBALANCES, FINDINGS)
OF_TIDEMARK = (ACTIONS, PARTS)  # whatever the cluster
OF_THE_WINDOW = (*OF_A_CLUSTER, *OF_TIDEMARK)
