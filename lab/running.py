"""A lab that runs, as other processes find it and ask it for faults: files in its directory."""

import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from confluent_kafka import KafkaException

from lab.cluster import Cluster
from lab.errors import LabError
from lab.faults.catalogue import FAULTS, ON_GROUND, GroundFault, mended
from lab.ground import STAYS, Ground
from lab.injected import append_injected
from lab.partition_log import PartitionLog
from lab.paths import LabPaths
from lab.pipelines import Lab
from lab.requests import State, current, finished, next_waiting, post, taken_up
from lab.story import facts, run_fault

PREFIX = "tidemark-lab-"
# The slowest fault waits for a transaction timeout of a minute.
_DONE_WITHIN_S = 180.0


def new_directory() -> Path:
    """A folder in which `find_directory` looks; give it back with `discard`."""
    return Path(tempfile.mkdtemp(prefix=PREFIX))


def discard(directory: Path) -> None:
    """Remove what nobody needs any more."""
    shutil.rmtree(directory, ignore_errors=True)


@contextmanager
def registered(lab: Lab) -> Iterator[None]:
    """Say where the lab is while it runs."""
    entry = lab.paths.running
    entry.write_text(json.dumps({"pid": os.getpid(), "bootstrap": lab.bootstrap}))
    try:
        yield
    finally:
        entry.unlink(missing_ok=True)


def find_directory() -> Path:
    """The directory of the one lab that runs on this machine."""
    running = [path.parent for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/lab.json") if is_alive(path)]
    if len(running) == 1:
        return running[0]
    if not running:
        raise LabError("No lab is running: start one with `make demo` or `python -m lab cluster`.")
    raise LabError(f"Several labs are running: choose one with --lab, out of {', '.join(map(str, running))}.")


def is_alive(entry: Path) -> bool:
    """The process that wrote the entry still runs."""
    try:
        os.kill(json.loads(entry.read_text())["pid"], 0)
    except (OSError, ValueError):
        return False
    return True


def serve_requests(lab: Lab, cluster: Cluster) -> NoReturn:
    """Inject the faults others ask for, one after the other, until interrupted."""
    while True:
        if (request := next_waiting(lab.paths)) is not None:
            request = taken_up(request)
            finished(request, serve(lab, cluster, request.name))
        time.sleep(0.2)


def serve(lab: Lab, cluster: Cluster, name: str) -> str:
    """Empty, or why it could not be injected."""
    if name in FAULTS:
        run_fault(lab, FAULTS[name])
        return ""
    return run_on_ground(lab, cluster, ON_GROUND[name])


def run_on_ground(lab: Lab, cluster: Cluster, fault: GroundFault) -> str:
    """A fault with topics of its own beside the workload; empty, or why it could not be injected."""
    lab.progress(f"{time.strftime('%H:%M:%S')} {fault.CODE}: {fault.TITLE}")
    with PartitionLog(cluster.address(STAYS)) as log:
        ground = Ground(cluster, log, lab.paths, fault.CODE, seed=int(time.time()))
        try:
            injected = fault.inject(ground)
            append_injected(lab.paths.injected, injected)
            for line in facts(injected):
                lab.progress(f"           {line}")
            append_injected(lab.paths.injected, mended(fault, ground, injected))
        except (LabError, KafkaException) as exc:
            cluster.revive()
            return str(exc)
    lab.progress(f"{time.strftime('%H:%M:%S')} {fault.CODE}: over")
    return ""


def request_fault(paths: LabPaths, name: str) -> None:
    """Ask a running lab for a fault, and wait until its workload is healthy again."""
    request = post(paths, name)
    deadline = time.monotonic() + _DONE_WITHIN_S
    while (request := current(request)).state is not State.DONE:
        if time.monotonic() > deadline or not is_alive(paths.running):
            raise LabError(f"The lab in {paths.directory} did not finish {name}: see what it printed.")
        time.sleep(0.2)
    if request.failure:
        raise LabError(f"{name} could not be injected: {request.failure}")
