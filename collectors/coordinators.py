"""Which broker coordinates a group or a transactional id: it leads the partition of the topic where its state lies."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from guarantees.unknown import Unknown
from kafka_reader.internal_records import partition_of
from kafka_reader.metadata import Topology

OFFSETS_TOPIC = "__consumer_offsets"
TRANSACTIONS_TOPIC = "__transaction_state"

NOBODY = Unknown("nobody was asked")

T = TypeVar("T")
# Puts names to brokers; of each name what one of them says, Unknown where none of those asked speaks for it.
Ask = Callable[[Mapping[int, list[str]]], dict[str, T | Unknown]]


@dataclass(frozen=True, slots=True)
class Coordinators:
    """`leaders` of the partitions of `topic` in their order, None where there is none.

    They are empty where the topic may not be described: then any of `brokers` may be a coordinator.
    """

    topic: str
    leaders: tuple[int | None, ...]
    brokers: tuple[int, ...]

    def of(self, name: str) -> int | Unknown | None:
        """The coordinator of a name; None where it cannot be told which broker that is, Unknown where there is none."""
        if not self.leaders:
            return None
        partition = partition_of(name, len(self.leaders))
        leader = self.leaders[partition]
        return unavailable(f"{self.topic}-{partition} has no leader") if leader is None else leader


def coordinators(topic: str, topology: Topology) -> Coordinators:
    """Looked up once for a round."""
    leaders = {place.partition: state.leader for place, state in topology.states.items() if place.topic == topic}
    return Coordinators(topic, tuple(leaders[partition] for partition in sorted(leaders)), topology.brokers)


def why_silent(name: str, answers: Mapping[int, object], coordinators: Coordinators) -> Unknown | None:
    """Why nobody can speak for a name, by the answers of all brokers; None where its coordinator answered, or might."""
    coordinator = coordinators.of(name)
    if isinstance(coordinator, Unknown):
        return coordinator
    if coordinator is None:
        whys = [answer for answer in answers.values() if isinstance(answer, Unknown)]
        return unavailable(whys[0].reason) if whys and len(whys) == len(answers) else None
    answer = answers.get(coordinator, Unknown(f"broker {coordinator} is not in the cluster"))
    return unavailable(answer.reason) if isinstance(answer, Unknown) else None


def answering(answers: Mapping[int, object]) -> list[int]:
    """The brokers that answered."""
    return [broker for broker, answer in answers.items() if not isinstance(answer, Unknown)]


def asked_by_name(
    last: Mapping[str, int], answers: Mapping[int, object], coordinators: Coordinators, ask: Ask[T]
) -> dict[str, T | Unknown]:
    """What the coordinator of each name says of it. Nobody who has not answered before is asked.

    Where it cannot be told who that is, the `last` one is asked, and then all, of whom one at most does not deny it.
    """
    able = answering(answers)
    first: dict[int, list[str]] = {}
    for name, broker in last.items():
        coordinator = coordinators.of(name)
        first.setdefault(coordinator if isinstance(coordinator, int) else broker, []).append(name)
    told = ask({broker: names for broker, names in first.items() if broker in able})
    rest = [name for name in last if coordinators.of(name) is None and isinstance(told.get(name, NOBODY), Unknown)]
    if not rest:
        return told
    others = ask(dict.fromkeys(able, rest))
    return {**told, **{name: _or_silence(others[name], answers.get(last[name])) for name in rest}}


def _or_silence(told: T | Unknown, last: object) -> T | Unknown:
    """That nobody else coordinates a name tells less than why the last one says nothing."""
    return last if isinstance(told, Unknown) and isinstance(last, Unknown) else told


def unavailable(reason: str) -> Unknown:
    """Nobody speaks for the name now; what was known of it has not ended."""
    return Unknown(f"coordinator unavailable: {reason}")
