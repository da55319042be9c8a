"""`tidemark collect`: sample the clusters, for ever or once."""

import argparse
from pathlib import Path
from typing import Any

from cli.chosen import add_settings_arguments, chosen_settings
from cli.part_log import log_to_file
from cli.stopping import stop_event
from collectors import runner
from guarantees.observations import Round


def add_to(commands: Any) -> None:
    """Describe `collect` to the command line."""
    command = commands.add_parser("collect", help="sample offsets, replicas, groups and transactions")
    add_settings_arguments(command)
    command.add_argument("--once", action="store_true", help="one round of every cluster, then stop")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run until told to stop; or one round, of which it prints what was asked and what came of it."""
    settings = chosen_settings(arguments)
    log_to_file(Path(settings.store.data_dir), "collect")
    for observed in runner.run(settings, stop_event(), once=arguments.once):
        print("\n".join(coverage_lines(observed)))
    return 0


def coverage_lines(observed: Round) -> list[str]:
    """One line per signal; nothing that failed or was refused is left out."""
    lines = [f"cluster {observed.cluster_id}, round {observed.tick}"]
    for signal in observed.coverage:
        answered = f"{signal.answered} of {signal.asked} answered"
        missing = [
            f"{count} {word}" for count, word in ((signal.refused, "refused"), (signal.failed, "failed")) if count
        ]
        lines.append(f"  {signal.signal:<20} " + ", ".join(filter(None, [answered, *missing, signal.error])))
    return lines
