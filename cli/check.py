"""`tidemark check`: in sentences, what can be reached and seen, and what will therefore be unknown."""

import argparse
from typing import Any

from cli.chosen import add_settings_arguments, chosen_settings
from collectors.check import check
from dashboard.names import visible


def add_to(commands: Any) -> None:
    """Describe `check` to the command line."""
    command = commands.add_parser("check", help="what can be reached and seen with these settings")
    add_settings_arguments(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the sentences of every cluster."""
    settings = chosen_settings(arguments)
    for cluster in settings.clusters:
        print(visible(f"{cluster.name} ({cluster.bootstrap_servers})"))
        for sentence in check(cluster, settings.pipelines):
            print(f"  {visible(sentence)}")
    return 0
