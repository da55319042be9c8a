"""What a rebalance cost, and how many there were (see dashboard.queries)."""

from dashboard.queries import COMMITS_WITH_OFFSETS, OFFSETS, Question
from guarantees.lag import NO_COMMIT
from store.lag import literal

# Lag of the rebalanced groups in each round, null where a partition is unknown. Partitions without a commit have none.
TOTALS = f"""
    SELECT group_id, max(committed_at_ms) AS at_ms,
           CASE WHEN count(*) FILTER (reason <> {literal(NO_COMMIT.reason)}) = 0 THEN sum(lag)::BIGINT END AS lag
    FROM ({COMMITS_WITH_OFFSETS} AND group_id IN (SELECT group_id FROM rebalances WHERE cluster_id = $cluster_id))
    GROUP BY group_id, tick"""
# Of each rebalance: the group's lag in the last round before the change and in the first one after it.
LAG_AROUND = Question(("rebalances", *OFFSETS), f"""
    WITH totals AS ({TOTALS}),
    changes AS (SELECT group_id, epoch_ms(observed_at) AS observed_at_ms,
                       coalesce(epoch_ms(changed_after), epoch_ms(observed_at)) AS changed_after_ms
                FROM rebalances WHERE cluster_id = $cluster_id)
    SELECT c.group_id, c.observed_at_ms, b.lag AS lag_before, a.lag AS lag_after
    FROM changes c
    ASOF LEFT JOIN totals b ON b.group_id = c.group_id AND b.at_ms <= c.changed_after_ms
    ASOF LEFT JOIN totals a ON a.group_id = c.group_id AND a.at_ms >= c.observed_at_ms
    ORDER BY c.group_id, c.observed_at_ms""")  # fmt: skip

# When the groups that were rebalanced were seen to be rebalancing. Only the classic protocol stops its members so.
REBALANCING = Question(("group_state", "rebalances"), """
    SELECT group_id, epoch_ms(started_at) AS started_at_ms, epoch_ms(last_seen_at) AS last_seen_at_ms,
           epoch_ms(ended_before) AS ended_before_ms, ended_reason
    FROM group_state
    WHERE cluster_id = $cluster_id AND state IN ('PreparingRebalance', 'CompletingRebalance')
      AND group_id IN (SELECT group_id FROM rebalances WHERE cluster_id = $cluster_id)
    ORDER BY group_id, started_at""")  # fmt: skip
# The states of one group over the window.
STATES = Question(("group_state",), """
    SELECT group_id, group_type, state, state_unknown, members, group_epoch, epoch_ms(started_at) AS started_at_ms,
           epoch_ms(last_seen_at) AS last_seen_at_ms, epoch_ms(ended_before) AS ended_before_ms, ended_reason
    FROM group_state WHERE cluster_id = $cluster_id AND group_id = $group_id ORDER BY started_at""")  # fmt: skip
# The buckets about which a round asked the groups: of the time since the round before.
BUCKETS_ASKED = Question(("rounds",), """
    SELECT DISTINCT unnest([epoch_ms(observed_at) - interval_ms, epoch_ms(observed_at)]) // $step_ms * $step_ms AS at_ms
    FROM rounds WHERE cluster_id = $cluster_id AND signal = 'groups' AND answered > 0 ORDER BY at_ms""")  # fmt: skip

# What explains findings: the rebalances of some groups in some spans of time each, without what no cause rests on.
REBALANCES_OF = Question(("rebalances",), """
    SELECT group_id, epoch_ms(changed_after) AS changed_after_ms, epoch_ms(observed_at) AS observed_at_ms,
           "left", moved, cause
    FROM rebalances
    WHERE cluster_id = $cluster_id AND EXISTS (
        SELECT 1 FROM (SELECT unnest($groups::VARCHAR[]) AS own, unnest($since::BIGINT[]) AS since,
                              unnest($until::BIGINT[]) AS until)
        WHERE own = group_id AND epoch_ms(observed_at) BETWEEN since AND until)
    ORDER BY observed_at DESC""")  # fmt: skip
