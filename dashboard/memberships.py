"""Members and rebalances of groups as rows and lanes."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from dashboard import wording
from dashboard.names import cut
from dashboard.shapes import Span, alternating
from dashboard.view import View

Row = Mapping[str, Any]
SETTLED = frozenset({"Stable", "Empty", "Dead", None})


def lanes(members: Iterable[Row], states: Iterable[Row]) -> list[Span]:
    """One lane for each member with what it owned, above them one for the times the group was rebalancing."""
    unsettled = [
        Span("rebalancing", row["started_at_ms"], row["ended_before_ms"] or row["last_seen_at_ms"], None, row["state"])
        for row in states
        if row["state"] not in SETTLED
    ]
    named = [
        {**row, "lane": member_name(row["client_id"], row["member_id"]), "owned": owned(row["assignment"])}
        for row in members
    ]
    return [*unsettled, *alternating(named, "lane", "owned")]


def member_name(client_id: str | None, member_id: str) -> str:
    """A member as people know it: its client id, and enough of its own id to tell it from the next one."""
    tail = member_id.removeprefix(client_id or "").lstrip("-")
    return f"{cut(client_id, 24)} ·{tail[:8]}" if client_id else cut(member_id, 32)


def owned(assignment: str | None) -> str:
    """`orders 2, 3; payments 0`."""
    by_topic: dict[str, list[int]] = {}
    for topic, partition in json.loads(assignment or "[]"):
        by_topic.setdefault(topic, []).append(partition)
    return "; ".join(f"{topic} {', '.join(map(str, numbers))}" for topic, numbers in by_topic.items()) or "nothing"


def rebalance_row(row: Row, view: View) -> dict[str, object]:
    moved = json.loads(row["moved"] or "[]")
    return {
        "When (UTC)": wording.since(row["observed_at_ms"], view.to_ms),
        "Group": cut(row["group_id"]),
        "Cause (inferred)": cut(row["cause"] or "", 120),
        "Joined": len(json.loads(row["joined"] or "[]")),
        "Left": len(json.loads(row["left"] or "[]")),
        "Partitions moved": len(moved),
        "What moved": cut("; ".join(_move(*move) for move in moved), 200),
        "Seen within": wording.duration(row["observed_at_ms"] - (row["changed_after_ms"] or row["observed_at_ms"])),
    }


def _move(topic: str, partition: int, old: str | None, new: str | None) -> str:
    return f"{topic}-{partition}: {cut(old or 'nobody', 24)} → {cut(new or 'nobody', 24)}"
