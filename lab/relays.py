"""Processes of `lab.workload.relay`, started, told to fail and ended by a fault."""

import sys
from pathlib import Path

from lab.child import Child
from lab.commands import Command, ask
from lab.deeds import of_event
from lab.errors import LabError
from lab.ground import Ground
from lab.topics import Flow
from lab.truth import TruthLine, read_truth
from lab.workload.environment import workload_environment
from lab.workload_history import member_operations

_ENDS_WITHIN_S = 90.0


class RelayProcess:
    """One process; when it has ended, what it did is part of the fault's history."""

    def __init__(self, ground: Ground, flow: Flow, number: int, store: str = "", database: Path | str = "") -> None:
        """With a store of that name its results go to the database and not to the sink."""
        self._ground, self._flow = ground, flow
        self.name = f"{ground.name('relay')}-{number}"
        ground.paths.create()
        command = [sys.executable, "-m", "lab.workload.relay", "--name", self.name, "--bootstrap", ground.bootstrap]
        command += ["--directory", str(ground.paths.directory)]
        command += ["--source", flow.source, "--sink", flow.sink, "--group", flow.group_id]
        command += ["--store", store, "--database", str(database)] if store else []
        self._child = Child(self.name, command, ground.paths.log(self.name), workload_environment())

    def fail_with(self, command: Command) -> None:
        """With its next batch; returns when it knows."""
        path = self._ground.paths.command(self.name)
        ask(path, command)
        self._ground.await_that(lambda: not path.exists(), f"{self.name} does not take commands")

    def await_death(self) -> list[TruthLine]:
        """What it wrote down before it killed itself."""
        if not self._child.wait(_ENDS_WITHIN_S):
            self._child.kill()
            raise LabError(f"{self.name} was told to fail and still runs: see {self._ground.paths.log(self.name)}")
        return self._remember()

    def stop(self) -> int:
        """In order: it leaves its group. How many records it recognised as processed."""
        self._child.stop(15)
        return sum(int(line.facts["count"]) for line in of_event("recognised")(self._remember()))

    def await_sink(self, end: int) -> None:
        """Until partition 0 of the sink has reached this offset."""
        self._ground.await_end(self._flow.sink, end)

    def _remember(self) -> list[TruthLine]:
        lines = read_truth(self._ground.paths.truth(self.name))
        for operation in member_operations(lines, self._flow, self._ground.history.place):
            self._ground.history.note(operation)
        return lines
