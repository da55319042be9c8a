"""`tidemark report`: an incident, a pipeline's delivery or a cluster's durability as one file, for a person or cron."""

import argparse
import time
from pathlib import Path
from typing import Any

from cli.chosen import CommandError, add_settings_arguments, chosen_settings
from dashboard.names import visible
from dashboard.reports.making import LENGTHS_MS, NothingToReportError, Request, last, make
from dashboard.reports.writing import FORMATS, NotWrittenError, write
from dashboard.view import parse_time


def add_to(commands: Any) -> None:
    """Describe `report` and its three kinds to the command line."""
    command = commands.add_parser("report", help="an incident, a delivery or a durability report as a file")
    kinds = command.add_subparsers(required=True, metavar="KIND", dest="kind")
    incident = kinds.add_parser("incident", help="the story of one incident")
    incident.add_argument("subject", metavar="ID", help="as `tidemark explain` and the page name it")
    delivery = kinds.add_parser("delivery", help="whether a pipeline kept its promise over a time")
    delivery.add_argument("subject", metavar="PIPELINE", help="its name in tidemark.toml, or as proposed: GROUP:TOPIC")
    durability = kinds.add_parser("durability", help="how safe what a cluster stored was over a time")
    durability.add_argument("subject", metavar="CLUSTER", help="its name in tidemark.toml")
    for kind in (delivery, durability):
        _add_window(kind)
    for kind in (incident, delivery, durability):
        kind.add_argument("--format", choices=tuple(FORMATS), default="html")
        kind.add_argument(
            "--out", metavar="PATH", required=True, type=Path, help="the file; one of that name gives way"
        )
        add_settings_arguments(kind)
        kind.set_defaults(run=run, last=None, since=None, until=None) if kind is incident else kind.set_defaults(
            run=run
        )


def _add_window(kind: argparse.ArgumentParser) -> None:
    kind.add_argument("--last", choices=tuple(LENGTHS_MS), help="up to the last full hour (default: day)")
    kind.add_argument("--from", dest="since", metavar="TIME", help="ISO 8601, UTC unless it says otherwise")
    kind.add_argument("--to", dest="until", metavar="TIME", help="with --from; up to and not including")


def run(arguments: argparse.Namespace) -> int:
    """Write the file and say so in one line with the checksum of the contents."""
    settings, now_ms = chosen_settings(arguments), time.time_ns() // 1_000_000
    request = Request(arguments.kind, arguments.subject, *window(arguments, now_ms))
    try:
        document = make(settings, request, now_ms)
        write(document, arguments.format, arguments.out)
    except (NothingToReportError, NotWrittenError) as exc:
        raise CommandError(str(exc)) from exc
    told = f"wrote {arguments.out} ({arguments.format}): {document.title}; sha256 of the contents {document.checksum}"
    print(visible(told))
    return 0


def window(arguments: argparse.Namespace, now_ms: int) -> tuple[int, int]:
    """The window asked for; raises CommandError where it makes no sense."""
    if arguments.since is None and arguments.until is None:
        return last(arguments.last or "day", now_ms)
    if arguments.last is not None:
        raise CommandError("give --last, or --from and --to, not both")
    since, until = parse_time(arguments.since), parse_time(arguments.until)
    if since is None or until is None or since >= until:
        raise CommandError("--from and --to are two moments like 2026-03-01T00:00, the first before the second")
    return since, min(until, now_ms)
