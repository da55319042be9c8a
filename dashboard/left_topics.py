"""Topics that a group no longer reads: what stands unread there is a leftover, and no lag of the group (C10)."""

from collections.abc import Iterable

from dashboard import concerns, known_findings
from dashboard.queries import Row, Rows
from dashboard.view import View

WHY = "no member reads the topic any more: a leftover, not lag"
LEFT = {"is_left": True, "lag": None, "unknown_reason": WHY}
READ = {"is_left": False}


def left_topics(view: View) -> set[tuple[str, str]]:
    """Groups with the topics that they have left, by what is known of them in the view."""
    return concerns.left_topics(history.finding for history in known_findings.findings(view).values())


def marked(rows: Iterable[Row], left: set[tuple[str, str]]) -> Rows:
    """Rows of lag by group and topic with `is_left`; those of what a group has left have no lag, and say why."""
    return [{**row, **(LEFT if (row["group_id"], row["topic"]) in left else READ)} for row in rows]
