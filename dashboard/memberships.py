"""Members and rebalances of groups as rows and lanes."""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from dashboard.interval_ends import drawn_to_ms
from dashboard.names import cut
from dashboard.shapes import Span, alternating

Row = Mapping[str, Any]
SETTLED = frozenset({"Stable", "Empty", "Dead", None})


def lanes(members: Iterable[Row], states: Iterable[Row]) -> list[Span]:
    """One lane for each member with what it owned, above them one for the times the group was rebalancing."""
    unsettled = [
        Span("rebalancing", row["started_at_ms"], drawn_to_ms(row), None, row["state"])
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
    """`orders 2, 5–9; payments 0`."""
    by_topic: dict[str, list[int]] = {}
    for topic, partition in json.loads(assignment or "[]"):
        by_topic.setdefault(topic, []).append(partition)
    return "; ".join(f"{topic} {', '.join(_runs(numbers))}" for topic, numbers in by_topic.items()) or "nothing"


def _runs(numbers: Iterable[int]) -> Iterator[str]:
    """Of three and more that follow one another the first and the last: a member may hold hundreds."""
    for _, run in groupby(enumerate(sorted(numbers)), key=lambda one: one[1] - one[0]):
        its = [number for _, number in run]
        yield from (f"{its[0]}–{its[-1]}",) if len(its) > 2 else map(str, its)
