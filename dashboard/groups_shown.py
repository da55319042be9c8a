"""The groups and topics that the page of lag shows, and how long what they have not read has been there."""

from collections.abc import Mapping, Sequence
from typing import Any

from dashboard import answers, lag_answers, shapes
from dashboard.view import View

Row = Mapping[str, Any]

SHOWN = 100  # the search finds the others


def rows(view: View) -> list[Row]:
    """Those of the table, most lag first."""
    return worst(answers.group_lag(view), SHOWN)


def worst(found: Sequence[Row], limit: int) -> list[Row]:
    """At most so many, in their own order: what cannot be read before what lags, and what a group has left last."""
    ranked = sorted(range(len(found)), key=lambda number: (found[number]["is_left"], not found[number]["unknown"]))
    return [found[number] for number in sorted(ranked[:limit])]


def trends(view: View) -> Mapping[str, list[int]]:
    """Of each group its total lag over the window, as far as a sparkline can show it."""
    known = lag_answers.lag_trend(view, answers.SPARK_POINTS)
    return {group_id: shapes.newest_run(trend, view.length_ms) for group_id, trend in known.items()}


def unread_for(view: View) -> Mapping[tuple[str, str], int | None]:
    """By group and topic: how long at least the oldest unread offset has been there, ms; nothing of what is left."""
    read = [row for row in rows(view) if not row["is_left"]]
    known = answers.unread_of(view, {row["group_id"] for row in read})
    return {(row["group_id"], row["topic"]): known.get((row["group_id"], row["topic"])) for row in read}
