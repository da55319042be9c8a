"""`tidemark changes`: what changed between two moments, newest first: leaders, replicas, topics, settings, groups."""

import argparse
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cli import printed
from cli.chosen import add_settings_arguments, add_window_arguments, chosen_settings, chosen_window
from dashboard import change_questions, changes, queries, wording
from dashboard.changes import Change
from dashboard.view import format_time
from store.reading import Window

NAMES = ("seen by", "after", "change", "where", "what")
CELL = 160

Answers = Mapping[queries.Question, queries.Rows]


def add_to(commands: Any) -> None:
    """Describe `changes` to the command line."""
    command = commands.add_parser("changes", help="what changed between two moments, newest first")
    add_settings_arguments(command)
    add_window_arguments(command)
    command.add_argument("--search", default="", metavar="TEXT", help="only topics and groups that contain it")
    command.add_argument("--format", choices=("table", "json"), default="table")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the changes of each cluster that was heard in the window."""
    data_dir = Path(chosen_settings(arguments).store.data_dir)
    window = chosen_window(arguments, time.time_ns() // 1_000_000)
    told = {name: changes.newest_first(answers) for name, answers in _answers(data_dir, window, arguments.search)}
    if arguments.format == "json":
        print(json.dumps({name: [as_json(one) for one in found] for name, found in told.items()}, indent=1))
        return 0
    print(wording.span(window.from_ms, window.to_ms))
    print("\n\n".join(as_text(*one) for one in told.items()) or "No round was stored in this window.")
    return 0


def as_text(cluster: str, found: list[Change]) -> str:
    """The changes of one cluster."""
    if not found:
        return f"{cluster}: nothing changed that Tidemark sees."
    rows = [(format_time(one.at_ms), _time(one.after_ms), one.sort, one.where, one.what) for one in found]
    return f"{cluster}\n{printed.table(NAMES, rows, cell=CELL)}"


def as_json(change: Change) -> Mapping[str, object]:
    """A change for a script."""
    times = {"at": format_time(change.at_ms), "after": _time(change.after_ms)}
    return times | {name: value for name, value in asdict(change).items() if name not in ("at_ms", "after_ms")}


def _answers(data_dir: Path, window: Window, search: str) -> Iterator[tuple[str, Answers]]:
    ends, asked = (window.from_ms, window.to_ms), change_questions.OF_THE_WINDOW
    for row in queries.ask(data_dir, *queries.clusters_heard(window.to_ms, window.to_ms - window.from_ms)):
        if row["cluster_id"]:
            about = {"cluster_id": row["cluster_id"], "search": search}
            together = queries.ask_together(data_dir, *ends, asked, about)
            # Where a table cannot be read, its own question says why.
            yield row["cluster"], together or {one: queries.ask(data_dir, *ends, one, about) for one in asked}


def _time(at_ms: int | None) -> str | None:
    return None if at_ms is None else format_time(at_ms)
