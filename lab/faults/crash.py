"""What the two faults of a crashing member share: the crash, the move of its partitions, and a fresh member."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from lab.commands import Command
from lab.deeds import assignment, member_id, of_event, producer_id
from lab.injected import Injected
from lab.pipelines import Lab
from lab.topics import ORDERS, PARTITIONS
from lab.truth import Tail, TruthLine, now_ms

# Two rounds and a half of a monitor that looks every five seconds: it must be able to see the group without the member.
_SHORT_HANDED_S = 12.0


@dataclass(frozen=True, slots=True)
class Crashed:
    """A member that killed itself, and the one that is left."""

    name: str
    member_id: str
    producer_id: int | None
    partitions: tuple[int, ...]
    asked_at_ms: int
    survivor: str
    survivor_producer_id: int | None
    survivor_tail: Tail

    def details(self, moved: TruthLine) -> Mapping[str, object]:
        """The crash in words and ids, for people."""
        return {
            "dead_member": self.name,
            "dead_member_id": self.member_id,
            "dead_member_producer_id": self.producer_id,
            "partitions_moved": self.partitions,
            "moved_to": self.survivor,
            "moved_to_member_id": moved.facts["member_id"],
            "moved_to_producer_id": self.survivor_producer_id,
            "moved_at_ms": moved.at_ms,
        }


def crash(lab: Lab, command: Command) -> Crashed:
    """Tell the older member to fail with its next batch, and wait until it is dead."""
    lab.await_calm()
    asked_at_ms = now_ms()
    name, survivor = lab.members
    survivor_tail = lab.tail(survivor)
    lab.ask(name, command)
    lab.await_end(name)
    lines = lab.lines(name)
    return Crashed(
        name=name,
        member_id=member_id(lines),
        producer_id=producer_id(lines),
        partitions=tuple(sorted(assignment(lines))),
        asked_at_ms=asked_at_ms,
        survivor=survivor,
        survivor_producer_id=producer_id(lab.lines(survivor)),
        survivor_tail=survivor_tail,
    )


def after_crash(lab: Lab, crashed: Crashed) -> TruthLine:
    """Wait until the session of the dead member is over and the survivor owns everything; the line that says so."""
    tail = Tail(lab.paths.truth(crashed.survivor), from_beginning=True)

    def owns_everything(lines: list[TruthLine]) -> list[TruthLine]:
        assigned = [line for line in of_event("assigned")(lines) if line.at_ms > crashed.asked_at_ms]
        return [line for line in assigned if len(line.facts["partitions"]) == PARTITIONS[ORDERS]]

    return lab.gather([tail], owns_everything, 1)[0]


def recovered(lab: Lab, injected: Injected) -> Injected:
    """Leave the group short-handed for a while, then bring it back to two members."""
    time.sleep(_SHORT_HANDED_S)
    lab.replace_member(str(injected.details["dead_member"]))
    return replace(injected, recovered_at_ms=now_ms())
