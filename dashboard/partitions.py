"""A group's partitions as rows: every offset, both lags, and the reason of each gap."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from dashboard import wording
from dashboard.memberships import member_names
from guarantees.lag import NO_COMMIT, Lag, consumer_lag
from guarantees.observations import CommittedOffset, PartitionOffsets
from guarantees.unknown import Unknown
from store.lag import NOT_SAMPLED

Row = Mapping[str, Any]


def lag_of(row: Row) -> Lag:
    """The lag of a stored row, by the rule the collectors' findings rest on."""
    commit = CommittedOffset(
        topic_id=row["topic_id"],
        committed_offset=_commit(row),
        committed_leader_epoch=None,
        is_pending=bool(row["is_pending"]),
        observed_at_ms=row["committed_at_ms"],
    )
    if row["observed_at_ms"] is None:
        return consumer_lag(commit, Unknown(NOT_SAMPLED))
    return consumer_lag(
        commit,
        PartitionOffsets(
            topic_id=row["log_topic_id"],
            log_start_offset=_offset(row, "log_start_offset"),
            last_stable_offset=_offset(row, "last_stable_offset"),
            high_watermark=_offset(row, "high_watermark"),
            leader_epoch=Unknown("not asked"),
            broker=None,
            log_start_observed_at_ms=row["log_start_observed_at_ms"] or row["observed_at_ms"],
            observed_at_ms=row["observed_at_ms"],
        ),
    )


def shown_lag(row: Row) -> Lag:
    """The same, but none of a topic that its group has left: what stands there unread is a leftover."""
    return Lag(*[Unknown(row["unknown_reason"])] * 5) if row["is_left"] else lag_of(row)


def worst(rows: Sequence[Row], limit: int) -> list[Row]:
    """At most so many, in their own order: those whose lag is unknown, then those with most, and what is left last."""
    if len(rows) <= limit:
        return list(rows)
    ranks = [(row["is_left"], row["lag"] is not None, -(row["lag"] or 0)) for row in rows]
    ranked = sorted(range(len(rows)), key=ranks.__getitem__)
    return [rows[number] for number in sorted(ranked[:limit])]


def owners(members: Sequence[Row], state: Row | None) -> dict[tuple[str, int], str]:
    """(topic, partition) → the member that owns it; where the newest `state` of the group is unknown, as last seen."""
    names = member_names(members)
    return {
        (topic, partition): names[row["member_id"]] + ("" if _is_known(state) else _last_seen(row))
        for row in members
        for topic, partition in json.loads(row["assignment"] or "[]")
    }


def without_owner(state: Row | None) -> str:
    """What is said of a partition that no member is seen to own: nobody is known to be there, or nobody knows."""
    if state is None:
        return "unknown: the newest rounds tell nothing of the group"
    return "nobody seen" if _is_known(state) else f"unknown: {state['state_unknown'] or 'the state is not told'}"


def _is_known(state: Row | None) -> bool:
    return state is not None and state["state"] is not None


def _last_seen(member: Row) -> str:
    return f", last seen {wording.clock(member['last_seen_at_ms'])}"


def gaps(row: Row, lag: Lag) -> str:
    """Why numbers of this row are missing, each reason once."""
    reasons = [value.reason for value in (lag.lag_hw, lag.lag_lso) if isinstance(value, Unknown)]
    stored = ("committed_offset", "log_start_offset", "last_stable_offset", "high_watermark")
    reasons += [row[f"{name}_unknown"] for name in stored if row[f"{name}_unknown"]]
    return "; ".join(dict.fromkeys(reasons))


def _commit(row: Row) -> int | Unknown | None:
    """None where the coordinator said that there is none."""
    reason = row["committed_offset_unknown"]
    if row["committed_offset"] is None and reason not in (None, NO_COMMIT.reason):
        return Unknown(reason)
    committed_offset: int | None = row["committed_offset"]
    return committed_offset


def _offset(row: Row, name: str) -> int | Unknown:
    return Unknown(row[f"{name}_unknown"] or "not observed") if row[name] is None else row[name]
