"""`tidemark jobs …`: the resident Spark session that audits records, exact audits on request, and the backlog."""

import argparse
from pathlib import Path
from typing import Any

from cli.audits import add_audit
from cli.backlog import add_backlog
from cli.chosen import add_settings_arguments, chosen_settings
from cli.part_log import log_to_file
from cli.stopping import stop_event


def add_to(commands: Any) -> None:
    """Describe `jobs` to the command line."""
    command = commands.add_parser("jobs", help="audit records: duplicates and losses")
    kinds = command.add_subparsers(required=True, metavar="KIND")
    live = kinds.add_parser("live", help="a resident session that follows the pipelines' topics")
    add_settings_arguments(live)
    live.set_defaults(run=run_live)
    add_audit(kinds)
    add_backlog(kinds)


def run_live(arguments: argparse.Namespace) -> int:
    """Run until told to stop."""
    # Imported here: PySpark costs a second that no other command should pay.
    from spark_jobs import live

    settings = chosen_settings(arguments)
    log_to_file(Path(settings.store.data_dir), "jobs")
    live.run(settings, stop_event())
    return 0
