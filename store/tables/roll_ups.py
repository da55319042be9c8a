"""Roll-ups of lag: what pages read of anything longer than a quarter of an hour, or of many groups at once."""

from store.tables.columns import (
    CLUSTER,
    GROUP,
    PARTITION,
    TICK,
    TOPIC,
    TOPIC_ID,
    Column,
    Family,
    Table,
    integer,
    text,
    time,
)


def _of_partitions(period: str) -> tuple[Column, ...]:
    return (
        CLUSTER,
        GROUP,
        TOPIC,
        TOPIC_ID,
        PARTITION,
        time("observed_at", f"start of the {period}"),
        integer("lag_min", "lowest known lag"),
        integer("lag_max", "highest known lag"),
        integer("lag_last", "last known lag"),
        integer("samples", f"samples in the {period}"),
        integer("unknown", "samples whose lag is unknown"),
        text("unknown_reason", "the last reason; 'no commit' only where there was no other"),
    )


def _of_groups(period: str) -> tuple[Column, ...]:
    return (
        CLUSTER,
        GROUP,
        TOPIC,
        time("observed_at", f"start of the {period}"),
        integer("lag", "sum of the last lags of all partitions with a commit; null where one of them is unknown"),
        integer("lag_max", "highest known lag of a single partition"),
        integer("partitions", "partitions seen"),
        integer("without_commit", "of these, those that never had a commit"),
        integer("unknown", "of these, those with a sample whose lag is unknown"),
        text("unknown_reason", "why the sum is withheld; null where it is not"),
    )


_LOG_ENDS = (
    CLUSTER,
    TOPIC,
    TOPIC_ID,
    PARTITION,
    time("observed_at", "start of the minute"),
    integer("high_watermark_last", "the last known in the minute"),
    time("last_known_at", "when that one was observed; null where none was known"),
    integer("high_watermark_max", "the highest in the minute: above the last one where the end of the log has fallen"),
)

_OF_A_ROUND = (
    CLUSTER,
    TICK,
    GROUP,
    TOPIC,
    time("observed_at", "when the commits of the round had been read"),
    integer("partitions", "partitions the group was asked about"),
    integer("lag", "sum of the known lags; null where none is known"),
    integer("without_commit", "of the partitions, those that never had a commit"),
    integer("unknown", "of the partitions, those whose lag is unknown for another reason"),
    text("unknown_reason", "one of these reasons"),
    integer("unread_for_ms", "how long at least the oldest unread offset of the worst partition had been there, ms"),
)

_BY_PARTITION = ("cluster_id", "group_id", "topic_id", "partition", "observed_at")
_BY_LOG = ("cluster_id", "topic_id", "partition", "observed_at")
_BY_GROUP = ("cluster_id", "group_id", "topic", "observed_at")
_BY_ROUND = ("cluster_id", "tick", "group_id", "topic")


def _roll_up(name: str, meaning: str, key: tuple[str, ...], columns: tuple[Column, ...]) -> Table:
    return Table(name, Family.SAMPLE, "maintain", meaning, key, columns, is_ranged=True)


ROLL_UPS = (
    _roll_up("lag_minute", "Lag per group and partition, one row a minute.", _BY_PARTITION, _of_partitions("minute")),
    _roll_up("lag_hour", "Lag per group and partition, one row an hour.", _BY_PARTITION, _of_partitions("hour")),
    _roll_up("group_lag_minute", "Lag per group and topic, one row a minute.", _BY_GROUP, _of_groups("minute")),
    _roll_up("group_lag_round", "Lag per group and topic, one row a round.", _BY_ROUND, _OF_A_ROUND),
    _roll_up("log_end_minute", "Ends of logs, one row per partition and minute.", _BY_LOG, _LOG_ENDS),
    _roll_up("group_lag_hour", "Lag per group and topic, one row an hour.", _BY_GROUP, _of_groups("hour")),
)
