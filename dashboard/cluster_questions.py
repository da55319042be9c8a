"""The cluster itself, its share groups and the members of every group, as questions (see dashboard.queries)."""

from dashboard.queries import Question
from guarantees.lag import NOT_STARTED
from store.lag import literal

# Of the round that asked last, each share group and topic; a group of which nothing could be read has no topic.
SHARE_GROUPS = Question(("share_offsets",), f"""
    SELECT group_id, topic, count(partition) AS partitions, sum(lag)::BIGINT AS lag,
           count(*) FILTER (start_offset_unknown = {literal(NOT_STARTED.reason)}) AS not_started,
           count(*) FILTER (lag IS NULL AND lag_unknown <> {literal(NOT_STARTED.reason)}) AS unknown,
           min(lag_unknown) FILTER (lag_unknown <> {literal(NOT_STARTED.reason)}) AS unknown_reason,
           epoch_ms(max(observed_at)) AS observed_at_ms
    FROM share_offsets WHERE cluster_id = $cluster_id
      AND tick = (SELECT max(tick) FROM share_offsets WHERE cluster_id = $cluster_id)
    GROUP BY group_id, topic ORDER BY lag DESC NULLS LAST, group_id, topic""")  # fmt: skip

# Members of every group now, those that have not followed their group first.
MEMBERS_NOW = Question(("group_state", "group_members"), """
    SELECT m.group_id, g.group_type, g.state, g.group_epoch, g.assignment_epoch, m.member_id, m.client_id,
           m.group_instance_id, m.host, m.rack, m.process_id, m.member_epoch, m.assignment, m.target_assignment,
           m.tasks, m.target_tasks,
           coalesce(m.member_epoch < g.group_epoch OR m.assignment <> m.target_assignment
                    OR m.tasks <> m.target_tasks, false) AS is_behind,
           count(*) OVER () AS found
    FROM group_members m JOIN group_state g USING (cluster_id, group_id)
    WHERE m.cluster_id = $cluster_id AND coalesce(m.ended_before > $to, true)
      AND coalesce(g.ended_before > $to, true) AND g.state IS NOT NULL
      AND (trim($search) = '' OR contains(lower(m.group_id), lower(trim($search)))
           OR contains(lower(m.assignment), lower(trim($search))))
    ORDER BY is_behind DESC, m.group_id, m.client_id, m.member_id LIMIT 300""")  # fmt: skip

BROKERS = Question(("brokers",), """
    SELECT broker, host, port, rack, is_fenced FROM brokers
    WHERE cluster_id = $cluster_id AND (ended_before IS NULL OR ended_before > $to)
    QUALIFY row_number() OVER (PARTITION BY broker ORDER BY last_seen_at DESC) = 1 ORDER BY broker""")  # fmt: skip
QUORUM = Question(("controller_quorum",), """
    SELECT replica, is_voter, controller, controller_epoch, log_end_offset, log_end_offset_unknown,
           max(log_end_offset) FILTER (replica = controller) OVER () AS controller_log_end_offset,
           epoch_ms(last_caught_up_at) AS last_caught_up_at_ms, epoch_ms(observed_at) AS observed_at_ms
    FROM controller_quorum WHERE cluster_id = $cluster_id
      AND tick = (SELECT max(tick) FROM controller_quorum WHERE cluster_id = $cluster_id)
    ORDER BY is_voter DESC, replica""")  # fmt: skip

# Log directories are asked for now and then: the newest answer about each broker counts.
_NEWEST_OF_BROKER = """
    tick = max(tick) OVER (PARTITION BY {broker})"""
LOG_DIRS = Question(("log_dirs", "replica_sizes"), f"""
    WITH stored AS (
        SELECT replica, log_dir, count(*) AS replicas, sum(size_bytes)::BIGINT AS size_bytes,
               count(*) FILTER (offset_lag > 0) AS behind,
               count(*) FILTER (offset_lag IS NULL) AS behind_unknown, count(*) FILTER (is_future) AS moving
        FROM (FROM replica_sizes WHERE cluster_id = $cluster_id
              QUALIFY {_NEWEST_OF_BROKER.format(broker="replica")})
        GROUP BY ALL)
    SELECT d.broker, d.log_dir, d.unreadable, d.total_bytes, d.usable_bytes, s.replicas, s.size_bytes, s.behind,
           s.behind_unknown, s.moving, epoch_ms(d.observed_at) AS observed_at_ms
    FROM (FROM log_dirs WHERE cluster_id = $cluster_id QUALIFY {_NEWEST_OF_BROKER.format(broker="broker")}) d
    LEFT JOIN stored s ON s.replica = d.broker AND s.log_dir = d.log_dir
    ORDER BY d.unreadable IS NULL, d.broker, d.log_dir""")  # fmt: skip
# Brokers that hold replicas now, as the partitions are assigned.
ASSIGNED = Question(("partition_state",), """
    SELECT DISTINCT unnest(replicas) AS broker FROM partition_state
    WHERE cluster_id = $cluster_id AND (ended_before IS NULL OR ended_before > $to) ORDER BY broker""")  # fmt: skip
# Replicas that are behind or move between directories, and the largest.
REPLICA_SIZES = Question(("replica_sizes",), f"""
    SELECT topic, partition, replica, log_dir, size_bytes, offset_lag, offset_lag_unknown, is_future,
           count(*) OVER () AS found
    FROM (FROM replica_sizes WHERE cluster_id = $cluster_id QUALIFY {_NEWEST_OF_BROKER.format(broker="replica")})
    WHERE trim($search) = '' OR contains(lower(topic), lower(trim($search)))
    ORDER BY is_future DESC, offset_lag DESC NULLS FIRST, size_bytes DESC, topic, partition, replica
    LIMIT 100""")  # fmt: skip

OF_THE_NEWEST_ROUND = (SHARE_GROUPS, BROKERS, QUORUM)
