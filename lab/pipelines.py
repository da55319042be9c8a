"""The running workload: starts its processes, follows what they write down, and replaces the ones a fault ended."""

import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from confluent_kafka import Producer

from lab.child import Child
from lab.commands import Command, ask
from lab.deeds import of_event, owned_partitions
from lab.errors import LabError
from lab.kafka_jars import Progress
from lab.paths import LabPaths
from lab.topics import AUDIT_NOTES, ORDERS, PARTITIONS, create_topics
from lab.truth import Tail, TruthLine, read_truth
from lab.workload.environment import workload_environment

T = TypeVar("T")

ORDERS_PER_S = 40
SHIPMENTS_PER_S = 10
_NOTES = 20
_STOP_WITHIN_S = 15.0
_HAPPENS_WITHIN_S = 60.0


class Lab:
    """The workload on one cluster. `directory` takes the ground truth, logs and commands; it must be empty or new.

    Start it from a thread that outlives it (see `Child`).
    """

    def __init__(self, bootstrap: str, directory: Path, *, progress: Progress = print) -> None:
        self.bootstrap = bootstrap
        self.paths = LabPaths(directory)
        self.progress = progress
        self._children: dict[str, Child] = {}
        self._started: dict[str, int] = {}
        self.orders_producer = ""
        self.ledger_member = ""
        self.members: list[str] = []

    def __enter__(self) -> "Lab":
        self.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Create the topics, start all processes and wait until every pipeline moves."""
        self.paths.create()
        create_topics(self.bootstrap)
        self._write_notes()
        try:
            self.start_orders_producer()
            self.spawn("shipments-producer", "steady_producer", *_stream("shipments", SHIPMENTS_PER_S))
            ledger = self.start_ledger_member()
            reader = self.spawn("audit-reader", "audit_reader")
            self.members = [self._spawn_member(), self._spawn_member()]
            self.await_calm()
            for name in (ledger, reader):
                self.gather([Tail(self.paths.truth(name), from_beginning=True)], of_event("committed"), 1)
        except BaseException:
            self.stop()
            raise
        self.progress("The workload runs: orders → payments, shipments → ledger, audit-notes")

    def stop(self) -> None:
        """End the processes in the order of the flow, so that nothing is left half done."""
        for child in self._children.values():
            child.terminate()
        deadline = time.monotonic() + _STOP_WITHIN_S
        for child in self._children.values():
            if not child.wait(max(0.0, deadline - time.monotonic())):
                child.kill()
        self._children.clear()

    def spawn(self, kind: str, module: str, *arguments: str) -> str:
        """Start a process of the workload; its name is `kind` and a number that is never used again."""
        self._started[kind] = self._started.get(kind, 0) + 1
        name = f"{kind}-{self._started[kind]}"
        command = [sys.executable, "-m", f"lab.workload.{module}", "--name", name]
        command += ["--bootstrap", self.bootstrap, "--directory", str(self.paths.directory), *arguments]
        self._children[name] = Child(name, command, self.paths.log(name), workload_environment())
        return name

    def start_orders_producer(self) -> str:
        """A producer of orders that goes on where the last one recorded that it stood."""
        self.orders_producer = self.spawn("orders-producer", "steady_producer", *_stream("orders", ORDERS_PER_S))
        return self.orders_producer

    def start_ledger_member(self) -> str:
        """A member of shipping-ledger, which fences the one before it."""
        self.ledger_member = self.spawn("shipping-ledger", "ledger_member")
        return self.ledger_member

    def replace_member(self, dead: str) -> str:
        """Start a member in the place of one that ended, and wait until the group has settled."""
        self.members.remove(dead)
        fresh = self._spawn_member()
        self.members.append(fresh)
        self.await_calm()
        return fresh

    def ask(self, name: str, command: Command) -> None:
        """Tell a process how to fail with its next batch."""
        ask(self.paths.command(name), command)

    def await_end(self, name: str) -> None:
        """Wait until a process that was told to fail has ended."""
        if not self._children[name].wait(_HAPPENS_WITHIN_S):
            raise LabError(f"{name} was told to fail and still runs: see {self.paths.log(name)}")
        self._children.pop(name)

    def end(self, name: str) -> None:
        """Kill a process that has served its purpose."""
        self._children.pop(name).kill()

    def tail(self, name: str) -> Tail:
        """What the process writes down from now on."""
        return Tail(self.paths.truth(name))

    def lines(self, name: str) -> list[TruthLine]:
        """Everything the process has written down."""
        return read_truth(self.paths.truth(name))

    def gather(self, tails: Sequence[Tail], find: Callable[[list[TruthLine]], list[T]], count: int) -> list[T]:
        """What `find` finds in new lines, as soon as it is `count` things; an error if that takes too long."""
        found: list[T] = []
        deadline = time.monotonic() + _HAPPENS_WITHIN_S
        while len(found) < count:
            self._check(deadline, f"{count} things were waited for and {len(found)} happened")
            for tail in tails:
                found += find(tail.new_lines())
        return found

    def await_calm(self) -> None:
        """Wait until all members share all partitions and each has committed since it got its part."""
        deadline = time.monotonic() + _HAPPENS_WITHIN_S
        while not is_calm([self.lines(name) for name in self.members]):
            self._check(deadline, "the group of payments-service did not settle")

    def _spawn_member(self) -> str:
        return self.spawn("payments-service", "payments_member")

    def _check(self, deadline: float, waited_for: str) -> None:
        """Between two looks at the truth: a process that ended without being told to is a fault of the lab."""
        for name, child in self._children.items():
            if not child.is_running:
                raise LabError(f"{name} ended by itself: {child.last_words()} (see {child.log})")
        if time.monotonic() > deadline:
            raise LabError(f"{waited_for} within {_HAPPENS_WITHIN_S:.0f} s: see {self.paths.directory}")
        time.sleep(0.1)

    def _write_notes(self) -> None:
        producer = Producer({"bootstrap.servers": self.bootstrap, "client.id": "audit-writer"})
        for number in range(1, _NOTES + 1):
            note = json.dumps({"note": f"shift {number} closed without remarks"})
            headers = [("message-id", f"note-{number:03}".encode())]
            producer.produce(AUDIT_NOTES, key=f"shift-{number}", value=note, headers=headers)
        producer.flush()


def is_calm(truths: Iterable[list[TruthLine]]) -> bool:
    """Every partition has one owner, nobody has none, and everybody committed after the last assignment."""
    owned = [owned_partitions(lines) for lines in truths]
    return all(owned) and sorted(partition for each in owned for partition in each) == list(range(PARTITIONS[ORDERS]))


def _stream(stream: str, rate: float) -> tuple[str, ...]:
    return "--stream", stream, "--rate", str(rate)
