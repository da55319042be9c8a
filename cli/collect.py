"""`tidemark collect`: sample the clusters, for ever or once."""

import argparse
from pathlib import Path
from typing import Any

from cli.chosen import add_settings_arguments, chosen_settings
from cli.part_log import log_to_file
from cli.stopping import stop_event
from collectors import runner


def add_to(commands: Any) -> None:
    """Describe `collect` to the command line."""
    command = commands.add_parser("collect", help="sample offsets, replicas, groups and transactions")
    add_settings_arguments(command)
    command.add_argument("--once", action="store_true", help="one round of every cluster, then stop")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run until told to stop, or one round."""
    settings = chosen_settings(arguments)
    log_to_file(Path(settings.store.data_dir), "collect")
    runner.run(settings, stop_event(), once=arguments.once)
    return 0
