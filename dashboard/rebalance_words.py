"""Who tells of a rebalance, and what its coordinator's records say that samples cannot."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from dashboard import wording
from dashboard.names import cut
from guarantees.internal_records import CONSUMER_OFFSETS

Row = Mapping[str, Any]


def is_written(change: Row) -> bool:
    """Its coordinator wrote it down; otherwise it was seen between two samples."""
    return change.get("source") == CONSUMER_OFFSETS


def teller(change: Row) -> str:
    return "coordinator" if is_written(change) else "samples"


def gained(offsets: int | None) -> str:
    """`lag gained 1,203 offsets`, with the minus sign of all sentences where the group caught up."""
    sign = "−" if offsets is not None and offsets < 0 else ""
    return f"lag gained {sign}{wording.count(None if offsets is None else abs(offsets))} offsets"


def told(change: Row) -> list[str]:
    """When it was, by whose word, and who changed host, subscription or lead."""
    return [_when(change), *_hosts(change), *_subscriptions(change), *_lead(change)]


def _when(change: Row) -> str:
    observed, after = wording.utc(change["observed_at_ms"]), change["changed_after_ms"]
    if not is_written(change):
        since = observed if after is None else wording.utc(after)
        return f"Seen in samples: it happened between {since} and {observed}."
    if change["generation"] is not None:
        return f"As its coordinator wrote it in {CONSUMER_OFFSETS}: generation {change['generation']} at {observed}."
    span = f"epoch {change['group_epoch']}, begun {wording.utc(after)}, settled {observed}"
    return f"As its coordinator wrote it in {CONSUMER_OFFSETS}: {span}."


def _hosts(change: Row) -> Iterator[str]:
    for member, old, new in json.loads(change.get("hosts") or "[]"):
        yield f"Member {cut(member)} moved from host {cut(old)} to {cut(new)}."


def _subscriptions(change: Row) -> Iterator[str]:
    for member, left, added in json.loads(change.get("subscriptions") or "[]"):
        parts = [f"{word} {cut(', '.join(topics))}" for word, topics in (("left", left), ("added", added)) if topics]
        yield f"Member {cut(member)} changed its subscription: {' and '.join(parts)}."


def _lead(change: Row) -> Iterator[str]:
    before, now = change.get("group_leader_before"), change.get("group_leader")
    if before is not None and now is not None and before != now:
        yield f"Member {cut(now)} leads the group, before it {cut(before)} did."
