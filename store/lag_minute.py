"""The roll-up of lag: per group, partition and minute the lowest, highest and last known lag, and what was unknown."""

from guarantees.lag import NO_COMMIT
from store.contracts import TABLES
from store.lag import JOIN, LAG, REASON, literal
from store.minutes import ByMinute
from store.segments import MINUTE_MS

_SQL = f"""
    WITH lags AS (SELECT c.*, {REASON} AS reason, {LAG} AS lag FROM {JOIN})
    SELECT
        cluster_id, group_id, topic, topic_id, partition,
        make_timestamptz(epoch_ms(observed_at) // {MINUTE_MS} * {MINUTE_MS * 1000}) AS observed_at,
        min(lag) AS lag_min,
        max(lag) AS lag_max,
        arg_max(lag, lags.observed_at) AS lag_last,
        count(*) AS samples,
        count(reason) AS unknown,
        coalesce(arg_max(reason, lags.observed_at) FILTER (reason <> {literal(NO_COMMIT.reason)}), min(reason))
            AS unknown_reason
    FROM lags
    WHERE epoch_ms(lags.observed_at) >= ? AND epoch_ms(lags.observed_at) < ?
    GROUP BY cluster_id, group_id, topic, topic_id, partition, epoch_ms(lags.observed_at) // {MINUTE_MS}
    ORDER BY cluster_id, group_id, topic_id, partition, observed_at
"""

LAG_BY_MINUTE = ByMinute(TABLES["lag_minute"], ("committed_offsets", "partition_offsets"), _SQL)
