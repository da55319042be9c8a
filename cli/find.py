"""`tidemark find ID`: every copy of a message that was read, and what is known of it where there is none."""

import argparse
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cli import printed
from cli.chosen import add_settings_arguments, add_window_arguments, chosen_settings, chosen_window
from dashboard import message_questions, messages, queries, wording
from dashboard.messages import OnTopic
from dashboard.names import cut, visible
from settings import Settings
from store.reading import Window

CELL = 120


def add_to(commands: Any) -> None:
    """Describe `find` to the command line."""
    command = commands.add_parser("find", help="where a message is, by its id")
    command.add_argument("message_id", metavar="ID", help="the message id, as text")
    add_settings_arguments(command)
    add_window_arguments(command)
    command.add_argument("--format", choices=("text", "json"), default="text")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print what every cluster's readings of the window say about the message."""
    settings, window = chosen_settings(arguments), chosen_window(arguments, time.time_ns() // 1_000_000)
    told = list(_looked_for(settings, window, arguments.message_id))
    if arguments.format == "json":
        print(json.dumps({one.cluster: as_json(one) for one in told}, indent=1))
        return 0
    print(f"Read from {wording.span(window.from_ms, window.to_ms)}")
    print("\n".join(line for one in told for line in as_text(one)) or "No cluster was heard in this window.")
    return 0


@dataclass(frozen=True, slots=True)
class Told:
    """What one cluster's readings say: by topic, and what was decided, as sentences."""

    cluster: str
    topics: list[OnTopic]
    decided: list[str]


def as_text(told: Told) -> Iterator[str]:
    """Topic by topic, then what the comparisons decided."""
    yield cut(told.cluster)
    for one in told.topics:
        assumed = f" Assuming that {one.assumption}." if one.assumption else ""
        yield f"  {cut(one.topic)}: {one.grade}. {one.text}{assumed}"
        if one.copies:
            rows = [messages.copy_row(row) for row in one.copies]
            listed = printed.table(list(rows[0]), [list(row.values()) for row in rows], cell=CELL)
            yield from (f"    {line}" for line in listed.splitlines())
    yield from (f"  {visible(sentence)}" for sentence in told.decided)
    if not told.topics:
        yield "  No topic was read record by record in this window: nothing is known."


def as_json(told: Told) -> Mapping[str, object]:
    """For a script; times of copies are ms since 1970, UTC."""
    return {"topics": [asdict(one) for one in told.topics], "decided": told.decided}


def _looked_for(settings: Settings, window: Window, message_id: str) -> Iterator[Told]:
    data_dir, ends = Path(settings.store.data_dir), (window.from_ms, window.to_ms)
    for row in queries.ask(data_dir, *queries.clusters_heard(window.to_ms, window.to_ms - window.from_ms)):
        if row["cluster_id"]:
            about = messages.about(row["cluster_id"], message_id)
            answers = {one: queries.ask(data_dir, *ends, one, about) for one in message_questions.ALL}
            hashed = messages.hashed_topics(settings.pipelines, row["cluster"])
            yield Told(row["cluster"], messages.on_topics(message_id, answers, hashed), messages.decided(answers))
