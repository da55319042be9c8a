"""How the lab tells one process of the workload to fail: a file, taken between two batches."""

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path


class Fault(StrEnum):
    """What a process can be told to do with its next batch."""

    DIE_BEFORE_PROGRESS = "die-before-progress"  # orders producer: acknowledged, not recorded as sent
    COMMIT_FIRST = "commit-first"  # member: commit the batch, then die without processing it
    DIE_BEFORE_COMMIT = "die-before-commit"  # member: process the batch, then die without committing it


@dataclass(frozen=True, slots=True)
class Command:
    """Fail in this way, with a batch of `count` records."""

    fault: Fault
    count: int


def ask(path: Path, command: Command) -> None:
    """Leave a command; it appears whole or not at all."""
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(asdict(command)))
    partial.replace(path)


def take(path: Path) -> Command | None:
    """The command that waits, once."""
    if not path.exists():
        return None
    fields = json.loads(path.read_text())
    path.unlink()
    return Command(Fault(fields["fault"]), fields["count"])
