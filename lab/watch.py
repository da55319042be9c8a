"""Tidemark watching the lab: its settings file, its processes, and what it has found."""

import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from guarantees.findings import Evidence, Kind
from guarantees.lifecycle import FindingHistory
from lab.child import Child
from lab.errors import LabError
from lab.judge import Found
from lab.pipelines import workload_environment
from lab.topics import AUDIT_NOTES, AUDIT_READER, ORDERS_FLOW, SHIPMENTS_FLOW, Flow
from lab.workload.messages import ID_HEADER
from settings import SETTINGS_VARIABLE
from store.findings import load_findings
from store.metrics import METRICS_FILE, snapshot
from store.reading import read

# Long enough for a busy machine's sink to be read, short enough for the story; 600 s is Tidemark's default.
SETTLE_S = 20
_STOP_WITHIN_S = 30.0
_WATCHES_WITHIN_S = 240.0
_ROUNDS_BEFORE_FAULTS = 3

# How a finding's evidence says which records it is about; other kinds concern no single records.
_OFFSETS: Mapping[Kind, Callable[[Evidence], tuple[int, ...]]] = {
    Kind.DUPLICATE_WRITE: lambda evidence: (_number(evidence["first_offset"]), _number(evidence["last_offset"])),
    Kind.LOST_WRITE: lambda evidence: tuple(one["offset"] for one in _records(evidence["lost"], evidence["late"])),
    Kind.POSSIBLE_REDELIVERY: lambda evidence: (
        _number(evidence["committed_offset_before"]),
        _number(evidence["high_watermark"]) - 1,
    ),
    Kind.STABLE_OFFSET_FROZEN: lambda evidence: (_number(evidence["start_offset"]),),
}


def settings_text(bootstrap: str, page_port: int) -> str:
    """tidemark.toml for the lab: every id is kept, so counts are exact, and every order must become one payment."""
    return f"""# Written by the lab. Every key is explained in docs/settings.md.

[[clusters]]
name = "lab"
bootstrap_servers = "{bootstrap}"

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
"""


def start_tidemark(directory: Path, settings: str) -> Child:
    """Write the settings into the lab's directory and start `tidemark up` with them."""
    path = directory / "tidemark.toml"
    path.write_text(settings)
    environ = {name: value for name, value in workload_environment().items() if name != SETTINGS_VARIABLE}
    command = [sys.executable, "-m", "cli", "up", "--settings", str(path)]
    return Child("tidemark", command, directory / "logs" / "tidemark.log", environ, orphaned_by=signal.SIGTERM)


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
        if not tidemark.is_running:
            raise LabError(f"Tidemark ended by itself: {tidemark.last_words()} (see {tidemark.log})")
        if time.monotonic() > deadline:
            raise LabError(f"Tidemark did not watch the lab within {_WATCHES_WITHIN_S:.0f} s: see {directory}")
        time.sleep(1)


def is_watching(data: Path) -> bool:
    """Faults injected from now on can be seen."""
    ticks = set(read(data, "rounds").column("tick").to_pylist()) if data.exists() else set()
    if len(ticks) < _ROUNDS_BEFORE_FAULTS:
        return False
    covered = set(snapshot(data / METRICS_FILE, ["ledger"])["ledger"].column("topic").to_pylist())
    return {flow.sink for flow in (ORDERS_FLOW, SHIPMENTS_FLOW)} <= covered


def read_found(data: Path) -> list[Found]:
    """Everything Tidemark has claimed so far, open or closed."""
    return [as_found(history) for history in load_findings(data).values()]


def as_found(history: FindingHistory) -> Found:
    """A finding as the judge sees it."""
    finding, bounds = history.finding, history.finding.bounds
    offsets = _OFFSETS[finding.kind](finding.evidence) if finding.kind in _OFFSETS else ()
    return Found(
        kind=finding.kind,
        topic=finding.place.topic or "",
        partition=finding.place.partition,
        group_id=finding.place.group_id,
        lower=None if bounds is None else bounds.lower,
        estimate=None if bounds is None else bounds.estimate,
        upper=None if bounds is None else bounds.upper,
        first_offset=min(offsets, default=None),
        last_offset=max(offsets, default=None),
        first_seen_ms=history.opened_at_ms,
        title=finding.title,
    )


def _number(value: object) -> int:
    return int(str(value))


def _records(*lists: Any) -> list[Mapping[str, int]]:
    return [record for each in lists for record in each]


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
