"""`tidemark maintain`: merge segments, make roll-ups, let raw samples expire."""

import argparse
from pathlib import Path
from typing import Any

from cli.chosen import add_settings_arguments, chosen_settings
from cli.part_log import log_to_file
from cli.stopping import stop_event
from store import maintenance


def add_to(commands: Any) -> None:
    """Describe `maintain` to the command line."""
    command = commands.add_parser("maintain", help="merge, roll up and expire what the collectors wrote")
    add_settings_arguments(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run until told to stop."""
    settings = chosen_settings(arguments)
    log_to_file(Path(settings.store.data_dir), "maintain")
    maintenance.run(settings.store, stop_event())
    return 0
