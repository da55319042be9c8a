"""Rows of one group on one partition, for the tests of windows, owners and rebalances."""

from guarantees.findings import Finding, Grade, Kind, Place, Statement

AT_MS = 1_764_000_000_000
STEP_MS = 5_000


def sample(number, committed_offset, high_watermark, **columns):
    """An answer to SAMPLES: the group on orders-0, `number` rounds after AT_MS."""
    at_ms = AT_MS + number * STEP_MS
    lag = None if committed_offset is None or high_watermark is None else max(0, high_watermark - committed_offset)
    return {
        "topic_id": "id", "log_topic_id": "id", "committed_offset": committed_offset, "is_pending": False,
        "committed_offset_unknown": None if committed_offset is not None else "broker 2 did not answer",
        "log_start_offset": 0, "last_stable_offset": high_watermark, "high_watermark": high_watermark,
        "log_start_offset_unknown": None, "last_stable_offset_unknown": None,
        "high_watermark_unknown": None if high_watermark is not None else "not sampled",
        "committed_at_ms": at_ms - 10, "observed_at_ms": at_ms, "log_start_observed_at_ms": at_ms - 20, "lag": lag,
    } | columns  # fmt: skip


def owner(member, started, last_seen, ended=None, why="changed"):
    """An interval of ownership; the times are rounds after AT_MS."""
    return {
        "member_id": member, "group_instance_id": None, "client_id": "app", "host": "/10.0.0.1",
        "started_at_ms": AT_MS + started * STEP_MS, "last_seen_at_ms": AT_MS + last_seen * STEP_MS,
        "ended_before_ms": None if ended is None else AT_MS + ended * STEP_MS,
        "ended_reason": None if ended is None else why,
    }  # fmt: skip


def state(word, started, last_seen, ended=None, unknown=None, why="changed"):
    """An interval of the group's state; the times are rounds after AT_MS."""
    return {
        "group_id": "g", "group_type": "classic", "state": word, "state_unknown": unknown, "members": 1,
        "started_at_ms": AT_MS + started * STEP_MS, "last_seen_at_ms": AT_MS + last_seen * STEP_MS,
        "ended_before_ms": None if ended is None else AT_MS + ended * STEP_MS,
        "ended_reason": None if ended is None else why,
    }  # fmt: skip


def left(group_id, topic, cluster_id):
    """An open finding: no member of the group reads the topic any more."""
    return Finding(
        kind=Kind.STALE_SUBSCRIPTION,
        place=Place(cluster_id, topic, "id", None, group_id),
        anchor=topic,
        severity=2,
        title=f"{group_id} reads {topic} no more",
        statements=(Statement(Grade.PROBABLE, "No member reads it.", "what is seen is all"),),
        bounds=None,
        evidence={},
        happened_at_ms=AT_MS,
        last_seen_at_ms=AT_MS,
    )
