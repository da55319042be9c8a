"""Members and rebalances of groups as rows and lanes."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any
from urllib.parse import quote, unquote

from dashboard import wording
from dashboard.interval_ends import drawn_to_ms
from dashboard.names import cut, told_apart
from dashboard.shapes import Span, alternating
from dashboard.view import View

Row = Mapping[str, Any]
NAME = 32  # characters
SETTLED = frozenset({"Stable", "Empty", "Dead", None})


def lanes(members: Iterable[Row], states: Iterable[Row]) -> list[Span]:
    """One lane for each member with what it owned, above them one for the times the group was rebalancing."""
    unsettled = [
        Span("rebalancing", row["started_at_ms"], drawn_to_ms(row), None, row["state"])
        for row in states
        if row["state"] not in SETTLED
    ]
    rows = list(members)
    names = member_names(rows)
    named = [{**row, "lane": names[row["member_id"]], "owned": owned(row["assignment"])} for row in rows]
    return [*unsettled, *alternating(named, "lane", "owned")]


def identity(row: Row) -> str:
    """A member as a link names it: `group@member`, the group so written that it holds no @."""
    return f"{quote(row['group_id'], safe='')}@{row['member_id']}"


def chosen(link: str) -> tuple[str, str]:
    """The group and the member that a link names."""
    group_id, _, member_id = link.partition("@")
    return unquote(group_id), member_id


def held_rows(members: Iterable[Row], member_id: str, view: View) -> list[dict[str, object]]:
    """What one member held in the window, the newest first; each as far as it was observed."""
    mine = [row for row in members if row["member_id"] == member_id]
    return [
        {
            "Held": cut(owned(row["assignment"]), 160),
            "From (UTC)": wording.since(row["started_at_ms"], view.to_ms),
            "Last seen (UTC)": wording.since(row["last_seen_at_ms"], view.to_ms),
            "Ended": cut(row["ended_reason"] or "–", 80),
            "Host": cut(row["host"] or "–", 40),
        }
        for row in sorted(mine, key=lambda row: -row["started_at_ms"])
    ]


def member_name(row: Row) -> str:
    """A member as people know it: its instance where it is a static one, else its client id and the start of its own.

    The classic protocol begins the id of a static member with its instance: its start tells no two of them apart.
    """
    client_id, member_id = row["client_id"], row["member_id"]
    if row["group_instance_id"]:
        return told_apart([row["group_instance_id"]], NAME)[0]
    tail = member_id.removeprefix(client_id or "").lstrip("-")
    return f"{cut(client_id, 24)} ·{tail[:8]}" if client_id else cut(member_id, NAME)


def member_names(rows: Sequence[Row]) -> dict[str, str]:
    """Member id → its name; different members have different ones, and an instance the same after a restart."""
    known = {row["member_id"]: row for row in rows}
    whole = {member_id: row["group_instance_id"] or member_id for member_id, row in known.items()}
    names = {member_id: member_name(row) for member_id, row in known.items()}
    if len(set(names.values())) == len(set(whole.values())):
        return names
    return dict(zip(whole, told_apart(list(whole.values()), NAME), strict=True))


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
