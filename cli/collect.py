"""`tidemark collect`: sample the clusters, for ever or once."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cli import round_printed
from cli.chosen import add_settings_arguments, chosen_settings
from cli.part_log import log_to_file
from cli.stopping import stop_event
from collectors import runner
from collectors.frugal_process import be_frugal, keep_large_blocks
from guarantees.observations import Round


def add_to(commands: Any) -> None:
    """Describe `collect` to the command line."""
    command = commands.add_parser("collect", help="sample offsets, replicas, groups and transactions")
    add_settings_arguments(command)
    command.add_argument("--once", action="store_true", help="one round of every cluster, then stop")
    command.add_argument("--format", choices=("table", "json"), default="table", help="how --once prints its round")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run until told to stop; or one round, which it prints."""
    be_frugal()
    settings = chosen_settings(arguments)
    if any(cluster.header_topics for cluster in settings.clusters):
        keep_large_blocks()
    log_to_file(Path(settings.store.data_dir), "collect")
    newest = runner.run(settings, stop_event(), once=arguments.once)
    if arguments.once:
        print(printed(newest, arguments.format))
    return 0


def printed(newest: Sequence[Round], form: str) -> str:
    """The rounds of all clusters, for a person or a script."""
    if form == "json":
        return json.dumps([round_printed.as_json(observed) for observed in newest], indent=1)
    return "\n\n".join(round_printed.as_table(observed) for observed in newest)
