"""`tidemark changes`: what changed between two moments, newest first: leaders, replicas, topics, settings, groups."""

import argparse
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cli import printed
from cli.chosen import add_settings_arguments, add_window_arguments, chosen_settings, chosen_window
from dashboard import change_questions, changes, promise_questions, queries, standing, wording
from dashboard.changes import Change
from dashboard.names import cut
from dashboard.queries import Question, Rows
from dashboard.view import format_time
from guarantees.completeness import RoundsSeen
from guarantees.observations import Signal
from settings import Settings
from store.reading import Window

NAMES = ("seen by", "after", "change", "where", "what")
CELL = 160
NOTHING = "Nothing that Tidemark sees changed"
OF_TIDEMARK = "Of people, and of Tidemark itself"


@dataclass(frozen=True, slots=True)
class Told:
    """The newest changes of a cluster, or (`seen` None) of people and Tidemark itself; `left_out` older ones."""

    name: str
    found: list[Change]
    left_out: int
    seen: RoundsSeen | None


def add_to(commands: Any) -> None:
    """Describe `changes` to the command line."""
    command = commands.add_parser("changes", help="what changed between two moments, newest first")
    add_settings_arguments(command)
    add_window_arguments(command)
    command.add_argument(
        "--search", default="", metavar="TEXT", help="only what names it: topics, groups, people, notes, parts"
    )
    command.add_argument("--format", choices=("table", "json"), default="table")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the changes of each cluster, then what people did and how Tidemark itself went."""
    settings, window = chosen_settings(arguments), chosen_window(arguments, time.time_ns() // 1_000_000)
    clusters = list(_of_clusters(settings, window, arguments.search))
    own = _of_tidemark(Path(settings.store.data_dir), window, arguments.search)
    if arguments.format == "json":
        told = {"clusters": {one.name: as_json(one) for one in clusters}, "tidemark": as_json(own)}
        print(json.dumps(told, indent=1))
        return 0
    print(wording.span(window.from_ms, window.to_ms))
    print("\n\n".join(as_text(one, arguments.search) for one in (*clusters, own) if one.seen is not None or one.found))
    return 0


def as_text(told: Told, search: str = "") -> str:
    """How complete the window is, the changes, and how many more there are; none seen is none only where one looked."""
    name = cut(told.name)
    if not told.found and told.seen is not None:
        what = "Nothing that Tidemark sees, and the search finds, changed" if search else NOTHING
        return f"{name}: {wording.none_seen(what, told.seen)}"
    rows = [(format_time(one.at_ms), _time(one.after_ms), one.sort, one.where, one.what) for one in told.found]
    head = name if told.seen is None else f"{name}: {wording.rounds(told.seen)}"
    lines = [head, printed.table(NAMES, rows, cell=CELL)]
    if told.left_out:
        older = wording.plural(told.left_out, "older change")
        lines.append(f"{older} left out. Narrow the window or the search to see them.")
    return "\n".join(lines)


def as_json(told: Told) -> Mapping[str, object]:
    """For a script; `rounds` says in how much of the window anybody looked."""
    found = {"changes": [_change(one) for one in told.found], "left_out": told.left_out}
    return found if told.seen is None else found | {"rounds": _rounds(told.seen)}


def _of_clusters(settings: Settings, window: Window, search: str) -> Iterator[Told]:
    """Those heard in the window, then those of the settings that were not: of them nothing is known."""
    data_dir, heard = Path(settings.store.data_dir), set[str]()
    every_ms = {cluster.name: round(cluster.interval_s * 1000) for cluster in settings.clusters}
    for row in queries.ask(data_dir, *queries.clusters_heard(window.to_ms, window.to_ms - window.from_ms)):
        if row["cluster_id"]:
            # An address may lead to another cluster than before: the newest has the name.
            name = row["cluster"] if row["cluster"] not in heard else f"{row['cluster']} (earlier: {row['cluster_id']})"
            heard.add(row["cluster"])
            interval_ms = every_ms.get(row["cluster"]) or row["interval_ms"]
            yield _of_cluster(data_dir, window, name, {"cluster_id": row["cluster_id"], "search": search}, interval_ms)
    for name in [name for name in every_ms if name not in heard]:
        yield Told(name, [], 0, standing.rounds_seen((), window.from_ms, window.to_ms, every_ms[name]))


def _of_cluster(data_dir: Path, window: Window, name: str, about: Mapping[str, object], interval_ms: int) -> Told:
    answers = _answers(data_dir, window, change_questions.OF_A_CLUSTER, about)
    asked = {**about, "signal": Signal.END_OFFSETS}
    rows = queries.ask(data_dir, window.from_ms, window.to_ms, promise_questions.ROUNDS_SEEN, asked)
    seen = standing.rounds_seen(rows, window.from_ms, window.to_ms, interval_ms)
    return Told(name, changes.newest_first(answers), changes.left_out(answers), seen)


def _of_tidemark(data_dir: Path, window: Window, search: str) -> Told:
    answers = _answers(data_dir, window, change_questions.OF_TIDEMARK, {"search": search})
    return Told(OF_TIDEMARK, changes.newest_first(answers), changes.left_out(answers), None)


def _answers(
    data_dir: Path, window: Window, asked: Sequence[Question], about: Mapping[str, object]
) -> Mapping[Question, Rows]:
    """Where a table cannot be read, its own question says why."""
    ends = (window.from_ms, window.to_ms)
    return queries.ask_together(data_dir, *ends, asked, about) or {
        one: queries.ask(data_dir, *ends, one, about) for one in asked
    }


def _change(change: Change) -> Mapping[str, object]:
    times = {"at": format_time(change.at_ms), "after": _time(change.after_ms)}
    return times | {name: value for name, value in asdict(change).items() if name not in ("at_ms", "after_ms")}


def _rounds(seen: RoundsSeen) -> Mapping[str, object]:
    return {
        "expected": seen.expected,
        "present": seen.present,
        "first_at": _time(seen.first_ms),
        "last_at": _time(seen.last_ms),
        "longest_gap_s": None if seen.longest_gap_ms is None else seen.longest_gap_ms / 1000,
    }


def _time(at_ms: int | None) -> str | None:
    return None if at_ms is None else format_time(at_ms)
