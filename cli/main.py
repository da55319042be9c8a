"""`tidemark COMMAND`: reads the settings, hands over to the command's file."""

import argparse
import sys
from collections.abc import Sequence

from cli import changes, check, collect, explain, find, findings, jobs, maintain, report, sql, up
from cli.chosen import CommandError
from dashboard.names import visible
from settings import SettingsError

COMMANDS = (up, collect, maintain, jobs, check, findings, explain, changes, find, report, sql)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; 0 is success, 2 a mistake of the caller said in one sentence."""
    arguments = parser().parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except (SettingsError, CommandError) as exc:
        # The message may quote names from outside; its own lines stay lines.
        print("\n".join(map(visible, f"tidemark: {exc}".split("\n"))), file=sys.stderr)
        return 2


def parser() -> argparse.ArgumentParser:
    """The command line; every command adds itself."""
    top = argparse.ArgumentParser(
        prog="tidemark", description="Do your Kafka pipelines keep the delivery promise they made?"
    )
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add_to(commands)
    return top
