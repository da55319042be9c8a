"""What the panel of one partition asks about, put together from cached answers."""

import json

from dashboard import answers, cached, concerns, partition_history, queries, replication_questions, shapes
from dashboard.commit_questions import COMMITS
from dashboard.partition_history import Point
from dashboard.partition_questions import MINUTES, OWNERS, SAMPLES
from dashboard.queries import Row, Rows
from dashboard.shapes import Mark
from dashboard.view import View


def place(view: View, group_id: str, label: str) -> tuple[str, int] | None:
    """`topic-n` as (topic, n), where the group has that partition."""
    topic, _, number = label.rpartition("-")
    known = {(row["topic"], str(row["partition"])) for row in answers.partition_lag(view, group_id)}
    return (topic, int(number)) if (topic, number) in known else None


def points(view: View, group_id: str, topic: str, partition: int) -> list[Point]:
    """Its history over the window: raw samples of up to a quarter of an hour, roll-ups before them."""
    about = {"group_id": group_id, "topic": topic, "partition": partition}
    if not view.needs_rollups:
        return partition_history.points(cached.in_window(view, SAMPLES, **about), [])
    minutes: Rows = cached.in_window(view, MINUTES, **about)
    return partition_history.points(cached.recently(view, SAMPLES, **about), minutes)


def owners(view: View, group_id: str, topic: str, partition: int) -> Rows:
    """Members that owned it in the window, one row for each stretch."""
    asked = json.dumps([topic, partition], ensure_ascii=False)
    return cached.in_window(view, OWNERS, group_id=group_id, place=asked)


def commits(view: View, group_id: str, topic: str, partition: int) -> Rows:
    """The newest commits of the window; their records and samples are raw and expire."""
    return cached.in_window(view, COMMITS, group_id=group_id, topic=topic, partition=partition)


def events(view: View, group_id: str, topic: str, partition: int) -> list[Mark]:
    """Changes of its leader, and findings of it or of the whole topic."""
    about = [
        one
        for one in concerns.in_view(answers.found(view), view)
        if one.finding.place.topic == topic
        and one.finding.place.partition in (None, partition)
        and one.finding.place.group_id in (None, group_id)
    ]
    changes = cached.in_window(view, replication_questions.LEADER_CHANGES)
    led = [row for row in changes if (row["topic"], row["partition"]) == (topic, partition)]
    return shapes.event_marks([], led, about)


def newest_state(view: View, group_id: str) -> Row | None:
    """The state of the group in the newest rounds, known or unknown; None: they do not tell of it."""
    rows = [row for row in cached.now(view, queries.GROUP_STATES) if row["group_id"] == group_id]
    return max(rows, key=lambda row: row["last_seen_at_ms"], default=None)
