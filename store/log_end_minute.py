"""The roll-up of the ends of logs: per partition and minute the last known high watermark, and the highest.

Who asks since when a record has been there reads these instead of every sample of every partition.
"""

from store.contracts import TABLES
from store.minutes import ByMinute
from store.segments import MINUTE_MS

_MINUTE = f"epoch_ms(observed_at) // {MINUTE_MS}"
_SQL = f"""
    SELECT cluster_id, topic, topic_id, partition,
           make_timestamptz({_MINUTE} * {MINUTE_MS * 1000}) AS observed_at,
           arg_max(high_watermark, offsets.observed_at) AS high_watermark_last,
           max(offsets.observed_at) FILTER (high_watermark IS NOT NULL) AS last_known_at,
           max(high_watermark) AS high_watermark_max
    FROM partition_offsets offsets WHERE epoch_ms(offsets.observed_at) >= ? AND epoch_ms(offsets.observed_at) < ?
    GROUP BY cluster_id, topic, topic_id, partition, {_MINUTE.replace("observed_at", "offsets.observed_at")}
    ORDER BY cluster_id, topic_id, partition, observed_at
"""

LOG_ENDS_BY_MINUTE = ByMinute(TABLES["log_end_minute"], ("partition_offsets",), _SQL)
