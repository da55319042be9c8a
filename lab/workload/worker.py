"""What every process of the workload has: a name, a truth log, commands, and a request to end."""

import argparse
import json
import os
import signal
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from lab.commands import Command, take
from lab.paths import LabPaths
from lab.truth import TruthLog


@dataclass(frozen=True, slots=True)
class Worker:
    """One process of the workload. `stopping` is set by SIGTERM and looked at between two batches."""

    name: str
    bootstrap: str
    paths: LabPaths
    truth: TruthLog
    stopping: Event = field(default_factory=Event)

    def command(self) -> Command | None:
        """What the lab wants this process to do with its next batch."""
        return take(self.paths.command(self.name))

    def die(self, command: Command, message_ids: list[str]) -> None:
        """Write down why, and end as a crash does: nothing is flushed, left, committed or closed."""
        self.truth.write("dying", fault=command.fault, message_ids=message_ids)
        os.kill(os.getpid(), signal.SIGKILL)

    def producer_settings(self) -> dict[str, object]:
        """An idempotent producer that waits for all in-sync replicas and writes down its producer id."""
        noted: list[int] = []

        def note_producer_id(statistics: str) -> None:
            eos = json.loads(statistics).get("eos", {})
            if eos.get("producer_id", -1) >= 0 and eos["producer_id"] not in noted:
                noted.append(eos["producer_id"])
                self.truth.write("producer", producer_id=eos["producer_id"], producer_epoch=eos["producer_epoch"])

        return {
            "bootstrap.servers": self.bootstrap,
            "client.id": self.name,
            "enable.idempotence": True,
            "acks": "all",
            "linger.ms": 5,
            "statistics.interval.ms": 1000,
            "stats_cb": note_producer_id,
        }


def worker_from_arguments(parser: argparse.ArgumentParser) -> tuple[Worker, argparse.Namespace]:
    """Read `--name --bootstrap --directory` and what the parser has besides; end politely on SIGTERM from now on."""
    for option in ("--name", "--bootstrap", "--directory"):
        parser.add_argument(option, required=True)
    given = parser.parse_args()
    paths = LabPaths(Path(given.directory))
    worker = Worker(given.name, given.bootstrap, paths, TruthLog(paths.truth(given.name)))
    signal.signal(signal.SIGTERM, lambda _number, _frame: worker.stopping.set())
    worker.truth.write("started", pid=os.getpid())
    return worker, given
