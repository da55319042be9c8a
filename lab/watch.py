"""Tidemark watching the lab: its settings file, its processes, and what it has found."""

import json
import signal
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from lab.child import Child
from lab.errors import LabError
from lab.found import Found, as_found
from lab.topics import AUDIT_NOTES, AUDIT_READER, ORDERS_FLOW, SHIPMENTS_FLOW, Flow
from lab.workload.environment import workload_environment
from lab.workload.messages import ID_HEADER
from settings import SETTINGS_VARIABLE
from store.findings import load_findings
from store.metrics import METRICS_FILE, snapshot
from store.reading import read

# Long enough for a busy machine's sink to be read, short enough for the story; 600 s is Tidemark's default.
SETTLE_S = 20
# Faults and controls that bring topics of their own name them after their code.
_FAULT_TOPICS = "[sc][0-9]*-*"
_STOP_WITHIN_S = 30.0
_WATCHES_WITHIN_S = 240.0
_ROUNDS_BEFORE_FAULTS = 3


def settings_text(bootstrap: str, page_port: int, extra_pages: Sequence[str] = ()) -> str:
    """tidemark.toml for the lab: every id is kept, so counts are exact, and every order must become one payment."""
    return f"""# Written by the lab. Every key is explained in docs/settings.md.

[[clusters]]
name = "lab"
bootstrap_servers = "{bootstrap}"
header_topics = ["{_FAULT_TOPICS}"]

{_pipeline(ORDERS_FLOW, "at_least_once")}
{_pipeline(SHIPMENTS_FLOW, "exactly_once")}
[[pipelines]]
name = "{AUDIT_NOTES}"
cluster = "lab"
source = "{AUDIT_NOTES}"
group = "{AUDIT_READER}"
id = {{ header = "{ID_HEADER}" }}
rate = 1.0

[page]
port = {page_port}
extra_pages = {json.dumps(list(extra_pages))}
"""


def trial_settings_text(bootstrap: str, flows: Iterable[Flow] = ()) -> str:
    """tidemark.toml for faults with topics of their own, which are named after them: by headers, and `flows` by id."""
    return f"""# Written by the lab. Every key is explained in docs/settings.md.

[[clusters]]
name = "lab"
bootstrap_servers = "{bootstrap}"
header_topics = ["{_FAULT_TOPICS}"]

{"".join(_pipeline(flow, "at_least_once") for flow in flows)}"""


def start_tidemark(directory: Path, settings: str) -> Child:
    """Write the settings into the lab's directory and start `tidemark up` with them."""
    (directory / "tidemark.toml").write_text(settings)
    return _start("tidemark", directory, "up")


class Monitor:
    """Tidemark's parts but its page as processes of their own; the collectors can be killed."""

    def __init__(self, directory: Path, settings: str, *, has_jobs: bool) -> None:
        """`has_jobs`: also what reads records, which takes a Spark session."""
        self._directory = directory
        (directory / "tidemark.toml").write_text(settings)
        self._has_jobs = has_jobs
        commands = {
            "collect": ("collect",),
            "maintain": ("maintain",),
            **({"jobs": ("jobs", "live")} if has_jobs else {}),
        }
        self._parts = {part: _start(part, directory, *command) for part, command in commands.items()}

    def kill_collectors(self) -> None:
        self._parts["collect"].kill()

    def restart_collectors(self) -> None:
        self._parts["collect"] = _start("collect", self._directory, "collect")

    def await_rounds(self) -> None:
        """Wait until they have looked a few times."""
        deadline = time.monotonic() + _WATCHES_WITHIN_S
        while len(_ticks(data_dir(self._directory))) < _ROUNDS_BEFORE_FAULTS:
            _check(self._parts["collect"], deadline, self._directory)
        while self._has_jobs and not _has_run_jobs(data_dir(self._directory)):
            _check(self._parts["jobs"], deadline, self._directory)

    def is_judging(self, flow: Flow) -> bool:
        return is_judging(data_dir(self._directory), flow)

    def stop(self) -> None:
        for part in self._parts.values():
            part.stop(_STOP_WITHIN_S)


@contextmanager
def watching(directory: Path, bootstrap: str, flows: Sequence[Flow] = ()) -> Iterator[Monitor]:
    """Watches the faults' topics down to their batch headers; with `flows`, and Spark, down to their records."""
    monitor = Monitor(directory, trial_settings_text(bootstrap, flows), has_jobs=bool(flows))
    try:
        monitor.await_rounds()
        yield monitor
    finally:
        monitor.stop()


def stop_tidemark(tidemark: Child) -> None:
    """It stops its own parts; that takes Spark a while."""
    tidemark.stop(_STOP_WITHIN_S)


def data_dir(directory: Path) -> Path:
    """Where the watching Tidemark keeps what it saw."""
    return directory / "data"


def await_watching(tidemark: Child, directory: Path) -> None:
    """Wait until its collectors have looked a few times and its jobs have read the topics once."""
    deadline = time.monotonic() + _WATCHES_WITHIN_S
    while not is_watching(data_dir(directory)):
        _check(tidemark, deadline, directory)


def is_watching(data: Path) -> bool:
    """Faults injected from now on can be seen."""
    if len(_ticks(data)) < _ROUNDS_BEFORE_FAULTS:
        return False
    covered = set(snapshot(data / METRICS_FILE, ["ledger"])["ledger"].column("topic").to_pylist())
    return {flow.sink for flow in (ORDERS_FLOW, SHIPMENTS_FLOW)} <= covered


def is_judging(data: Path, flow: Flow) -> bool:
    """A commit of the group was seen while both topics were read: what comes after it is compared."""
    judged = snapshot(data / METRICS_FILE, ["losses"])["losses"]
    return flow.source in judged.column("topic").to_pylist()


def read_found(data: Path) -> list[Found]:
    """Everything Tidemark has claimed so far, open or closed."""
    return [as_found(history) for history in load_findings(data).values()]


def _ticks(data: Path) -> set[int]:
    """The rounds its collectors have made."""
    return set(read(data, "rounds").column("tick").to_pylist()) if data.exists() else set()


def _has_run_jobs(data: Path) -> bool:
    """The session is warm and has looked for the topics once."""
    return snapshot(data / METRICS_FILE, ["job_runs"])["job_runs"].num_rows > 0


def _start(name: str, directory: Path, *command: str) -> Child:
    """One process of Tidemark, with the settings in the lab's directory."""
    environ = {name: value for name, value in workload_environment().items() if name != SETTINGS_VARIABLE}
    whole = [sys.executable, "-m", "cli", *command, "--settings", str(directory / "tidemark.toml")]
    return Child(name, whole, directory / "logs" / f"{name}.log", environ, orphaned_by=signal.SIGTERM)


def _check(part: Child, deadline: float, directory: Path) -> None:
    """Between two looks at what it has seen."""
    if not part.is_running:
        raise LabError(f"Tidemark ended by itself: {part.last_words()} (see {part.log})")
    if time.monotonic() > deadline:
        raise LabError(f"Tidemark did not watch the lab within {_WATCHES_WITHIN_S:.0f} s: see {directory}")
    time.sleep(1)


def _pipeline(flow: Flow, promise: str) -> str:
    return f"""[[pipelines]]
name = "{flow.source}-to-{flow.sink}"
cluster = "lab"
source = "{flow.source}"
group = "{flow.group_id}"
sink = "{flow.sink}"
promise = "{promise}"
id = {{ header = "{ID_HEADER}" }}
rate = 1.0
settle_s = {SETTLE_S}
one_to_one = true
"""
