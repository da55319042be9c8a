"""`python -m lab COMMAND`: the lab's own door."""

import argparse
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NoReturn

from lab.check import check
from lab.cluster import Cluster
from lab.demo import show
from lab.errors import LabError
from lab.faults.catalogue import INJECTABLE
from lab.injected import load_injected
from lab.paths import LabPaths
from lab.pipelines import Lab
from lab.running import discard, find_directory, new_directory, registered, request_fault, serve_requests
from lab.self_check import self_check
from lab.story import tell
from lab.truth_document import PAGE, write_page
from lab.truth_run import RESULTS, SEEDS, Wanted, run_truth

INTERRUPTED = 130  # as shells have it


def main() -> int:
    """Run one command; 0 is success, 1 a story told wrongly, 2 one sentence about what is missing."""
    sys.stdout.reconfigure(line_buffering=True)  # progress is read as it happens, through a pipe too
    arguments = parser().parse_args()
    commands: Mapping[str, Callable[[argparse.Namespace], int]] = {
        "cluster": cluster_command,
        "story": story_command,
        "inject": inject_command,
        "demo": demo_command,
        "truth": truth_command,
    }
    # Ending the lab politely and with Ctrl-C is the same; a shell's background jobs would inherit SIGINT as ignored.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        return commands[arguments.command](arguments)
    except LabError as exc:
        print(f"lab: {exc}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped.")
        # A cluster or a demo ends this way; a story did not come to its end.
        return INTERRUPTED if arguments.command in ("story", "inject", "truth") else 0


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="python -m lab", description=__doc__)
    commands = top.add_subparsers(dest="command", required=True)
    commands.add_parser("cluster", help="a Kafka cluster with the workload, until Ctrl-C")
    story = commands.add_parser("story", help="cluster, workload and all four faults, once")
    story.add_argument(
        "--check", action="store_true", help="with Tidemark watching: compare its findings with the truth"
    )
    commands.add_parser("demo", help="cluster, workload, Tidemark with its page, and the faults, until Ctrl-C")
    inject = commands.add_parser("inject", help="a fault in the lab that runs")
    inject.add_argument("fault", choices=INJECTABLE)
    inject.add_argument("--lab", type=Path, help="directory of the lab (default: the one that runs)")
    truth = commands.add_parser("truth", help="every fault and control for real, and what Tidemark made of them")
    truth.add_argument("--only", nargs="+", default=[], metavar="S7", help="these faults (default: all)")
    truth.add_argument("--seed", type=int, nargs="+", default=list(SEEDS), help="a run each (default: %(default)s)")
    truth.add_argument("--results", type=Path, default=RESULTS, help="what is known already; default %(default)s")
    truth.add_argument("--page", type=Path, default=PAGE, help="written from all results; default %(default)s")
    truth.add_argument("--no-run", action="store_true", help="only write the page")
    truth.add_argument("--again", action="store_true", help="also those that have a result")
    return top


def cluster_command(_arguments: argparse.Namespace) -> NoReturn:
    """Something to watch, and to hurt with `python -m lab inject`."""
    directory = new_directory()
    try:
        with Cluster(is_proxied=True) as cluster, Lab(cluster.bootstrap, directory) as lab, registered(lab):
            print(f"Ground truth: {directory}; faults: python -m lab inject {{{','.join(INJECTABLE)}}}")
            print(f"Bootstrap: {cluster.bootstrap}   (Ctrl-C stops everything)", flush=True)
            serve_requests(lab, cluster)
    finally:
        discard(directory)


def story_command(arguments: argparse.Namespace) -> int:
    """Without --check the lab checks only itself: does the cluster hold what it believes it injected?"""
    if arguments.check:
        return check()
    directory = new_directory()
    with Cluster() as cluster, Lab(cluster.bootstrap, directory) as lab, registered(lab):
        tell(lab)
        disagreements = self_check(cluster.bootstrap, load_injected(lab.paths.injected))
    if disagreements:
        print(*disagreements, f"The ground truth is kept in {directory}", sep="\n")
        return 1
    print("The cluster holds exactly what was injected.")
    discard(directory)
    return 0


def inject_command(arguments: argparse.Namespace) -> int:
    paths = LabPaths(arguments.lab or find_directory())
    request_fault(paths, arguments.fault)
    print(f"{arguments.fault}: done; what is true because of it stands in {paths.injected}")
    return 0


def truth_command(arguments: argparse.Namespace) -> int:
    """Go on where the results end."""
    wanted = Wanted(arguments.seed, arguments.only, arguments.again)
    try:
        if not arguments.no_run:
            run_truth(arguments.results, wanted, progress=lambda line: print(f"{line}\n", end="", flush=True))
    finally:
        write_page(arguments.results, arguments.page)
    print(f"{arguments.page} is written from {arguments.results}")
    return 0


def demo_command(_arguments: argparse.Namespace) -> NoReturn:
    show()


if __name__ == "__main__":
    sys.exit(main())
