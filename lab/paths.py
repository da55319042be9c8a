"""Where a running lab keeps its files."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class LabPaths:
    """The folders and files of one lab; `name` is a process of the workload."""

    directory: Path

    def create(self) -> None:
        for folder in ("truth", "commands", "progress", "logs", "requests"):
            (self.directory / folder).mkdir(parents=True, exist_ok=True)

    def truth(self, name: str) -> Path:
        """What the process saw and did, one JSON object a line."""
        return self.directory / "truth" / f"{name}.jsonl"

    def command(self, name: str) -> Path:
        """What the process is told to do next."""
        return self.directory / "commands" / f"{name}.json"

    def progress(self, stream: str) -> Path:
        """The number of the next message of a stream, as its producer recorded it."""
        return self.directory / "progress" / f"{stream}.json"

    def log(self, name: str) -> Path:
        return self.directory / "logs" / f"{name}.log"

    @property
    def injected(self) -> Path:
        """The faults that were injected, one JSON object a line; a later line about a fault replaces an earlier one."""
        return self.directory / "truth" / "injected.jsonl"

    @property
    def requests(self) -> Path:
        """Faults somebody asked this lab for."""
        return self.directory / "requests"

    @property
    def running(self) -> Path:
        """Process id and bootstrap address of the lab that owns the folder, while it runs."""
        return self.directory / "lab.json"
