"""Topics that a group no longer reads: what stands unread there is a leftover, and no lag of the group (C10)."""

from collections.abc import Iterable, Sequence

from dashboard import concerns, known_findings
from dashboard.names import in_markdown
from dashboard.queries import Row, Rows
from dashboard.view import View

LEFT = {"is_left": True, "lag": None, "unknown_reason": "no member reads the topic any more: a leftover, not lag"}
READ = {"is_left": False}


def left_topics(view: View) -> set[tuple[str, str]]:
    """Groups with the topics that they have left, by what is known of them in the view."""
    return concerns.left_topics(history.finding for history in known_findings.findings(view).values())


def marked(rows: Iterable[Row], left: set[tuple[str, str]]) -> Rows:
    """Rows of lag by group and topic with `is_left`; those of what a group has left have no lag, and say why."""
    return [{**row, **(LEFT if (row["group_id"], row["topic"]) in left else READ)} for row in rows]


def of_group(view: View, group_id: str) -> tuple[str, ...]:
    """The topics that one group has left, by name."""
    return tuple(sorted(topic for left_by, topic in left_topics(view) if left_by == group_id))


def notes(topics: Sequence[str]) -> list[str]:
    """What a chart of a group's lag says of the topics it leaves out, in Markdown; nothing where there are none."""
    named = ", ".join(in_markdown(topic) for topic in topics[:3])
    others = f" and {len(topics) - 3:,} more" if len(topics) > 3 else ""
    return [f"Not in the chart: {named}{others}, which no member reads any more; that is a leftover."] if topics else []
